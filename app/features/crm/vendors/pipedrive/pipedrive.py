"""Pipedrive: persons and organizations by version 2 of the API, with a user's API token or OAuth.

Sources: developers.pipedrive.com/docs/api/v1 and the official pipedrive/client-nodejs (`x-api-token` for a
token, a bearer for OAuth; `persons/search` with `exact_match`, which is not case-sensitive; `ids`, which
leaves out what does not exist or is not visible; `users/me`, in version 1 only, with `company_id`),
pipedrive.readme.io/docs/marketplace-oauth-authorization (the scopes are the app's; the grant has the host of
the company in `api_domain`), …/core-api-concepts-rate-limiting (ten searches in two seconds, and a daily
budget that all integrations of a company share: a search takes 20 tokens of it, a list 10, a write 5).
Pipedrive lets two persons have one address, and its search finds a new one with a delay, so the latest are
read as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from app.domain.messages import Message
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.settings import CrmAccess
from app.features.crm.vendors.errors import Refusal, Rejected
from app.features.crm.vendors.exchange import FORBIDDEN, Request, Response, Send, text
from app.features.crm.vendors.notes import Note, NoteCode
from app.features.crm.vendors.person import CrmField, CrmRecord, Employer, Person
from app.features.crm.vendors.pipedrive import errors, reading, records
from app.features.crm.vendors.pipedrive.members import MEMBER_LISTS
from app.features.crm.vendors.pipedrive.reading import API, ORGANIZATIONS, PERSONS
from app.features.crm.vendors.properties import Property
from app.features.crm.vendors.reading import OWNERS_UNREADABLE, Page, optional
from app.features.crm.vendors.vendor import Crm, OAuth

MAX_SEARCHES = 10
MAX_IDS = 50
_OAUTH_URL = "https://oauth.pipedrive.com"
_APP = "https://app.pipedrive.com"
"""The address for browsers, which leads to the company of the user who is signed in."""
_LATEST = MappingProxyType({"sort_by": "update_time", "sort_direction": "desc", "limit": "50"})
_CONTACT_SYNC = frozenset({"job_title", "notes", "birthday", "im", "postal_address"})
"""Fields that a company has with Contact Sync only; without it, a request that writes them gets 403."""


class Pipedrive(Crm):
    """Pipedrive's persons; the company of a person is an organization."""

    name = "pipedrive"
    title = "Pipedrive"
    api_url = "https://api.pipedrive.com"
    key_help = Message("The API token of a user: Personal preferences, API.")
    key_name = Message("the API token of the user")
    calls_per_minute = 120
    member_lists = MEMBER_LISTS
    company_property = records.ORGANIZATION
    property_name = r"[a-z_]{1,100}|[0-9a-f]{40}"
    mapping = MappingProxyType(
        {
            CrmField.FIRST_NAME: "first_name",
            CrmField.LAST_NAME: "last_name",
            CrmField.EMAIL: records.EMAILS,
            CrmField.PHONE: records.PHONES,
            CrmField.TITLE: "job_title",
            CrmField.COMPANY: records.ORGANIZATION,
        }
    )

    def __init__(self, access: CrmAccess) -> None:
        super().__init__(access)
        self._read: dict[str, Mapping[str, Any]] = {}
        self._owners: tuple[dict[str, str], tuple[str, ...]] | None = None
        self._with_options: frozenset[str] | None = None

    @property
    def oauth(self) -> OAuth:
        """Return the endpoints of Pipedrive's OAuth server, which is another host than the API's."""
        server = self.access.base_url or _OAUTH_URL
        return OAuth(f"{server}/oauth/authorize", "/oauth/token", (), server=server)

    def authentication(self, token: str, *, is_granted: bool) -> dict[str, str]:
        """Return the header of API tokens, or the one of OAuth."""
        return super().authentication(token, is_granted=True) if is_granted else {"x-api-token": token}

    def record_url(
        self,
        base_url: str | None,  # noqa: ARG002 -- all companies have one address
        account: str | None,  # noqa: ARG002 -- the user is signed in to it
        kind: RecordKind,  # noqa: ARG002 -- there are persons only
        crm_id: str,
    ) -> str | None:
        """Return the URL of the person in the user's company."""
        return self.page_url(_APP, "person", crm_id)

    def check(self, send: Send) -> None:
        """List one person."""
        self._list(send, PERSONS, {"limit": "1"})

    def properties(self, send: Send) -> list[Property]:
        """List the fields of persons, which version 1 of the API describes."""
        request = Request(method="GET", path="/api/v1/personFields", query={"limit": "500"})
        return list(map(records.as_property, self._data(send(request))))

    def account(self, send: Send, token: str) -> str | None:  # noqa: ARG002 -- the API reads it
        """Read the id of the user's company."""
        user = self._data(send(Request(method="GET", path="/api/v1/users/me")))
        return text(user.get("company_id")) or None

    def granted_url(self, grant: Mapping[str, Any]) -> str:
        """Return the host of the company."""
        return text(grant.get("api_domain"))

    def changed(
        self, send: Send, mapping: Mapping[str, str], *, since: datetime | None, position: str | None
    ) -> Page:
        """List the persons, and the organizations of those on the page; the owners are read once."""

        def ask(request: Request) -> Response:
            return self.raise_for_status(send(request))

        persons, following = reading.listed(ask, since, position)
        if self._owners is None and reading.has_owner(persons):
            self._owners = optional(lambda: reading.owners(ask), {}, OWNERS_UNREADABLE)
        owners, notes = self._owners or ({}, ())
        return reading.page(ask, persons, mapping, owners, position=following, notes=notes)

    def find(self, send: Send, mapping: Mapping[str, str], person: Person) -> CrmRecord | None:
        """Search each address, then look through the persons that changed last."""
        hits = [
            hit
            for email in person.emails[:MAX_SEARCHES]
            for hit in self._search(send, PERSONS, "email", email)
        ]
        ids = list(dict.fromkeys(str(hit["id"]) for hit in hits))[:MAX_IDS]
        found = self._people(send, person, {"ids": ",".join(ids)}) if ids else []
        found = found or self._people(send, person, _LATEST)
        found.sort(key=lambda one: person.rank(records.addresses(one)))  # stable: the oldest first
        if not found:
            return None
        notes = (Note(NoteCode.OTHER_RECORDS),) if len(found) > 1 else ()
        return records.record(found[0], list(mapping.values()), notes)

    def get(self, send: Send, mapping: Mapping[str, str], record_id: str) -> CrmRecord | None:
        """List the person by its id."""
        found = self._list(send, PERSONS, {"ids": record_id})
        return records.record(found[0], list(mapping.values())) if found else None

    def create(self, send: Send, values: Mapping[str, str]) -> CrmRecord:
        """Create the person, who must have a name."""
        written = records.body(values, {}, self._enumerations(send, values))
        body = {records.NAME: values[records.EMAILS], **written}
        return self._written(send(Request(method="POST", path=f"{API}/{PERSONS}", body=body)), values)

    def update(self, send: Send, record_id: str, values: Mapping[str, str]) -> CrmRecord:
        """Write these fields; other addresses, numbers and parts of the name stay as they were read."""
        body = records.body(values, self._read[record_id], self._enumerations(send, values))
        path = f"{API}/{PERSONS}/{record_id}"
        return self._written(send(Request(method="PATCH", path=path, body=body)), values)

    def find_company(self, send: Send, employer: Employer) -> str | None:
        """Search the name, then look through the organizations that changed last."""
        name = _company_name(employer)
        if not name:
            return None
        return _id_of(name, self._search(send, ORGANIZATIONS, "name", name)) or _id_of(
            name, self._list(send, ORGANIZATIONS, _LATEST)
        )

    def create_company(self, send: Send, employer: Employer) -> str:
        """Create the organization."""
        body = {"name": _company_name(employer)}
        return str(self._data(send(Request(method="POST", path=f"{API}/{ORGANIZATIONS}", body=body)))["id"])

    def is_named(self, name: str, complaint: str) -> bool:
        """Return whether the complaint is about the field; parts of the name are written as one."""
        return complaint == (records.NAME if name in records.NAME_PARTS else name)

    def raise_for_status(self, response: Response) -> Response:
        """Read Pipedrive's messages and headers."""
        errors.raise_for(response)
        return super().raise_for_status(response)

    def _enumerations(self, send: Send, values: Mapping[str, str]) -> frozenset[str]:
        """Return the custom fields that have options, if a value may be the id of one; they are read once."""
        if not any(records.is_custom(name) and value.isdecimal() for name, value in values.items()):
            return frozenset()
        if self._with_options is None:
            found = self.optional(lambda: self.properties(send))
            self._with_options = frozenset(one.name for one in found if one.options)
        return self._with_options

    def _people(self, send: Send, person: Person, query: Mapping[str, str]) -> list[Mapping[str, Any]]:
        """Return the persons with an address of the person."""
        return [one for one in self._list(send, PERSONS, query) if person.has_any(records.addresses(one))]

    def _search(self, send: Send, kind: str, field: str, term: str) -> list[Mapping[str, Any]]:
        """Return the records with this value, as the search shows them: in part."""
        query = {"term": term, "fields": field, "exact_match": "true"}
        data = self._data(send(Request(method="GET", path=f"{API}/{kind}/search", query=query)))
        return [hit["item"] for hit in data["items"]]

    def _list(self, send: Send, kind: str, query: Mapping[str, str]) -> list[Mapping[str, Any]]:
        """Return the records that are not deleted; persons are remembered for updates."""
        data = self._data(send(Request(method="GET", path=f"{API}/{kind}", query=query)))
        found = [one for one in data or () if not one.get("is_deleted")]
        if kind == PERSONS:
            self._read.update({str(one["id"]): one for one in found})
        return found

    def _written(self, response: Response, values: Mapping[str, str]) -> CrmRecord:
        """Return the stored person; of the words in a complaint, only names of properties count."""
        unavailable = sorted(_CONTACT_SYNC & values.keys())
        if unavailable and response.status == FORBIDDEN and response.object:
            raise Rejected("invalid_values", dict.fromkeys(unavailable, Refusal.READ_ONLY))
        try:
            person = self._data(response)
        except Rejected as rejection:
            refused = {
                complaint: reason
                for complaint, reason in rejection.refused.items()
                if any(self.is_named(name, complaint) for name in values)
            }
            raise Rejected(rejection.reason, refused) from None
        return records.record(person, tuple(values))

    def _data(self, response: Response) -> Any:  # noqa: ANN401 -- an object or a list, by the endpoint
        return self.raise_for_status(response).object["data"]


def _company_name(employer: Employer) -> str:
    return employer.name or employer.domain or ""


def _id_of(name: str, organizations: list[Mapping[str, Any]]) -> str | None:
    """Return the oldest organization of this name."""
    ids = [int(one["id"]) for one in organizations if text(one.get("name")).casefold() == name.casefold()]
    return str(min(ids)) if ids else None
