"""An estimate in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce

from app.domain.errors import credits_of
from app.domain.messages import Figure, Message
from app.engine.enrichments.own_record_counts import OwnRecordCount

_HAS = {
    "email": ("with_email", Message("{count} with an address")),
    "phone": ("with_phone", Message("{count} with a number")),
}
_ITEMS = {
    "person": Message("{count} person", "{count} people"),
    "company": Message("{count} company", "{count} companies"),
}
_ADDRESSES = Message("{count} address", "{count} addresses")


def of_list(
    items: int,
    counts: Mapping[str, int],
    own_records: Sequence[OwnRecordCount],
    fields: Collection[str],
    *,
    entity: str = "person",
) -> Message:
    """Return whom of a list the workspace has already, and how many are bought for how much at most.

    `counts` has `owned`, `to_buy` and `credits_max` of an estimate; `fields` are requested.
    """
    parts = [_in_system(count, fields) for count in own_records]
    if owned := counts["owned"]:
        parts.append(Message("{count} owned", count=Figure(owned)))
    parts.append(_of_purchase(counts))
    return Message("{items}: {parts}", items=_ITEMS[entity].format(count=Figure(items)), parts=_joined(parts))


def of_verification(counts: Mapping[str, int]) -> Message:
    """Return how many addresses are verified for how much at most, and what is free.

    `counts` has the `emails`, of which some are `known`, the `phones` and `credits_max` of an estimate.
    """
    parts = [
        Message(
            "{addresses} to verify for at most {credits}",
            addresses=_ADDRESSES.format(count=Figure(counts["emails"] - counts["known"])),
            credits=credits_of(Figure(counts["credits_max"])),
        )
    ]
    if known := counts["known"]:
        parts.append(Message("{count} verified before free", count=Figure(known)))
    parts.append(Message("{count} number free", "{count} numbers free", count=Figure(counts["phones"])))
    return _joined(parts)


def of_search(stored: int, people: int, credits_max: int) -> Message:
    """Return how many stored people are shown, and how many others are found for how much at most."""
    return Message(
        "{stored} shown free, at most {people} to find for at most {credits}",
        stored=_ITEMS["person"].format(count=Figure(stored)),
        people=Figure(people),
        credits=credits_of(Figure(credits_max)),
    )


def _of_purchase(counts: Mapping[str, int]) -> Message:
    """Return how many people are bought, and how much they cost at most."""
    if not counts["to_buy"]:
        return Message("nothing to buy")
    return Message(
        "{count} to buy for at most {credits}",
        count=Figure(counts["to_buy"]),
        credits=credits_of(Figure(counts["credits_max"])),
    )


def _in_system(count: OwnRecordCount, fields: Collection[str]) -> Message:
    has = [
        text.format(count=Figure(getattr(count, name)))
        for field, (name, text) in _HAS.items()
        if field in fields
    ]
    people = Message("{count} in {system}", count=Figure(count.people), system=count.title)
    return Message("{people} ({values})", people=people, values=_joined(has)) if has else people


def _joined(parts: Sequence[Message]) -> Message:
    return reduce(lambda first, last: Message("{first}, {last}", first=first, last=last), parts)
