"""HubSpot: contacts by the CRM API, with a private app's token or OAuth.

Sources: developers.hubspot.com/docs/api-reference/crm-contacts-v3/guide (batch read by e-mail, create and
update; 409 names the existing id), …/crm-search-v3/guide (at most five groups of filters),
…/crm-properties-v3/guide (`modificationMetadata`), …/account-account-info-v3/guide (`portalId`),
…/docs/api-reference/auth-oauth-v3/guide (tokens last 30 minutes),
…/docs/developer-tooling/platform/usage-guidelines (100 requests per 10 seconds on the smallest plan). A batch
read finds a contact at once after its creation; the search index lags behind, but it alone is documented to
find a contact by `hs_additional_emails`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from app.domain.messages import Message
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.settings import CrmAccess
from app.features.crm.vendors.exchange import Request, Response, Send, filled, text
from app.features.crm.vendors.hubspot import errors, reading
from app.features.crm.vendors.hubspot.members import MEMBER_LISTS
from app.features.crm.vendors.notes import Note, NoteCode
from app.features.crm.vendors.person import CrmField, CrmRecord, Person
from app.features.crm.vendors.properties import Property, options
from app.features.crm.vendors.reading import OWNERS_UNREADABLE, Page, optional
from app.features.crm.vendors.vendor import Crm, OAuth

CONTACTS = "/crm/v3/objects/contacts"
PROPERTIES = "/crm/v3/properties/contacts"
MAX_INPUTS = 100
MAX_FILTER_GROUPS = 5
_APP = "https://app.hubspot.com"
"""The address for browsers, which leads to the region of the portal."""
_OBJECT_TYPES = {RecordKind.CONTACT: "0-1", RecordKind.LEAD: "0-136"}
"""The ids of the types in the URLs of records: developers.hubspot.com/docs/api/crm/understanding-the-crm."""
_EMAIL, _OTHER_EMAILS = "email", "hs_additional_emails"


class HubSpot(Crm):
    """HubSpot's contacts; the company is a text property of the contact."""

    name = "hubspot"
    title = "HubSpot"
    api_url = "https://api.hubapi.com"
    key_help = Message(
        "The access token of a private app with the scopes crm.objects.contacts.read and "
        "crm.objects.contacts.write; with crm.objects.owners.read, the names of owners are shown too."
    )
    key_name = Message("the access token of the private app")
    calls_per_minute = 480
    member_lists = MEMBER_LISTS
    mapping = MappingProxyType(
        {
            CrmField.FIRST_NAME: "firstname",
            CrmField.LAST_NAME: "lastname",
            CrmField.EMAIL: _EMAIL,
            CrmField.PHONE: "phone",
            CrmField.TITLE: "jobtitle",
            CrmField.COMPANY: "company",
            CrmField.WEBSITE: "website",
            CrmField.LINKEDIN_URL: "hs_linkedin_url",
            CrmField.COUNTRY: "country",
        }
    )

    def __init__(self, access: CrmAccess) -> None:
        super().__init__(access)
        self._owners: tuple[dict[str, str], tuple[str, ...]] | None = None

    @property
    def oauth(self) -> OAuth:
        """Return the endpoints of HubSpot's OAuth 2.1 server."""
        scopes = (
            "oauth",
            "crm.objects.contacts.read",
            "crm.objects.contacts.write",
            "crm.objects.owners.read",
        )
        lists = {"optional_scope": "crm.lists.read"}  # without it, only schedules stop
        return OAuth(f"{_APP}/oauth/authorize", "/oauth/v3/token", scopes, parameters=lists)

    def record_url(
        self,
        base_url: str | None,  # noqa: ARG002 -- all portals have one address
        account: str | None,
        kind: RecordKind,
        crm_id: str,
    ) -> str | None:
        """Return the URL of the record in its portal."""
        if not account:
            return None
        return self.page_url(_APP, "contacts", account, "record", _OBJECT_TYPES[kind], crm_id)

    def check(self, send: Send) -> None:
        """List one contact."""
        self.raise_for_status(send(Request(method="GET", path=CONTACTS, query={"limit": "1"})))

    def properties(self, send: Send) -> list[Property]:
        """List the properties of contacts."""
        found = self.raise_for_status(send(Request(method="GET", path=PROPERTIES))).object["results"]
        return [_property(one) for one in found if not one.get("archived")]

    def account(self, send: Send, token: str) -> str | None:  # noqa: ARG002 -- the API reads it
        """Read the id of the portal."""
        details = self.raise_for_status(send(Request(method="GET", path="/account-info/v3/details")))
        return text(details.object.get("portalId")) or None

    def changed(
        self, send: Send, mapping: Mapping[str, str], *, since: datetime | None, position: str | None
    ) -> Page:
        """List all contacts, or search those that were changed; the owners are read once."""

        def ask(request: Request) -> Response:
            return self.raise_for_status(send(request))

        if since is None:
            contacts, following = reading.listed(ask, mapping, position)
        else:
            contacts, following = reading.searched(ask, mapping, since, position)
        if self._owners is None and reading.has_owner(contacts):
            self._owners = optional(lambda: reading.owners(ask), {}, OWNERS_UNREADABLE)
        owners, notes = self._owners or ({}, ())
        return reading.page(contacts, mapping, owners, following, notes)

    def find(self, send: Send, mapping: Mapping[str, str], person: Person) -> CrmRecord | None:
        """Read the contacts by the person's addresses, then search them as secondary addresses."""
        inputs = [{"id": email} for email in person.emails[:MAX_INPUTS]]
        selection = {"idProperty": _EMAIL, "inputs": inputs}
        found = self._read(send, mapping, selection) or self.optional(
            lambda: self._search(send, mapping, person)
        )
        found.sort(key=lambda contact: person.rank(_addresses(contact)))  # stable: as HubSpot ordered them
        if not found:
            return None
        has_others = len({contact["id"] for contact in found}) > 1
        return _record(found[0], mapping, (Note(NoteCode.OTHER_RECORDS),) if has_others else ())

    def get(self, send: Send, mapping: Mapping[str, str], record_id: str) -> CrmRecord | None:
        """Read the contact by its id; the id of a merged contact leads to the one it was merged into."""
        found = self._read(send, mapping, {"inputs": [{"id": record_id}]})
        return _record(found[0], mapping) if found else None

    def create(self, send: Send, values: Mapping[str, str]) -> CrmRecord:
        """Create the contact."""
        return self._written(send(Request(method="POST", path=CONTACTS, body={"properties": dict(values)})))

    def update(self, send: Send, record_id: str, values: Mapping[str, str]) -> CrmRecord:
        """Write these properties."""
        path = f"{CONTACTS}/{record_id}"
        return self._written(send(Request(method="PATCH", path=path, body={"properties": dict(values)})))

    def raise_for_status(self, response: Response) -> Response:
        """Read HubSpot's categories of errors."""
        errors.raise_for(response)
        return super().raise_for_status(response)

    def _search(self, send: Send, mapping: Mapping[str, str], person: Person) -> list[Mapping[str, Any]]:
        """Search the contacts by address; filters match parts of addresses, so the results are checked."""
        conditions = [
            {"propertyName": _EMAIL, "operator": "IN", "values": list(person.emails[:MAX_INPUTS])},
            *(
                {"propertyName": _OTHER_EMAILS, "operator": "CONTAINS_TOKEN", "value": email}
                for email in person.emails[: MAX_FILTER_GROUPS - 1]
            ),
        ]
        groups = [{"filters": [condition]} for condition in conditions]
        found = self._results(send, f"{CONTACTS}/search", mapping, {"filterGroups": groups, "limit": 100})
        return [contact for contact in found if person.has_any(_addresses(contact))]

    def _read(
        self, send: Send, mapping: Mapping[str, str], selection: Mapping[str, Any]
    ) -> list[Mapping[str, Any]]:
        return self._results(send, f"{CONTACTS}/batch/read", mapping, selection)

    def _results(
        self, send: Send, path: str, mapping: Mapping[str, str], selection: Mapping[str, Any]
    ) -> list[Mapping[str, Any]]:
        properties = list(dict.fromkeys([*mapping.values(), _EMAIL, _OTHER_EMAILS]))
        request = Request(method="POST", path=path, body={**selection, "properties": properties})
        return list(self.raise_for_status(send(request)).object.get("results") or ())

    def _written(self, response: Response) -> CrmRecord:
        body = self.raise_for_status(response).object
        return CrmRecord(str(body["id"]), filled(body.get("properties") or {}))


def _property(one: Mapping[str, Any]) -> Property:
    is_read_only = (one.get("modificationMetadata") or {}).get("readOnlyValue") or one.get("calculated")
    return Property(
        name=str(one["name"]),
        label=text(one.get("label")),
        is_writable=not is_read_only,
        options=options(one.get("options"), "value", "label"),
    )


def _record(contact: Mapping[str, Any], mapping: Mapping[str, str], notes: Sequence[Note] = ()) -> CrmRecord:
    present = contact.get("properties") or {}
    return CrmRecord(
        str(contact["id"]), filled({name: present.get(name) for name in mapping.values()}), notes
    )


def _addresses(contact: Mapping[str, Any]) -> list[str]:
    """Return the primary and the secondary addresses of a contact, which are separated by semicolons."""
    present = contact.get("properties") or {}
    return [text(present.get(_EMAIL)), *text(present.get(_OTHER_EMAILS)).split(";")]
