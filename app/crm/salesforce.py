"""Salesforce: contacts and accounts by the REST API, with OAuth.

Sources: help.salesforce.com, "OAuth 2.0 Web Server Flow for Web App Integration" (PKCE, `instance_url`);
developer.salesforce.com, REST API Developer Guide: "Query", "sObject Rows", "Status Codes and Error
Responses" (a list of `{errorCode, message, fields}`), "Duplicate Rule Header" (DUPLICATES_DETECTED with the
matches); SOQL reference, "Quoted String Escape Sequences". A query sees a record as soon as it is created.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from app.crm.vendor import (
    OK,
    Crm,
    CrmField,
    CrmRecord,
    Duplicate,
    Employer,
    OAuth,
    Rejected,
    Request,
    Response,
    Send,
    Throttled,
    filled,
)

API = "/services/data/v62.0"
LIMIT_PAUSE_SECONDS = 3600.0
"""The limit counts the requests of the last 24 hours, so it is free again little by little."""


class Salesforce(Crm):
    """Salesforce's contacts; the company is an account."""

    name = "salesforce"
    title = "Salesforce"
    api_url = "https://login.salesforce.com"
    takes_token = False
    calls_per_minute = 240
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

    @property
    def oauth(self) -> OAuth:
        """Return the endpoints of the web server flow."""
        url = f"{self.base_url}/services/oauth2/authorize"
        return OAuth(url, "/services/oauth2/token", ("api", "refresh_token"))

    def check(self, send: Send) -> None:
        """Select one contact."""
        self._select(send, ["Id"], "Contact", "Id != null")

    def find(self, send: Send, properties: Sequence[str], *, email: str) -> CrmRecord | None:
        """Select the oldest contact with the address."""
        return self._select(send, properties, "Contact", f"Email = {_quoted(email)}")

    def get(self, send: Send, properties: Sequence[str], *, record_id: str) -> CrmRecord | None:
        """Select the contact by its id."""
        return self._select(send, properties, "Contact", f"Id = {_quoted(record_id)}")

    def create(self, send: Send, values: Mapping[str, str]) -> CrmRecord:
        """Create the contact; Salesforce returns its id only."""
        return CrmRecord(self._create(send, "Contact", values))

    def update(self, send: Send, record_id: str, values: Mapping[str, str]) -> CrmRecord:
        """Write these fields; Salesforce returns nothing."""
        path = f"{API}/sobjects/Contact/{record_id}"
        self.raise_for_status(send(Request(method="PATCH", path=path, body=values)))
        return CrmRecord(record_id)

    def find_company(self, send: Send, employer: Employer) -> str | None:
        """Select the oldest account of this name."""
        if not employer.name:
            return None
        account = self._select(send, ["Id"], "Account", f"Name = {_quoted(employer.name)}")
        return None if account is None else account.id

    def create_company(self, send: Send, employer: Employer) -> str:
        """Create the account."""
        values = {"Name": employer.name or employer.domain, "Website": employer.domain}
        return self._create(send, "Account", filled(values))

    def raise_for_status(self, response: Response) -> Response:
        """Read the error codes of Salesforce, which are more exact than the statuses.

        Raises:
            Throttled: the daily limit is reached, or the status is 429.
            Duplicate: a duplicate rule found another record.
            Rejected: a field or its value is not valid, or as in `Crm.raise_for_status`.
            AccessRefused, Unreachable: as there.

        """
        if response.status in OK:
            return super().raise_for_status(response)
        errors = [error for error in _items(response.body) if isinstance(error, dict)]
        codes = {str(error.get("errorCode")) for error in errors}
        if "REQUEST_LIMIT_EXCEEDED" in codes:
            raise Throttled(LIMIT_PAUSE_SECONDS)
        if "DUPLICATES_DETECTED" in codes:
            raise Duplicate(_existing_contact(errors))
        names = [str(name) for error in errors for name in error.get("fields") or ()]
        if names or "INVALID_FIELD" in codes:
            raise Rejected("invalid_values", names)
        return super().raise_for_status(response)

    def _select(self, send: Send, properties: Sequence[str], table: str, condition: str) -> CrmRecord | None:
        columns = ", ".join(dict.fromkeys(["Id", *properties]))
        query = f"SELECT {columns} FROM {table} WHERE {condition} ORDER BY CreatedDate LIMIT 1"  # noqa: S608 -- SOQL; values are quoted, names validated
        response = self.raise_for_status(send(Request(method="GET", path=f"{API}/query", query={"q": query})))
        rows = response.object.get("records") or []
        if not rows:
            return None
        row = {name: value for name, value in rows[0].items() if name in properties}
        return CrmRecord(str(rows[0]["Id"]), filled(row))

    def _create(self, send: Send, table: str, values: Mapping[str, str]) -> str:
        path = f"{API}/sobjects/{table}"
        return str(self.raise_for_status(send(Request(method="POST", path=path, body=values))).object["id"])


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _items(body: object) -> list[Any]:
    return body if isinstance(body, list) else [body]


def _existing_contact(errors: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the id of the first contact among the matches of a duplicate rule."""
    for error in errors:
        for result in (error.get("duplicateResult") or {}).get("matchResults") or ():
            for match in result.get("matchRecords") or ():
                record = match.get("record") or {}
                if (record.get("attributes") or {}).get("type") == "Contact" and record.get("Id"):
                    return str(record["Id"])
    return None
