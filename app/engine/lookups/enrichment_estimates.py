"""Estimates the cost of an enrichment from stored data, before any provider is called."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from app.domain import kinds
from app.domain.errors import ContactNotFound
from app.domain.records.subjects import Subject
from app.engine.lookups import known_people
from app.engine.lookups.field_requests import TYPES, ContactField, FieldRequest, MinStatus
from app.engine.lookups.known_people import KnownPerson
from app.infra.database.session import Session
from app.settings import Settings

DEFAULT_FIELD_REQUESTS = {
    ContactField.EMAIL: FieldRequest(field=ContactField.EMAIL, types=("work",), min_status=MinStatus.VALID),
    ContactField.PHONE: FieldRequest(
        field=ContactField.PHONE, types=TYPES[ContactField.PHONE], min_status=MinStatus.ANY
    ),
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """Minimum and maximum cost in credits, and the number of items that cost nothing, by reason."""

    credits_min: int = 0
    credits_max: int = 0
    owned: int = 0
    suppressed: int = 0
    excluded: int = 0
    ineligible: int = 0


@dataclass(frozen=True, slots=True)
class ItemEstimate:
    """The person of an item, its minimum and maximum cost, and the reason if it costs nothing.

    `person` is equal for items that are known to be about the same person.
    """

    person: str
    free: Literal["owned", "suppressed", "excluded", "ineligible"] | None = None
    credits_min: int = 0
    credits_max: int = 0


def estimate(
    session: Session,
    workspace_id: str,
    requests: Sequence[dict[str, Any]],
    fields: Sequence[str],
    *,
    settings: Settings,
    now: datetime,
) -> Estimate:
    """Return the estimated cost of the items; `requests` are the requests of the job's items.

    A person who occurs twice is charged once.
    """
    counts: Counter[str] = Counter()
    counted: set[str] = set()
    for item in estimate_items(session, workspace_id, requests, fields, settings=settings, now=now):
        if item.free is not None:
            counts[item.free] += 1
        elif item.person not in counted:
            counted.add(item.person)
            counts["credits_min"] += item.credits_min
            counts["credits_max"] += item.credits_max
    return Estimate(**counts)


def estimate_items(
    session: Session,
    workspace_id: str,
    requests: Sequence[dict[str, Any]],
    fields: Sequence[str],
    *,
    settings: Settings,
    now: datetime,
) -> Iterator[ItemEstimate]:
    """Yield the estimate of each item, in their order."""
    field_requests = [
        field_request for field, field_request in DEFAULT_FIELD_REQUESTS.items() if field.value in fields
    ]
    for request in requests:
        known = _known(session, workspace_id, request, field_requests, settings, now)
        yield _item(known, request, settings.prices)


def _item(
    known: Mapping[ContactField, KnownPerson] | None, request: dict[str, Any], prices: Mapping[str, int]
) -> ItemEstimate:
    if known is None:
        return ItemEstimate(_person_key({}, request), "ineligible")
    person = _person_key(known, request)
    if any(found.suppressed for found in known.values()):
        return ItemEstimate(person, "suppressed")
    if any(found.exclusion for found in known.values()):
        return ItemEstimate(person, "excluded")
    if known and all(found.owned for found in known.values()):
        return ItemEstimate(person, "owned")
    return ItemEstimate(person, None, **_costs(known, prices))


def _costs(known: Mapping[ContactField, KnownPerson], prices: Mapping[str, int]) -> Counter[str]:
    """Return the minimum and maximum cost of the fields that the workspace does not own."""
    costs: Counter[str] = Counter()
    for field, person in known.items():
        if not person.owned:
            price = prices[kinds.revealing(field).name]
            costs["credits_max"] += price
            costs["credits_min"] += price if person.has_fresh_value else 0
    return costs


def _person_key(known: Mapping[ContactField, KnownPerson], request: dict[str, Any]) -> str:
    """Return a key that is equal for items known to be about the same person."""
    contact = next((person.contact for person in known.values()), None)
    return contact.id if contact else json.dumps(request.get("subject"), sort_keys=True)


def _known(  # noqa: PLR0917 -- the arguments of `estimate`, for one item
    session: Session,
    workspace_id: str,
    request: dict[str, Any],
    field_requests: Sequence[FieldRequest],
    settings: Settings,
    now: datetime,
) -> dict[ContactField, KnownPerson] | None:
    """Return what is stored, by field; empty for a company, None if the item has no known subject."""
    if "subject" not in request:
        return {} if "company" in request else None
    subject = Subject(**request["subject"])
    try:
        return {
            field_request.field: known_people.assess(
                session,
                workspace_id,
                subject,
                field_request,
                default_max_age=settings.default_max_age,
                now=now,
            )
            for field_request in field_requests
        }
    except ContactNotFound:
        return None
