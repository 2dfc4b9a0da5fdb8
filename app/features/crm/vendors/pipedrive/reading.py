"""Pipedrive's persons, all of them or those that were changed, with their organizations and owners.

Sources: the official pipedrive/client-nodejs, `src/versions/v2` (`GET /persons`: `sort_by`, `updated_since`,
which is inclusive, `limit`, `cursor`; `GET /organizations` with up to 100 `ids`) and `src/versions/v1`
(`GET /users`, in version 1 only); pipedrive.readme.io/docs/core-api-concepts-pagination (`next_cursor`). The
cursors of the examples there hold the value of the sorted field and the id of a record, so changes meanwhile
move nobody to another page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.vendors.exchange import Request, Response, moment, text
from app.features.crm.vendors.person import CrmField
from app.features.crm.vendors.pipedrive import records
from app.features.crm.vendors.reading import COMPANIES_UNREADABLE, Page, chosen, optional

API = "/api/v2"
PERSONS, ORGANIZATIONS = "persons", "organizations"
USERS = "/api/v1/users"
PAGE_SIZE = 100
"""Persons of a page, whose organizations are as many as one request may read."""
_OWNER = "owner_id"

Ask: TypeAlias = Callable[[Request], Response]
"""Sends a request, and raises an error for a response that is none."""


def listed(ask: Ask, since: datetime | None, position: str | None) -> tuple[list[Any], str | None]:
    """Return a page of the persons, and the position of the next one."""
    query = {"sort_by": "id", "sort_direction": "asc", "limit": str(PAGE_SIZE)}
    if since is not None:
        query |= {"sort_by": "update_time", "updated_since": f"{since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"}
    if position:
        query["cursor"] = position
    body = ask(Request(method="GET", path=f"{API}/{PERSONS}", query=query)).object
    following = (body.get("additional_data") or {}).get("next_cursor")
    return list(body["data"]), text(following) or None


def has_owner(persons: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether any of the persons has an owner."""
    return any(person.get(_OWNER) for person in persons)


def owners(ask: Ask) -> dict[str, str]:
    """Return the names of the company's users by id."""
    users = ask(Request(method="GET", path=USERS)).object["data"]
    return {text(user["id"]): text(user.get("name")) for user in users}


def page(
    ask: Ask,
    persons: Sequence[Mapping[str, Any]],
    mapping: Mapping[str, str],
    owners: Mapping[str, str],
    *,
    position: str | None,
    notes: Sequence[str],
) -> Page:
    """Return the page of the persons; the organizations of those on it are read."""
    present = [person for person in persons if not person.get("is_deleted")]
    deleted = [person for person in persons if person.get("is_deleted")]
    nothing: dict[str, Mapping[str, Any]] = {}
    companies, more_notes = optional(lambda: _organizations(ask, present), nothing, COMPANIES_UNREADABLE)
    return Page(
        people=[_person(person, mapping, companies, owners).normal() for person in present],
        position=position,
        gone=[(RecordKind.CONTACT, str(person["id"])) for person in deleted],
        notes=(*notes, *more_notes),
    )


def _organizations(ask: Ask, persons: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    ids = dict.fromkeys(text(person.get(records.ORGANIZATION)) for person in persons)
    ids.pop("", None)
    if not ids:
        return {}
    query = {"ids": ",".join(ids), "limit": str(PAGE_SIZE)}
    found = ask(Request(method="GET", path=f"{API}/{ORGANIZATIONS}", query=query)).object["data"]
    return {text(one["id"]): one for one in found}


def _person(
    person: Mapping[str, Any],
    mapping: Mapping[str, str],
    companies: Mapping[str, Mapping[str, Any]],
    owners: Mapping[str, str],
) -> CrmPerson:
    company = companies.get(text(person.get(records.ORGANIZATION))) or {}
    profiles = chosen(mapping, CrmField.LINKEDIN_URL)
    websites = chosen(mapping, CrmField.WEBSITE)
    own = records.record(person, [*profiles, *websites]).values
    return CrmPerson(
        crm_id=str(person["id"]),
        kind=RecordKind.CONTACT,
        changed_at=moment(person.get("update_time")),
        name=text(person.get(records.NAME)),
        emails=records.addresses(person),
        phones=records.numbers(person),
        profiles=[own[name] for name in profiles if name in own],
        company=text(company.get("name")),
        domain=next((own[name] for name in websites if name in own), text(company.get("website"))),
        owner=owners.get(text(person.get(_OWNER)), ""),
    )
