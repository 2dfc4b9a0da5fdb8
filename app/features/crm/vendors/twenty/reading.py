"""Twenty's people, all of them or those that were changed, with their companies and account owners.

Sources: twentyhq/twenty, `rest-api-find-many.handler` (`data.people`, `pageInfo` with `endCursor`),
`parse-order-by-rest-request` (`order_by=updatedAt[AscNullsFirst]`; the id is added),
`parse-limit-rest-request` and `parse-base-filter` (`updatedAt[gte]:"…"`, `id[in]:["…"]`). `starting_after`
continues after the key of a record, so changes meanwhile move nobody to another page. Related records are
read by their ids, because `depth=1` would add all relations of each person.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeAlias

from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.vendors.exchange import moment, text
from app.features.crm.vendors.person import CrmField
from app.features.crm.vendors.reading import (
    COMPANIES_UNREADABLE,
    OWNERS_UNREADABLE,
    Page,
    chosen,
    full_name,
    optional,
)
from app.features.crm.vendors.twenty import records

PAGE_SIZE = 60

Listing: TypeAlias = tuple[list[Mapping[str, Any]], str | None]
"""Records, and the cursor of the next page."""
List: TypeAlias = Callable[[str, Mapping[str, str]], Listing]
"""Lists the records of a kind with a query."""
_NONE: Mapping[str, Mapping[str, Any]] = MappingProxyType({})


def page(listed: List, mapping: Mapping[str, str], since: datetime | None, position: str | None) -> Page:
    """Return a page of the people."""
    order = {"order_by": "id[AscNullsFirst]"}
    if since is not None:
        order = {"order_by": "updatedAt[AscNullsFirst]", "filter": f'updatedAt[gte]:"{since.isoformat()}"'}
    cursor = {"starting_after": position} if position else {}
    people, following = listed("people", {"limit": str(PAGE_SIZE)} | order | cursor)
    companies, notes = optional(
        lambda: _by_id(listed, "companies", _ids(people, "companyId")), _NONE, COMPANIES_UNREADABLE
    )
    owner_ids = _ids(companies.values(), "accountOwnerId")
    owners, more_notes = optional(
        lambda: _by_id(listed, "workspaceMembers", owner_ids), _NONE, OWNERS_UNREADABLE
    )
    return Page(
        people=[_person(person, mapping, companies, owners).normal() for person in people],
        position=following,
        notes=(*notes, *more_notes),
    )


def _ids(rows: Iterable[Mapping[str, Any]], name: str) -> list[str]:
    return list(dict.fromkeys(text(row[name]) for row in rows if row.get(name)))


def _by_id(listed: List, kind: str, ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """Return the records with these ids, at most as many as the people of a page."""
    if not ids:
        return {}
    query = {"filter": f"id[in]:{json.dumps(ids, separators=(',', ':'))}", "limit": str(PAGE_SIZE)}
    found, _cursor = listed(kind, query)
    return {text(one["id"]): one for one in found}


def _person(
    person: Mapping[str, Any],
    mapping: Mapping[str, str],
    companies: Mapping[str, Mapping[str, Any]],
    owners: Mapping[str, Mapping[str, Any]],
) -> CrmPerson:
    company = companies.get(text(person.get("companyId"))) or {}
    owner = owners.get(text(company.get("accountOwnerId"))) or {}
    profiles = chosen(mapping, CrmField.LINKEDIN_URL, "linkedinLink.primaryLinkUrl")
    return CrmPerson(
        crm_id=str(person["id"]),
        kind=RecordKind.CONTACT,
        changed_at=moment(person.get("updatedAt")),
        name=full_name(person.get("name") or {}, "firstName", "lastName"),
        emails=records.addresses(person),
        phones=records.numbers(person),
        profiles=tuple(records.record(person, profiles).values.values()),
        company=text(company.get("name")),
        domain=text((company.get("domainName") or {}).get("primaryLinkUrl")),
        owner=full_name(owner.get("name") or {}, "firstName", "lastName"),
    )
