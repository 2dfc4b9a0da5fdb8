"""Twenty: people and companies by the APIs of the workspace's own server or of twenty.com, by API key.

People are pushed by the REST API. They are read into the index by the GraphQL API, which takes the same key
and has the same limit.

Sources: docs.twenty.com/developers/extend/api (REST API, bearer key, 100 calls per minute) and the schema
that each workspace shows under Settings, APIs (core and metadata): `filter=emails.primaryEmail[eq]:"…"`,
composite fields such as `emails.primaryEmail`, answers under `data.people`, `data.createPerson` and
`data.updatePerson`. The primary address and a company's domain are unique, also among records in the trash,
which only a filter by `deletedAt` finds; a second one is a 400 whose message mentions a duplicate. An API key
is a JWT with the workspace's id.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any

from app.domain.messages import Message
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.vendors.errors import Rejected, Unreachable
from app.features.crm.vendors.exchange import Request, Response, Send, text
from app.features.crm.vendors.notes import Note, NoteCode
from app.features.crm.vendors.person import CrmField, CrmRecord, Employer, Person
from app.features.crm.vendors.properties import Property
from app.features.crm.vendors.reading import Page
from app.features.crm.vendors.twenty import errors, reading, records
from app.features.crm.vendors.twenty.members import MEMBER_LISTS
from app.features.crm.vendors.vendor import Crm

MAX_RECORDS = "60"
"""The largest page of the REST API."""
_IN_TRASH = "deletedAt[is]:NOT_NULL"
_PAGES = {"https://api.twenty.com": "https://app.twenty.com"}
"""The address of the pages, by that of the API; a server of one's own has one for both."""


