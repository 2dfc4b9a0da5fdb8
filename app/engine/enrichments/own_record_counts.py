"""Counts of the people of a list whom the workspace has in its own systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.engine.enrichments import skips
from app.engine.lookups.field_requests import ContactField
from app.engine.own_records.own_records import OwnRecord

_PREFIX, _SEPARATOR = "own_records", "/"
_PEOPLE = "people"
_COUNTED = {ContactField.EMAIL: "with_email", ContactField.PHONE: "with_phone"}


@dataclass(frozen=True, slots=True)
class OwnRecordCount:
    """The people of a list in a system of the workspace, and how many of them have an address or a number."""

    source: str
    system: str
    title: str
    people: int = 0
    with_email: int = 0
    with_phone: int = 0


def of_person(records: Sequence[OwnRecord]) -> Counter[str]:
    """Return the counts of one person, with names that can be added up and stored (see `listed`)."""
    counts: Counter[str] = Counter()
    for record in records:
        has = (_PEOPLE, *(name for field, name in _COUNTED.items() if field in skips.fields_of(record)))
        for name in has:  # once, however many records the person has in the system
            counts[_key(name, record.source, record.system, record.title)] = 1
    return counts


def listed(counts: Mapping[str, int]) -> tuple[OwnRecordCount, ...]:
    """Return the counts by system, the one with the most people first."""
    keys = [key.split(_SEPARATOR, 4) for key in counts if key.startswith(_PREFIX + _SEPARATOR)]
    systems = dict.fromkeys((source, system, title) for _prefix, _name, source, system, title in keys)
    found = [_count(counts, *system) for system in systems]
    return tuple(sorted(found, key=lambda count: (-count.people, count.title)))


def without_titles(counts: Mapping[str, int], is_left_out: Callable[[str], bool]) -> dict[str, int]:
    """Return the counts with the name of the system in place of these titles."""
    renamed = dict(counts)
    for one in listed(counts):
        if is_left_out(one.title):
            for name in (_PEOPLE, *_COUNTED.values()):
                if (count := renamed.pop(_key(name, one.source, one.system, one.title), None)) is not None:
                    renamed[_key(name, one.source, one.system, one.system)] = count
    return renamed


def _count(counts: Mapping[str, int], source: str, system: str, title: str) -> OwnRecordCount:
    def of(name: str) -> int:
        return counts.get(_key(name, source, system, title), 0)

    return OwnRecordCount(
        source,
        system,
        title,
        people=of(_PEOPLE),
        with_email=of(_COUNTED[ContactField.EMAIL]),
        with_phone=of(_COUNTED[ContactField.PHONE]),
    )


def _key(name: str, source: str, system: str, title: str) -> str:
    return _SEPARATOR.join((_PREFIX, name, source, system, title))
