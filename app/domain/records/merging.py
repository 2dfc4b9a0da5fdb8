"""Merge two records of one entity: per field, the newer value wins and the older one only fills gaps.

The provenance of a record is stored as `{"*": stamp, "title": stamp}`. A stamp is `{"source": …, "at": …}`;
`*` applies to every field without a stamp of its own. Of two values with the same timestamp, the first is
kept, so importing a list that contains a person twice is idempotent. If the sources are ranked
(`RankedSource`), the more trusted of two sources with the same date wins. What the person has corrected is
never changed by another source, also if the correction was to remove a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache
from operator import itemgetter
from typing import Any

from app.domain.findings import PERSON, Source

ALL = "*"
_DAY = len("2026-11-20")
_NO_STAMP: Mapping[str, str] = {"source": "", "at": ""}


@dataclass(frozen=True, slots=True)
class RankedSource(Source):
    """A source with its place among others: `ranking` lists the providers, the most trusted first.

    A source that is not in the ranking is the operator's data, which is trusted above all providers.
    """

    ranking: tuple[str, ...] = ()

    def is_above(self, other: str) -> bool:
        """Return whether this source is trusted more than the source named `other`."""
        return self._rank(self.provider) < self._rank(other)

    def _rank(self, name: str) -> int:
        return self.ranking.index(name) if name in self.ranking else -1


class Change(Enum):
    """The effect of a merge: nothing, a newer date for a known value, or a changed value."""

    NONE = 0
    REFRESHED = 1
    CHANGED = 2


@lru_cache(maxsize=1024)
def stamp(source: Source) -> dict[str, str]:
    """Return the stamp of a source. It is cached and shared, so it must not be mutated."""
    return {"source": source.provider, "at": sortable(source.at)}


@lru_cache(maxsize=1024)
def initial_provenance(source: Source) -> dict[str, Any]:
    """Return the provenance of a new record. It is cached and shared, so it must not be mutated."""
    return {ALL: stamp(source)}


@lru_cache(maxsize=1024)
def sortable(moment: datetime) -> str:
    """Format a time as RFC 3339 in UTC with milliseconds, so that string order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def merge(
    row: dict[str, Any], found: Mapping[str, Any], units: Sequence[tuple[str, ...]], source: Source
) -> Change:
    """Update the row and its `provenance` with newer values.

    The fields of one unit are replaced together, so that values of two sources are never mixed. `found` has
    a value for each field of the units; None means that the source has no value.
    """
    new_stamp = stamp(source)
    provenance: dict[str, dict[str, str]] = row["provenance"]
    result = Change.NONE
    touched: list[str] = []
    for unit in units:
        change, fields = _merge_unit(row, found, unit, source, new_stamp)
        touched += fields
        if change.value > result.value:
            result = change
    if touched:
        row["provenance"] = _stamped(provenance, touched, new_stamp, row, units)
    return result


def _merge_unit(
    row: dict[str, Any],
    found: Mapping[str, Any],
    unit: tuple[str, ...],
    source: Source,
    new_stamp: Mapping[str, str],
) -> tuple[Change, list[str]]:
    present = [name for name in unit if found[name] is not None]
    if not present or any(is_corrected(row["provenance"], name) for name in unit):
        return Change.NONE, []
    missing = [name for name in present if row[name] is None]
    differing = [name for name in present if row[name] is not None and row[name] != found[name]]
    newer, older = _compared(source, new_stamp, _latest(row, unit))
    if older or (differing and not newer):  # do not combine an older city with a newer country
        return Change.NONE, []
    if differing:
        for name in unit:
            row[name] = found[name]
        return Change.CHANGED, list(unit)
    for name in missing:
        row[name] = found[name]
    if missing:
        return Change.CHANGED, present if newer else missing
    return (Change.REFRESHED, present) if newer else (Change.NONE, [])


def value_time(provenance: Mapping[str, Any], name: str) -> datetime:
    """Return the time of a field's value."""
    return datetime.fromisoformat((provenance.get(name) or provenance[ALL])["at"])


def is_corrected(provenance: Mapping[str, Any], name: str) -> bool:
    """Return whether the person has corrected or removed the value of the field."""
    return bool(provenance.get(name, _NO_STAMP)["source"] == PERSON)


def _latest(row: Mapping[str, Any], unit: tuple[str, ...]) -> Mapping[str, str]:
    """Return the latest stamp among the unit's fields that have a value."""
    provenance = row["provenance"]
    stamps = [
        provenance.get(name) or provenance.get(ALL) or _NO_STAMP for name in unit if row[name] is not None
    ]
    return max(stamps, key=itemgetter("at"), default=_NO_STAMP)


def _compared(
    source: Source, new_stamp: Mapping[str, str], old_stamp: Mapping[str, str]
) -> tuple[bool, bool]:
    """Return whether the new stamp supersedes the previous one, and whether it is older."""
    time, time_before = new_stamp["at"], old_stamp["at"]
    if not isinstance(source, RankedSource) or source.provider == old_stamp["source"]:
        return time > time_before, time < time_before
    day, day_before = time[:_DAY], time_before[:_DAY]
    return day > day_before or (day == day_before and source.is_above(old_stamp["source"])), day < day_before


def _stamped(
    provenance: Mapping[str, Any],
    touched: Sequence[str],
    new_stamp: dict[str, str],
    row: Mapping[str, Any],
    units: Sequence[tuple[str, ...]],
) -> dict[str, Any]:
    """Return the provenance with the stamp on the touched fields, in its shortest form."""
    filled = {name for unit in units for name in unit if row[name] is not None}
    own = {
        name: found
        for name, found in provenance.items()
        if name not in touched and (name in filled or is_corrected(provenance, name))
    }
    if not own and filled <= set(touched):
        return {ALL: new_stamp}
    stamps = dict.fromkeys((name for name in touched if name in filled), new_stamp)
    return ({ALL: provenance[ALL]} if ALL in provenance else {}) | own | stamps
