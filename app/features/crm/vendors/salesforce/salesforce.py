"""Salesforce: contacts, leads and accounts by the REST API, with OAuth.

Sources: help.salesforce.com, "OAuth 2.0 Web Server Flow for Web App Integration" (PKCE, `instance_url`, and
`id`, the URL of the user's identity); developer.salesforce.com, REST API Developer Guide: "Query", "sObject
Rows". A query sees a record as soon as it is created. An access token begins with the id of the org.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from app.features.crm.index.crm_people import RecordKind
from app.features.crm.settings import CrmAccess
from app.features.crm.vendors.exchange import Request, Response, Send, filled, text
from app.features.crm.vendors.person import CompanyRecord, CrmField, CrmRecord, Employer, Person, Wanted
from app.features.crm.vendors.properties import Property
from app.features.crm.vendors.reading import Page
from app.features.crm.vendors.salesforce import accounts, errors, layouts, people, reading
from app.features.crm.vendors.salesforce.layouts import CONTACT, LEAD
from app.features.crm.vendors.salesforce.members import MEMBER_LISTS
from app.features.crm.vendors.salesforce.org import API, Memory, Org
from app.features.crm.vendors.salesforce.people import LEAD_PREFIX
from app.features.crm.vendors.vendor import Crm, OAuth

_ORG_ID = re.compile(r"\A(?:https://[^/]{1,255}/id/)?(00D[A-Za-z0-9]{12})")
"""The first 15 characters of the id of an org, in an access token or in the URL of an identity."""


class Salesforce(Crm):
    """Salesforce's contacts and leads; the company of a contact is an account."""

    name = "salesforce"
    title = "Salesforce"
    api_url = "https://login.salesforce.com"
    takes_token = False
    calls_per_minute = 240
    member_lists = MEMBER_LISTS
    lead_prefix = LEAD_PREFIX
    creates_leads = True
    company_property = "AccountId"
    mapping = MappingProxyType(
        {
            CrmField.FIRST_NAME: "FirstName",
            CrmField.LAST_NAME: "LastName",
            CrmField.EMAIL: "Email",
            CrmField.PHONE: "Phone",
            CrmField.TITLE: "Title",
            CrmField.COMPANY: "AccountId",
            CrmField.COUNTRY: "MailingCountry",
        }
    )

    def __init__(self, access: CrmAccess) -> None:
        super().__init__(access)
        self._memory = Memory()

    @property
    def oauth(self) -> OAuth:
        """Return the endpoints of the web server flow."""
        url = f"{self.base_url}/services/oauth2/authorize"
        return OAuth(url, "/services/oauth2/token", ("api", "refresh_token"))

    def record_url(
        self,
        base_url: str | None,  # noqa: ARG002 -- orgs are signed in to at the address of the operator's settings
        account: str | None,  # noqa: ARG002 -- likewise
        kind: RecordKind,  # noqa: ARG002 -- the id says it
        crm_id: str,
    ) -> str | None:
        """Return the URL of the record by its id, at the address that leads to the org after the sign-in."""
        return self.page_url(self.base_url, crm_id)

    def company_url(
        self,
        base_url: str | None,  # noqa: ARG002 -- as of records
        account: str | None,  # noqa: ARG002 -- likewise
        company_id: str,
    ) -> str | None:
        """Return the URL of the account."""
        return self.page_url(self.base_url, company_id)

    def check(self, send: Send) -> None:
        """Select one contact."""
        self._org(send).rows(CONTACT, ["Id"], "Id != null", limit=1)

    def properties(self, send: Send) -> list[Property]:
        """Describe contacts, and leads if new people are leads."""
        return layouts.properties(self._org(send))

    def account(self, send: Send, token: str) -> str | None:
        """Return the id of the org from the token, else select it."""
        if own := _ORG_ID.match(token):
            return own.group(1)
        rows = self._org(send).rows("Organization", ["Id"], "Id != null", limit=1)
        return _org_id(rows[0].get("Id")) if rows else None

    def granted_account(self, grant: Mapping[str, Any]) -> str | None:
        """Return the id of the org from the URL of the user's identity."""
        return _org_id(grant.get("id"))

    def granted_url(self, grant: Mapping[str, Any]) -> str:
        """Return the address of the org."""
        return text(grant.get("instance_url"))

    def changed(
        self, send: Send, mapping: Mapping[str, str], *, since: datetime | None, position: str | None
    ) -> Page:
        """Select the contacts, then the leads."""
        return reading.page(self._org(send), mapping, since, position)

    def find(self, send: Send, mapping: Mapping[str, str], person: Person) -> CrmRecord | None:
        """Select the contact or lead by address, else by name and company."""
        return people.find(self._org(send), mapping, person)

    def get(self, send: Send, mapping: Mapping[str, str], record_id: str) -> CrmRecord | None:
        """Select the contact or lead by its id."""
        return people.get(self._org(send), mapping, record_id)

    def wanted(
        self, send: Send, mapping: Mapping[str, str], person: Person, record: CrmRecord | None
    ) -> Wanted:
        """Return the values in the columns of the record's table."""
        is_lead = record is not None and record.id.startswith(LEAD_PREFIX)
        table = LEAD if is_lead or (record is None and self._new_table == LEAD) else CONTACT
        return layouts.wanted(self._org(send), mapping, table, person, is_new=record is None)

    def create(self, send: Send, values: Mapping[str, str]) -> CrmRecord:
        """Create the contact or the lead; Salesforce returns its id only."""
        prefix = LEAD_PREFIX if self._new_table == LEAD else ""
        return CrmRecord(prefix + self._create(send, self._new_table, values))

    def update(self, send: Send, record_id: str, values: Mapping[str, str]) -> CrmRecord:
        """Write these fields, null for an empty text; Salesforce returns nothing."""
        row = record_id if record_id.startswith(LEAD_PREFIX) else f"{CONTACT}/{record_id}"
        body = {name: value or None for name, value in values.items()}
        self.raise_for_status(send(Request(method="PATCH", path=f"{API}/sobjects/{row}", body=body)))
        return CrmRecord(record_id)

    def find_companies(self, send: Send, employer: Employer) -> list[CompanyRecord]:
        """Select the accounts with the company's website, else those of its name, the oldest first."""
        return accounts.find(self._org(send), employer)

    def create_company(self, send: Send, employer: Employer) -> str:
        """Create the account."""
        values = {"Name": employer.name or employer.domain, "Website": employer.domain}
        return self._create(send, "Account", filled(values))

    def is_named(self, name: str, complaint: str) -> bool:
        """Return whether the names are equal; a country's code and its name are one property."""
        return name.removesuffix("Code") == complaint.removesuffix("Code")

    def raise_for_status(self, response: Response) -> Response:
        """Read the error codes of Salesforce."""
        errors.raise_for(response)
        return super().raise_for_status(response)

    @property
    def _new_table(self) -> str:
        return LEAD if self.new_people is RecordKind.LEAD else CONTACT

    def _org(self, send: Send) -> Org:
        return Org(lambda request: self.raise_for_status(send(request)), self._memory, self._new_table)

    def _create(self, send: Send, table: str, values: Mapping[str, str]) -> str:
        path = f"{API}/sobjects/{table}"
        return str(self.raise_for_status(send(Request(method="POST", path=path, body=values))).object["id"])


def _org_id(value: object) -> str | None:
    found = _ORG_ID.match(text(value))
    return found.group(1) if found else None
