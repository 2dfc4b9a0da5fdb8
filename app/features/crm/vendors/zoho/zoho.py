"""Zoho CRM: contacts, leads and accounts by version 8 of the API, with OAuth.

Sources: zoho.com/crm/developer/docs/api/v8 (search records by `email`, which covers all fields of addresses,
and by `criteria`; get records by `ids`, or by the time of their change; 204 for none; insert and update;
fields metadata; organization: `zgid`), …/multi-dc.html (an accounts server and an API for each data center;
the grant has the address of the API in `api_domain`), zoho.com/accounts/protocol/oauth.html
(`access_type=offline` for a refresh token, which `prompt=consent` issues again; scopes with commas;
`Zoho-oauthtoken`). Zoho lets two contacts have one address unless the field is unique. Its search finds a new
row with a delay, so the latest are read as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any

from app.features.crm.index.crm_people import RecordKind
from app.features.crm.vendors.errors import AccessRefused
from app.features.crm.vendors.exchange import (
    NO_CONTENT,
    NOT_MODIFIED,
    Request,
    Response,
    Send,
    filled,
    text,
)
from app.features.crm.vendors.notes import Note, NoteCode
from app.features.crm.vendors.person import CrmField, CrmRecord, Employer, Person, Wanted
from app.features.crm.vendors.properties import Property
from app.features.crm.vendors.reading import Page
from app.features.crm.vendors.vendor import Crm, OAuth
from app.features.crm.vendors.zoho import errors, reading, records
from app.features.crm.vendors.zoho.members import MEMBER_LISTS
from app.features.crm.vendors.zoho.records import ACCOUNT, ACCOUNTS, CONTACTS, EMAILS, LEADS

API = "/crm/v8"
MAX_SEARCHES = 10
_FORBIDDEN = "forbidden"
_ACCOUNTS_SERVER, _PAGES = "https://accounts.", "https://crm."
"""The beginning of the addresses of a data center; the rest is the same."""
_TABS = {RecordKind.CONTACT: CONTACTS, RecordKind.LEAD: LEADS}
_LATEST = MappingProxyType({"sort_by": "Modified_Time", "sort_order": "desc", "per_page": "50"})
_SCOPES = (
    "ZohoCRM.modules.contacts.READ",
    "ZohoCRM.modules.contacts.CREATE",
    "ZohoCRM.modules.contacts.UPDATE",
    "ZohoCRM.modules.leads.READ",
    "ZohoCRM.modules.leads.UPDATE",
    "ZohoCRM.modules.accounts.READ",
    "ZohoCRM.modules.accounts.CREATE",
    "ZohoCRM.settings.fields.READ",
    "ZohoCRM.org.READ",
    "ZohoSearch.securesearch.READ",
)


class Zoho(Crm):
    """Zoho's contacts and leads; the company of a contact is an account."""

    name = "zoho"
    title = "Zoho CRM"
    api_url = "https://accounts.zoho.com"
    takes_token = False
    calls_per_minute = 120
    member_lists = MEMBER_LISTS
    lead_prefix = records.LEAD_PREFIX
    company_property = ACCOUNT
    mapping = MappingProxyType(
        {
            CrmField.FIRST_NAME: "First_Name",
            CrmField.LAST_NAME: "Last_Name",
            CrmField.EMAIL: "Email",
            CrmField.PHONE: "Phone",
            CrmField.TITLE: "Title",
            CrmField.COMPANY: ACCOUNT,
            CrmField.COUNTRY: "Mailing_Country",
        }
    )

    @property
    def oauth(self) -> OAuth:
        """Return the endpoints of the accounts server."""
        return OAuth(
            f"{self.base_url}/oauth/v2/auth",
            "/oauth/v2/token",
            (",".join(_SCOPES),),
            parameters={"access_type": "offline", "prompt": "consent"},
        )

    def authentication(self, token: str, *, is_granted: bool) -> dict[str, str]:  # noqa: ARG002 -- always
        """Return the header with Zoho's own scheme."""
        return {"Authorization": f"Zoho-oauthtoken {token}"}

    def is_token_refused(self, response: Response) -> bool:
        """Return whether it is not only a scope that is missing, which is 401, too."""
        return super().is_token_refused(response) and not errors.is_about_scopes(response)

    def record_url(
        self,
        base_url: str | None,  # noqa: ARG002 -- the operator's settings name the data center
        account: str | None,  # noqa: ARG002 -- the user is signed in to it
        kind: RecordKind,
        crm_id: str,
    ) -> str | None:
        """Return the URL of the record in the data center."""
        if not self.base_url.startswith(_ACCOUNTS_SERVER):
            return None
        pages = _PAGES + self.base_url.removeprefix(_ACCOUNTS_SERVER)
        return self.page_url(pages, "crm", "tab", _TABS[kind], crm_id)

    def check(self, send: Send) -> None:
        """List one contact."""
        self._rows(send, CONTACTS, {"fields": EMAILS[0], "per_page": "1"})

    def properties(self, send: Send) -> list[Property]:
        """List the fields of contacts."""
        request = Request(method="GET", path=f"{API}/settings/fields", query={"module": CONTACTS})
        return list(map(records.as_property, self.raise_for_status(send(request)).object["fields"]))

    def account(self, send: Send, token: str) -> str | None:  # noqa: ARG002 -- the API reads it
        """Read the id of the organization."""
        found = self.raise_for_status(send(Request(method="GET", path=f"{API}/org"))).object
        return text(found["org"][0].get("zgid")) or None

    def granted_url(self, grant: Mapping[str, Any]) -> str:
        """Return the API's address in the data center of the organization."""
        return text(grant.get("api_domain"))

    def changed(
        self, send: Send, mapping: Mapping[str, str], *, since: datetime | None, position: str | None
    ) -> Page:
        """List the contacts, then the leads, in the order of their changes."""
        return reading.page(partial(self._listed, send), mapping, since, position)

    def find(self, send: Send, mapping: Mapping[str, str], person: Person) -> CrmRecord | None:
        """Search the contacts for each address, then the leads."""
        return self._find(send, mapping, person, CONTACTS) or self._find_lead(send, mapping, person)

    def get(self, send: Send, mapping: Mapping[str, str], record_id: str) -> CrmRecord | None:
        """List the contact or lead by its id; a lead that was converted is none."""
        module = records.module_of(record_id)
        fields = list(records.layout(mapping, module).values())
        query = {"ids": record_id.removeprefix(records.LEAD_PREFIX), "fields": ",".join(fields)}
        rows = self._rows(send, module, query)
        return records.record(rows[0], module, fields, _notes(module, rows)) if rows else None

    def wanted(
        self, send: Send, mapping: Mapping[str, str], person: Person, record: CrmRecord | None
    ) -> Wanted:
        """Return the values in the fields of the record's module."""
        module = CONTACTS if record is None else records.module_of(record.id)
        return super().wanted(send, records.layout(mapping, module), person, record)

    def create(self, send: Send, values: Mapping[str, str]) -> CrmRecord:
        """Create the contact; Zoho returns its id only."""
        return CrmRecord(self._create(send, CONTACTS, records.body(values)))

    def update(self, send: Send, record_id: str, values: Mapping[str, str]) -> CrmRecord:
        """Write these fields; Zoho returns none of them."""
        path = f"{API}/{records.module_of(record_id)}/{record_id.removeprefix(records.LEAD_PREFIX)}"
        self.raise_for_status(send(Request(method="PUT", path=path, body=records.body(values))))
        return CrmRecord(record_id)

    def find_company(self, send: Send, employer: Employer) -> str | None:
        """Search the name, then look through the accounts that changed last."""
        name = _company_name(employer)
        if not name:
            return None
        found = self._rows(send, f"{ACCOUNTS}/search", {"criteria": f"({ACCOUNT}:equals:{_escaped(name)})"})
        return _id_of(name, found) or _id_of(name, self._rows(send, ACCOUNTS, {**_LATEST, "fields": ACCOUNT}))

    def create_company(self, send: Send, employer: Employer) -> str:
        """Create the account."""
        values = filled({ACCOUNT: _company_name(employer), "Website": employer.domain})
        return self._create(send, ACCOUNTS, {"data": [values]})

    def raise_for_status(self, response: Response) -> Response:
        """Read the error codes of Zoho."""
        errors.raise_for(response)
        return super().raise_for_status(response)

    def _find_lead(self, send: Send, mapping: Mapping[str, str], person: Person) -> CrmRecord | None:
        """Search the leads; there are none if the user may not read them."""
        try:
            return self._find(send, mapping, person, LEADS)
        except AccessRefused as refusal:
            if refusal.reason != _FORBIDDEN:
                raise
            return None

    def _find(self, send: Send, mapping: Mapping[str, str], person: Person, module: str) -> CrmRecord | None:
        fields = list(records.layout(mapping, module).values())
        hits = [
            row
            for email in person.emails[:MAX_SEARCHES]
            for row in self._rows(send, f"{module}/search", {"email": email})
        ]
        rows = _of(person, hits)
        if not rows:
            listed = ",".join(dict.fromkeys([*fields, *EMAILS]))
            rows = _of(person, self._rows(send, module, {**_LATEST, "fields": listed}))
        return records.record(rows[0], module, fields, _notes(module, rows)) if rows else None

    def _rows(self, send: Send, path: str, query: Mapping[str, str]) -> list[Mapping[str, Any]]:
        response = self.raise_for_status(send(Request(method="GET", path=f"{API}/{path}", query=query)))
        return [] if response.status == NO_CONTENT else list(response.object["data"])

    def _listed(
        self, send: Send, module: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> reading.Listing:
        response = send(Request(method="GET", path=f"{API}/{module}", query=query, headers=headers))
        if response.status == NOT_MODIFIED or self.raise_for_status(response).status == NO_CONTENT:
            return [], {}
        return list(response.object["data"]), response.object["info"]

    def _create(self, send: Send, module: str, body: Mapping[str, Any]) -> str:
        response = self.raise_for_status(send(Request(method="POST", path=f"{API}/{module}", body=body)))
        return str(response.object["data"][0]["details"]["id"])


def _of(person: Person, rows: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows with an address of the person, each once: today's first, then the oldest."""
    found = {int(row["id"]): row for row in rows if person.has_any(records.addresses(row))}
    oldest_first = [row for _id, row in sorted(found.items())]
    return sorted(oldest_first, key=lambda row: person.rank(records.addresses(row)))


def _notes(module: str, rows: list[Mapping[str, Any]]) -> list[Note]:
    lead = [Note(NoteCode.EXISTING_LEAD)] if module == LEADS else []
    return [*lead, *([Note(NoteCode.OTHER_RECORDS)] if len(rows) > 1 else [])]


def _company_name(employer: Employer) -> str:
    return employer.name or employer.domain or ""


def _id_of(name: str, accounts: list[Mapping[str, Any]]) -> str | None:
    """Return the oldest account of this name; a search by criteria finds longer ones, too."""
    ids = [int(row["id"]) for row in accounts if text(row.get(ACCOUNT)).casefold() == name.casefold()]
    return str(min(ids)) if ids else None


def _escaped(value: str) -> str:
    """Return a value of criteria with a backslash before the characters that have a meaning there."""
    return "".join(f"\\{character}" if character in "(),\\" else character for character in value)
