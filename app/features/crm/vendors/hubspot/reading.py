"""HubSpot's contacts: all of them by the list, those that were changed by the search.

Sources: developers.hubspot.com/docs/api-reference/crm-contacts-v3/guide (`GET /crm/v3/objects/contacts`:
`limit` up to 100, `properties`, `paging.next.after`), …/search/guide (one sort, filters GTE, EQ and GT, at
most 10,000 results of one query, five requests per second; an index that lags behind), …/crm-owners-v3/guide
(`firstName`, `lastName`). Dates are filtered in milliseconds since 1970.

Each page of changes is a query of its own, from the date of the last contact of the page before. So no query
comes near 10,000 results, and a contact that is changed meanwhile moves none of the others to another page. A
page on which all have the same date, as after an import, is followed by pages of that date by id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.vendors.errors import Unreachable
from app.features.crm.vendors.exchange import Request, Response, moment, text
from app.features.crm.vendors.person import CrmField
from app.features.crm.vendors.reading import Page, chosen, full_name

CONTACTS = "/crm/v3/objects/contacts"
OWNERS = "/crm/v3/owners"
PAGE_SIZE = 100
MAX_OWNER_PAGES = 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ADDRESSES = ("email", "hs_additional_emails")
_CHANGED_AT, _ID, _OWNER, _STAGE = "lastmodifieddate", "hs_object_id", "hubspot_owner_id", "lifecyclestage"

Ask: TypeAlias = Callable[[Request], Response]
"""Sends a request, and raises an error for a response that is none."""


def listed(ask: Ask, mapping: Mapping[str, str], position: str | None) -> tuple[list[Any], str | None]:
    """Return a page of all contacts by id, and the position of the next one."""
    query = {"limit": str(PAGE_SIZE), "properties": ",".join(_properties(mapping))}
    after = {"after": position} if position else {}
    body = ask(Request(method="GET", path=CONTACTS, query=query | after)).object
    return _results(body), _after(body)


def searched(
    ask: Ask, mapping: Mapping[str, str], since: datetime, position: str | None
) -> tuple[list[Any], str | None]:
    """Return a page of the contacts that were changed since then, and the position of the next one."""
    place = json.loads(position) if position else {"from": _milliseconds(since)}
    if "same" in place:
        filters = [_filter(_CHANGED_AT, "EQ", place["same"]), _filter(_ID, "GT", place["id"])]
    else:
        filters = [_filter(_CHANGED_AT, "GTE", place["from"])]
    body = {
        "filterGroups": [{"filters": filters}],
        "sorts": [{"propertyName": _ID if "same" in place else _CHANGED_AT, "direction": "ASCENDING"}],
        "properties": _properties(mapping),
        "limit": PAGE_SIZE,
    }
    found = ask(Request(method="POST", path=f"{CONTACTS}/search", body=body)).object
    contacts = _results(found)
    following = _next_place(place, contacts, has_more=bool(contacts) and _after(found) is not None)
    return contacts, None if following is None else json.dumps(following)


def page(
    contacts: Sequence[Mapping[str, Any]],
    mapping: Mapping[str, str],
    owners: Mapping[str, str],
    position: str | None,
    notes: Sequence[str],
) -> Page:
    """Return the page of the contacts."""
    people = [_person(contact, mapping, owners).normal() for contact in contacts]
    return Page(people=people, position=position, notes=notes)


def has_owner(contacts: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether any of the contacts has an owner."""
    return any(_values(contact).get(_OWNER) for contact in contacts)


def owners(ask: Ask) -> dict[str, str]:
    """Return the names of the owners of contacts by id."""
    names: dict[str, str] = {}
    after: str | None = None
    for _ in range(MAX_OWNER_PAGES):
        query = {"limit": "100"} | ({"after": after} if after else {})
        body = ask(Request(method="GET", path=OWNERS, query=query)).object
        names |= {text(one["id"]): full_name(one, "firstName", "lastName") for one in _results(body)}
        after = _after(body)
        if after is None:
            break
    return names


def _next_place(
    place: Mapping[str, Any], contacts: Sequence[Mapping[str, Any]], *, has_more: bool
) -> dict[str, Any] | None:
    if "same" in place:
        if has_more:
            return {"same": place["same"], "id": text(contacts[-1]["id"])}
        return {"from": place["same"] + 1}
    if not has_more:
        return None
    last = _changed_at(contacts[-1])
    if last is None or _milliseconds(last) < place["from"]:
        raise Unreachable("unexpected_response")  # not as it was sorted
    if _milliseconds(last) == place["from"]:
        return {"same": place["from"], "id": "0"}
    return {"from": _milliseconds(last)}


def _person(contact: Mapping[str, Any], mapping: Mapping[str, str], owners: Mapping[str, str]) -> CrmPerson:
    values = _values(contact)

    def texts(names: Sequence[str]) -> list[str]:
        return [part for name in names for part in text(values.get(name)).split(";")]

    def first(field: CrmField, default: str) -> str:
        return next(filter(None, (text(values.get(name)) for name in chosen(mapping, field, default))), "")

    return CrmPerson(
        crm_id=str(contact["id"]),
        kind=RecordKind.CONTACT,
        changed_at=_changed_at(contact),
        name=f"{first(CrmField.FIRST_NAME, 'firstname')} {first(CrmField.LAST_NAME, 'lastname')}",
        emails=texts(chosen(mapping, CrmField.EMAIL, *_ADDRESSES)),
        phones=texts(_phones(mapping)),
        profiles=texts(chosen(mapping, CrmField.LINKEDIN_URL, "hs_linkedin_url")),
        company=first(CrmField.COMPANY, "company"),
        domain=first(CrmField.WEBSITE, "website"),
        owner=owners.get(text(values.get(_OWNER)), ""),
        stage=text(values.get(_STAGE)),
    )


def _phones(mapping: Mapping[str, str]) -> list[str]:
    return chosen(mapping, CrmField.PHONE, "phone", "mobilephone")


def _properties(mapping: Mapping[str, str]) -> list[str]:
    names = (
        *chosen(mapping, CrmField.FIRST_NAME, "firstname"),
        *chosen(mapping, CrmField.LAST_NAME, "lastname"),
        *chosen(mapping, CrmField.EMAIL, *_ADDRESSES),
        *_phones(mapping),
        *chosen(mapping, CrmField.LINKEDIN_URL, "hs_linkedin_url"),
        *chosen(mapping, CrmField.COMPANY, "company"),
        *chosen(mapping, CrmField.WEBSITE, "website"),
        *(_OWNER, _STAGE, _CHANGED_AT),
    )
    return list(dict.fromkeys(names))


def _values(contact: Mapping[str, Any]) -> Mapping[str, Any]:
    return contact.get("properties") or {}


def _changed_at(contact: Mapping[str, Any]) -> datetime | None:
    return moment(_values(contact).get(_CHANGED_AT)) or moment(contact.get("updatedAt"))


def _milliseconds(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(milliseconds=1)


def _filter(name: str, operator: str, value: object) -> dict[str, str]:
    return {"propertyName": name, "operator": operator, "value": str(value)}


def _results(body: Mapping[str, Any]) -> list[Any]:
    results = body["results"]  # without them it is no list
    return list(results)


def _after(body: Mapping[str, Any]) -> str | None:
    following = (body.get("paging") or {}).get("next") or {}
    return text(following.get("after")) or None
