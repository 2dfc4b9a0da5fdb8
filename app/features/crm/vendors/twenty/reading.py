"""Twenty's people, all of them or those that were changed, with their companies and account owners.

Sources: twentyhq/twenty, `common-find-many-query-runner.service` (`people(filter, orderBy, first, after)`;
the id is added to the order; `first` has no maximum, 200 is the QUERY_MAX_RECORDS of the REST API),
`generateFindManyRecordsQuery` (the names of the types), `process-nested-relations.helper` (the companies and
the owners of a page are read at once, those in the trash are null), `permissions.utils` (a query fails if
anything in it may not be read), `applyDeletedAtToBuilder` (deleted people are left out).

The cursor is the key of a record (`cursors.util`), so changes meanwhile move nobody to another page. Its time
has milliseconds, those of records have microseconds: if more people than a page have one time, the page is
the same again, until all are read by id. Releases before 0.53 may return at most 60 different companies a
page.

A field that does not exist, such as an own one that was renamed, or that may not be read is left out of the
query; the position says which, so that the other pages need one request each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.vendors.errors import NOT_ACCEPTED, AccessRefused, Rejected, Unreachable
from app.features.crm.vendors.exchange import moment, text
from app.features.crm.vendors.person import CrmField
from app.features.crm.vendors.reading import (
    COMPANIES_UNREADABLE,
    OWNERS_UNREADABLE,
    Page,
    chosen,
    full_name,
)
from app.features.crm.vendors.twenty import records

PAGE_SIZE = 200
_PROFILE = "linkedinLink.primaryLinkUrl"
_COMPANY, _OWNER = "company.", "company.accountOwner."
_FIELDS = (
    "id",
    "updatedAt",
    "name.firstName",
    "name.lastName",
    "emails.primaryEmail",
    "emails.additionalEmails",
    "phones.primaryPhoneNumber",
    "phones.primaryPhoneCountryCode",
    "phones.primaryPhoneCallingCode",
    "phones.additionalPhones",
    _PROFILE,
    f"{_COMPANY}name",
    f"{_COMPANY}domainName.primaryLinkUrl",
    f"{_OWNER}name.firstName",
    f"{_OWNER}name.lastName",
)

Query: TypeAlias = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Sends a query with its variables and returns the data; raises an error for a response that is none."""


def page(query: Query, mapping: Mapping[str, str], since: datetime | None, position: str | None) -> Page:
    """Return a page of the people."""
    place = json.loads(position) if position else {"without": []}
    variables: dict[str, Any] = {"first": PAGE_SIZE, "orderBy": [{"id": "AscNullsFirst"}]}
    if since is not None:
        variables |= {
            "filter": {"updatedAt": {"gte": since.isoformat()}},
            "orderBy": [{"updatedAt": "AscNullsFirst"}],
        }
    if "after" in place:
        variables["after"] = place["after"]
    profiles = chosen(mapping, CrmField.LINKEDIN_URL, _PROFILE)
    wanted = dict.fromkeys([*_FIELDS, *profiles])
    people, fields = _answer(query, variables, [name for name in wanted if name not in place["without"]])
    nodes = [edge["node"] for edge in people["edges"]]
    return Page(
        people=[_person(node, profiles).normal() for node in nodes if node is not None],
        position=_following(people["pageInfo"], [name for name in wanted if name not in fields]),
        notes=_notes(fields),
    )


def _answer(
    query: Query, variables: Mapping[str, Any], fields: Sequence[str]
) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Return what is answered to the first query that is not refused, and its fields."""
    try:
        return query(_document(fields), variables)["people"], fields
    except (AccessRefused, Rejected) as refusal:
        refused = _refused(refusal, fields)
        if not refused:
            raise
    return _answer(query, variables, [name for name in fields if name not in refused])


def _refused(refusal: AccessRefused | Rejected, fields: Sequence[str]) -> list[str]:
    """Return the fields to leave out, the workspace's own one first; none if it is not about fields."""
    if isinstance(refusal, Rejected):
        named = [name for name in fields if not refusal.refused.keys().isdisjoint(name.split("."))]
        return [name for name in named if name not in _FIELDS] or named
    if refusal.reason == NOT_ACCEPTED:
        return []
    return _under(_OWNER, fields) or _under(_COMPANY, fields)


def _under(outer: str, fields: Iterable[str]) -> list[str]:
    return [name for name in fields if name.startswith(outer)]


def _notes(fields: Sequence[str]) -> tuple[str, ...]:
    if not _under(_COMPANY, fields):
        return (COMPANIES_UNREADABLE,)
    return () if _under(_OWNER, fields) else (OWNERS_UNREADABLE,)


def _following(info: Mapping[str, Any], without: Sequence[str]) -> str | None:
    """Return the position of the next page; None after the last one.

    Raises:
        Unreachable: there is another page, and nothing says where it begins.

    """
    if not info["hasNextPage"]:
        return None
    if not info["endCursor"]:
        raise Unreachable("unexpected_response")
    return json.dumps({"after": text(info["endCursor"]), "without": without})


def _document(fields: Iterable[str]) -> str:
    return (
        "query People("
        "$filter: PersonFilterInput, $orderBy: [PersonOrderByInput], $first: Int, $after: String"
        ") { people(filter: $filter, orderBy: $orderBy, first: $first, after: $after)"
        f" {{ edges {{ node {{ {_selection(fields)} }} }} pageInfo {{ hasNextPage endCursor }} }} }}"
    )


def _selection(names: Iterable[str]) -> str:
    """Return the selection of dotted names: `name.firstName` is `name { firstName }`."""
    parts: dict[str, list[str]] = {}
    for name in names:
        outer, _dot, inner = name.partition(".")
        parts.setdefault(outer, []).extend([inner] if inner else [])
    return " ".join(f"{name} {{ {_selection(of)} }}" if of else name for name, of in parts.items())


def _person(person: Mapping[str, Any], profiles: Sequence[str]) -> CrmPerson:
    company = person.get("company") or {}
    owner = company.get("accountOwner") or {}
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
