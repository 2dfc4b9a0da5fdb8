"""An estimate in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from app.engine.enrichments.own_record_counts import OwnRecordCount

_HAS = {"email": ("with_email", "an address"), "phone": ("with_phone", "a number")}


_NOUNS = {"person": ("person", "people"), "company": ("company", "companies")}


def of_list(
    items: int,
    counts: Mapping[str, int],
    own_records: Sequence[OwnRecordCount],
    fields: Collection[str],
    *,
    entity: str = "person",
) -> str:
    """Return whom of a list the workspace has already, and how many are bought for how much at most.

    `counts` has `owned`, `to_buy` and `credits_max` of an estimate; `fields` are requested.
    """
    parts = [_in_system(count, fields) for count in own_records]
    if owned := counts["owned"]:
        parts.append(f"{owned:,} owned")
    return f"{_counted(items, *_NOUNS[entity])}: {', '.join([*parts, of_purchase(counts)])}"


def of_purchase(counts: Mapping[str, int]) -> str:
    """Return how many people are bought, and how much they cost at most."""
    if not counts["to_buy"]:
        return "nothing to buy"
    return f"{counts['to_buy']:,} to buy for at most {_counted(counts['credits_max'], 'credit', 'credits')}"


def of_verification(counts: Mapping[str, int]) -> str:
    """Return how many addresses are verified for how much at most, and what is free.

    `counts` has the `emails`, of which some are `known`, the `phones` and `credits_max` of an estimate.
    """
    addresses = _counted(counts["emails"] - counts["known"], "address", "addresses")
    parts = [f"{addresses} to verify for at most {_counted(counts['credits_max'], 'credit', 'credits')}"]
    if known := counts["known"]:
        parts.append(f"{known:,} verified before free")
    return ", ".join([*parts, f"{_counted(counts['phones'], 'number', 'numbers')} free"])


def _in_system(count: OwnRecordCount, fields: Collection[str]) -> str:
    has = [f"{getattr(count, name):,} with {text}" for field, (name, text) in _HAS.items() if field in fields]
    return f"{count.people:,} in {count.title}" + (f" ({', '.join(has)})" if has else "")


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