class Twenty(Crm):
    """Twenty's people; the company is a record of its own."""

    name = "twenty"
    title = "Twenty"
    needs_url = True
    key_help = Message("An API key: Settings, APIs & Webhooks, Create API key.")
    key_name = Message("the API key")
    calls_per_minute = 90
    member_lists = MEMBER_LISTS
    company_property = "companyId"
    mapping = MappingProxyType(
        {
            CrmField.FIRST_NAME: "name.firstName",
            CrmField.LAST_NAME: "name.lastName",
            CrmField.EMAIL: "emails.primaryEmail",
            CrmField.PHONE: "phones.primaryPhoneNumber",
            CrmField.TITLE: "jobTitle",
            CrmField.COMPANY: "companyId",
            CrmField.LINKEDIN_URL: "linkedinLink.primaryLinkUrl",
        }
    )

    def record_url(
        self,
        base_url: str | None,
        account: str | None,  # noqa: ARG002 -- the address is the workspace's
        kind: RecordKind,  # noqa: ARG002 -- there are people only
        crm_id: str,
    ) -> str | None:
        """Return the URL of the person at the address of the connection."""
        api = (base_url or "").rstrip("/")
        return self.page_url(_PAGES.get(api, api), "object", "person", crm_id)

    def check(self, send: Send) -> None:
        """List one person."""
        self._data(send(Request(method="GET", path="/rest/people", query={"limit": "1"})))

    def properties(self, send: Send) -> list[Property]:
        """List the fields of people."""
        request = Request(method="GET", path="/rest/metadata/objects", query={"limit": "1000"})
        objects = self._data(send(request))["objects"]
        return [
            one
            for kind in objects
            if kind["nameSingular"] == "person"
            for field in kind["fields"]
            for one in records.as_properties(field)
        ]

    def account(self, send: Send, token: str) -> str | None:  # noqa: ARG002 -- no request is needed
        """Return the id of the workspace in the API key."""
        payload = token.split(".")[1] if token.count(".") == 2 else ""  # noqa: PLR2004 -- parts of a JWT
        try:
            claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        except ValueError:
            return None
        return text(claims.get("workspaceId")) or None if isinstance(claims, dict) else None

    def changed(
        self, send: Send, mapping: Mapping[str, str], *, since: datetime | None, position: str | None
    ) -> Page:
        """Query the people with their companies and the owners of those."""
        return reading.page(partial(self._queried, send), mapping, since, position)

    def find(self, send: Send, mapping: Mapping[str, str], person: Person) -> CrmRecord | None:
        """Filter the people by the primary address, then by the additional ones."""
        primary = _primary(person)
        other = _any_of(f"emails.additionalEmails[like]:{_quoted(f'%{email}%')}" for email in person.emails)
        found = self._people(send, person, primary) or self.optional(
            lambda: self._people(send, person, other)
        )
        found.sort(key=lambda one: person.rank(records.addresses(one)))
        if not found:
            return None
        notes = (Note(NoteCode.OTHER_RECORDS),) if len(found) > 1 else ()
        return records.record(found[0], list(mapping.values()), notes)

    def get(self, send: Send, mapping: Mapping[str, str], record_id: str) -> CrmRecord | None:
        """Filter the people by id."""
        found = self._records(send, "people", f"id[eq]:{_quoted(record_id)}")
        return records.record(found[0], list(mapping.values())) if found else None

    def create(self, send: Send, values: Mapping[str, str]) -> CrmRecord:
        """Create the person."""
        request = Request(method="POST", path="/rest/people", body=records.nested(values))
        return records.record(self._written(send(request), values)["createPerson"], tuple(values))

    def update(self, send: Send, record_id: str, values: Mapping[str, str]) -> CrmRecord:
        """Write these fields."""
        path = f"/rest/people/{record_id}"
        request = Request(method="PATCH", path=path, body=records.nested(values))
        return records.record(self._written(send(request), values)["updatePerson"], tuple(values))

    def is_in_trash(self, send: Send, person: Person) -> bool:
        """Filter the deleted people by the primary address."""
        return bool(self.optional(lambda: self._people(send, person, _primary(person), in_trash=True)))

    def find_company(self, send: Send, employer: Employer) -> str | None:
        """Filter the companies by domain, however it is written, else by name."""
        found = self._companies(send, employer)
        return str(found[0]["id"]) if found else None

    def create_company(self, send: Send, employer: Employer) -> str:
        """Create the company."""
        body: dict[str, Any] = {"name": employer.name or employer.domain}
        if employer.domain:
            body["domainName"] = {"primaryLinkUrl": f"https://{employer.domain}"}
        data = self._data(send(Request(method="POST", path="/rest/companies", body=body)))
        return str(data["createCompany"]["id"])

    def is_company_in_trash(self, send: Send, employer: Employer) -> bool:
        """Filter the deleted companies by domain."""
        return bool(self.optional(lambda: self._companies(send, employer, in_trash=True)))

    def is_named(self, name: str, complaint: str) -> bool:
        """Return whether the complaint is about the field, its composite, or the relation of an id."""
        outer, _dot, inner = name.partition(".")
        return complaint in {name, outer, inner, name.removesuffix("Id")}

    def raise_for_status(self, response: Response) -> Response:
        """Recognize duplicates, which Twenty reports as an invalid request."""
        errors.raise_for(response)
        return super().raise_for_status(response)

    def _people(
        self, send: Send, person: Person, condition: str, *, in_trash: bool = False
    ) -> list[Mapping[str, Any]]:
        """Return the people with an address of the person; `like` finds parts of addresses too."""
        found = self._records(send, "people", condition, in_trash=in_trash)
        return [one for one in found if person.has_any(records.addresses(one))]

    def _companies(
        self, send: Send, employer: Employer, *, in_trash: bool = False
    ) -> list[Mapping[str, Any]]:
        domain = employer.domain
        if domain is None:
            condition = f"name[eq]:{_quoted(employer.name or '')}"
            return self._records(send, "companies", condition, in_trash=in_trash) if employer.name else []
        written = [f"domainName.primaryLinkUrl[eq]:{_quoted(link)}" for link in records.links(domain)]
        page = f"domainName.primaryLinkUrl[ilike]:{_quoted(f'%{domain}/%')}"
        found = self._records(send, "companies", _any_of([*written, page]), in_trash=in_trash)
        return [company for company in found if records.is_website(company, domain)]

    def _records(
        self, send: Send, kind: str, condition: str, *, in_trash: bool = False
    ) -> list[Mapping[str, Any]]:
        """Return the records that match; those in the trash have the time of their deletion."""
        condition = f"and({_IN_TRASH},{condition})" if in_trash else condition
        query = {"filter": condition, "limit": MAX_RECORDS}
        data = self._data(send(Request(method="GET", path=f"/rest/{kind}", query=query)))
        return [record for record in data.get(kind) or () if bool(record.get("deletedAt")) == in_trash]

    def _queried(self, send: Send, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        request = Request(method="POST", path="/graphql", body={"query": query, "variables": variables})
        return self._data(errors.with_status(send(request)))

    def _written(self, response: Response, values: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the data; of the words that a complaint has in quotes, only names of properties count."""
        try:
            return self._data(response)
        except Rejected as rejection:
            refused = {
                name: reason
                for name, reason in rejection.refused.items()
                if any(self.is_named(sent, name) for sent in values)
            }
            raise Rejected(rejection.reason, refused) from None

    def _data(self, response: Response) -> Mapping[str, Any]:
        data = self.raise_for_status(response).object.get("data")
        if not isinstance(data, dict):
            raise Unreachable("unexpected_response")
        return data


def _primary(person: Person) -> str:
    """Return the condition that an address is the primary one; earlier versions stored capitals."""
    return _any_of(
        f"emails.primaryEmail[{operator}]:{_quoted(email)}"
        for email in person.emails
        for operator in ("eq", "ilike")
    )


def _any_of(conditions: Iterable[str]) -> str:
    return f"or({','.join(conditions)})"


def _quoted(value: str) -> str:
    """Return a value of a filter in quotes, without the characters that would end it."""
    return '"' + value.replace("\\", "").replace('"', "") + '"'
