"""Estimates the cost of an enrichment from stored data, before any provider is called."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from app.domain import kinds
from app.domain.records.subjects import Subject
from app.engine.enrichments import listed_people, own_record_counts, skips
from app.engine.enrichments.listed_people import ListedPerson
from app.engine.enrichments.own_record_counts import OwnRecordCount
from app.engine.enrichments.skips import NOBODY, SkipRule
from app.engine.lookups.field_requests import DEFAULT_FIELD_REQUESTS, ContactField
from app.engine.own_records.own_records import Find, OwnRecord
from app.infra.database.session import Session
from app.settings import Settings

_NO_SOURCES: Mapping[str, Find] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Minimum and maximum cost in credits, and the number of items that cost nothing, by reason.

    `to_buy` are the people of whom a requested value is neither owned nor skipped. `own_records` counts those
    in the workspace's own systems, whether they are skipped or not.
    """

    credits_min: int = 0
    credits_max: int = 0
    owned: int = 0
    suppressed: int = 0
    excluded: int = 0
    ineligible: int = 0
    skipped: int = 0
    to_buy: int = 0
    own_records: tuple[OwnRecordCount, ...] = ()


class Cost(NamedTuple):
    """What a value of a person costs: nothing at least, if no fresh one is stored."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class ItemEstimate:
    """The person of an item, and what each value costs that may be bought, or why the item costs nothing.

    `person` is equal for items that are known to be about the same person. `listed` is what the workspace has
    of the person; None for a company, and for an item that has no known subject.
    """

    person: str
    free: Literal["owned", "suppressed", "excluded", "ineligible", "skipped"] | None = None
    costs: Mapping[ContactField, Cost] = field(default_factory=dict)
    listed: ListedPerson | None = None
    fields: tuple[ContactField, ...] = ()

    @property
    def credits_min(self) -> int:
        """The least that the item costs."""
        return sum(cost.least for cost in self.costs.values())

    @property
    def credits_max(self) -> int:
        """The most that the item costs."""
        return sum(cost.most for cost in self.costs.values())

    @property
    def records(self) -> Sequence[OwnRecord]:
        """The records of the person in the workspace's own systems."""
        return self.listed.records if self.listed else ()

    def under(self, rule: SkipRule) -> ItemEstimate:
        """Return the estimate if the people of the rule are skipped."""
        skip = skips.decide(rule, self.listed, self.fields) if self.listed else None
        if skip is None:
            return self
        if skip.is_whole:
            return replace(self, free="skipped", costs={})
        return replace(
            self, costs={name: cost for name, cost in self.costs.items() if name not in skip.fields}
        )


def estimate(
    session: Session,
    workspace_id: str,
    requests: Sequence[dict[str, Any]],
    fields: Sequence[str],
    *,
    settings: Settings,
    now: datetime,
    rule: SkipRule = NOBODY,
    finds: Mapping[str, Find] = _NO_SOURCES,
) -> Estimate:
    """Return the estimated cost of the items; `requests` are the requests of the job's items.

    A person who occurs twice is charged once. `finds` are the own records to count, and to skip by the rule.
    """
    counts: Counter[str] = Counter()
    counted: set[str] = set()
    items = estimate_items(session, workspace_id, requests, fields, settings=settings, now=now, finds=finds)
    for stored in items:
        item = stored.under(rule)
        counts.update({"owned"} if stored.free == "owned" else ())
        counts.update({item.free} if item.free and item.free != "owned" else ())
        if item.person not in counted:
            counted.add(item.person)
            counts.update(
                own_record_counts.of_person(item.records),
                credits_min=item.credits_min,
                credits_max=item.credits_max,
                to_buy=int(bool(item.costs)),
            )
    own_records = own_record_counts.listed(counts)
    named = {name: count for name, count in counts.items() if name in Estimate.__slots__}
    return Estimate(**named, own_records=own_records)


def estimate_items(
    session: Session,
    workspace_id: str,
    requests: Sequence[dict[str, Any]],
    fields: Sequence[str],
    *,
    settings: Settings,
    now: datetime,
    finds: Mapping[str, Find] = _NO_SOURCES,
) -> Iterator[ItemEstimate]:
    """Yield the estimate of each item, in their order."""
    requested = tuple(name for name in DEFAULT_FIELD_REQUESTS if name.value in fields)
    subjects = [Subject(**request["subject"]) for request in requests if "subject" in request]
    people = iter(
        listed_people.read(
            session,
            workspace_id,
            subjects,
            requested,
            finds,
            default_max_age=settings.default_max_age,
            now=now,
        )
    )
    for request in requests:
        person = next(people) if "subject" in request else None
        key = _person_key(person, request)
        if person is not None:
            yield _item(key, person, requested, settings.prices)
        else:
            yield ItemEstimate(key, None if "company" in request else "ineligible")


def _item(
    key: str, person: ListedPerson, fields: tuple[ContactField, ...], prices: Mapping[str, int]
) -> ItemEstimate:
    if person.suppressed:
        return ItemEstimate(key, "suppressed", listed=person)
    if person.is_excluded:
        return ItemEstimate(key, "excluded", listed=person)
    costs = _costs(person, fields, prices)
    return ItemEstimate(key, "owned" if fields and not costs else None, costs, person, fields)


def _costs(
    person: ListedPerson, fields: Sequence[ContactField], prices: Mapping[str, int]
) -> dict[ContactField, Cost]:
    """Return the cost of the fields that the workspace does not own."""
    costs = {}
    for name in fields:
        known = person.known[name]
        if not known.owned:
            price = prices[kinds.revealing(name).name]
            costs[name] = Cost(price if known.has_fresh_value else 0, price)
    return costs


def _person_key(person: ListedPerson | None, request: dict[str, Any]) -> str:
    """Return a key that is equal for items known to be about the same person."""
    known = person.known.values() if person else ()
    contact = next((one.contact for one in known), None)
    return contact.id if contact else json.dumps(request.get("subject"), sort_keys=True)
