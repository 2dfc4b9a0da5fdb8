"""HubSpot: contacts by the CRM API, with a private app's token or OAuth.

Sources: developers.hubspot.com/docs/api-reference/crm-contacts-v3/guide (batch read by e-mail, create and
update; 409 names the existing id), …/docs/api-reference/auth-oauth-v3/guide (tokens last 30 minutes),
…/docs/developer-tooling/platform/usage-guidelines (100 requests per 10 seconds on the smallest plan).
A batch read finds a contact at once after its creation; the search index lags behind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from app.crm.vendor import (
    CONFLICT,
    OK,
    TOO_MANY,
    Crm,
    CrmField,
    CrmRecord,
    Duplicate,
    OAuth,
    Rejected,
    Request,
    Response,
    Send,
    Throttled,
    filled,
)

CONTACTS = "/crm/v3/objects/contacts"
DAILY_PAUSE_SECONDS = 3600.0
_EXISTING_ID = re.compile(r"Existing ID: (\d+)")


class HubSpot(Crm):
    """HubSpot's contacts; the company is a text property of the contact."""

    name = "hubspot"
    title = "HubSpot"
    api_url = "https://api.hubapi.com"
    key_help = (
        "The access token of a private app with the scopes crm.objects.contacts.read and "
        "crm.objects.contacts.write."
    )
    calls_per_minute = 480
    mapping = MappingProxyType(
        {
            CrmField.FIRST_NAME: "firstname",
            CrmField.LAST_NAME: "lastname",
            CrmField.EMAIL: "email",
            CrmField.PHONE: "phone",
            CrmField.TITLE: "jobtitle",
            CrmField.COMPANY: "company",
            CrmField.WEBSITE: "website",
            CrmField.LINKEDIN_URL: "hs_linkedin_url",
            CrmField.COUNTRY: "country",
        }
    )

    @property
    def oauth(self) -> OAuth:
        """Return the endpoints of HubSpot's OAuth 2.1 server."""
        scopes = ("oauth", "crm.objects.contacts.read", "crm.objects.contacts.write")
        return OAuth("https://app.hubspot.com/oauth/authorize", "/oauth/v3/token", scopes)

    def check(self, send: Send) -> None:
        """List one contact."""
        self.raise_for_status(send(Request(method="GET", path=CONTACTS, query={"limit": "1"})))

    def find(self, send: Send, properties: Sequence[str], *, email: str) -> CrmRecord | None:
        """Read the contact by its primary or a secondary address, which stays out of the URL."""
        return self._read(send, properties, {"idProperty": "email", "inputs": [{"id": email}]})

    def get(self, send: Send, properties: Sequence[str], *, record_id: str) -> CrmRecord | None:
        """Read the contact by its id; that of a merged contact leads to the one it was merged into."""
        return self._read(send, properties, {"inputs": [{"id": record_id}]})

    def create(self, send: Send, values: Mapping[str, str]) -> CrmRecord:
        """Create the contact."""
        return self._written(send(Request(method="POST", path=CONTACTS, body={"properties": dict(values)})))

    def update(self, send: Send, record_id: str, values: Mapping[str, str]) -> CrmRecord:
        """Write these properties."""
        path = f"{CONTACTS}/{record_id}"
        return self._written(send(Request(method="PATCH", path=path, body={"properties": dict(values)})))

    def raise_for_status(self, response: Response) -> Response:
        """Read HubSpot's categories of errors; the daily limit ends at the account's midnight.

        Raises:
            Throttled: the rate limit or the daily limit is reached.
            Duplicate: another contact has the address.
            Rejected: the values are not valid, or as in `Crm.raise_for_status`.
            AccessRefused, Unreachable: as there.

        """
        if response.status in OK:
            return super().raise_for_status(response)
        body = response.object
        if response.status == TOO_MANY:
            is_daily = body.get("policyName") == "DAILY"
            raise Throttled(DAILY_PAUSE_SECONDS if is_daily else response.retry_after)
        if response.status == CONFLICT:
            existing = _EXISTING_ID.search(str(body.get("message")))
            raise Duplicate(existing.group(1) if existing else None)
        if body.get("category") == "VALIDATION_ERROR":
            raise Rejected("invalid_values", _properties(body))
        return super().raise_for_status(response)

    def _read(self, send: Send, properties: Sequence[str], selection: dict[str, Any]) -> CrmRecord | None:
        body = selection | {"properties": list(properties)}
        response = self.raise_for_status(
            send(Request(method="POST", path=f"{CONTACTS}/batch/read", body=body))
        )
        results = response.object.get("results") or []
        return _record(results[0]) if results else None

    def _written(self, response: Response) -> CrmRecord:
        return _record(self.raise_for_status(response).object)


def _record(body: Mapping[str, Any]) -> CrmRecord:
    return CrmRecord(str(body["id"]), filled(body.get("properties") or {}))


def _properties(body: Mapping[str, Any]) -> list[str]:
    """Return the properties named by a validation error."""
    errors = body.get("errors") or []
    names = [name for error in errors for name in (error.get("context") or {}).get("propertyName", ())]
    return list(dict.fromkeys(map(str, names)))
