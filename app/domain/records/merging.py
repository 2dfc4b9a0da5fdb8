"""Two words about one thing: field by field the newer wins, and the older only fills gaps.

Who said what, and when, is kept as `{"*": stamp, "title": stamp}`: a stamp is `{"source": …, "at": …}`, and
`*` stands for every field that has none of its own. Of two words of the same moment the first stays, so that
a list in which somebody appears twice reads the same however often it is read. Of two sources of one day the
more trusted is believed, where it is known who that is (`RankedSource`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache
from operator import itemgetter
from typing import Any

from app.domain.findings import Source

ALL = "*"
_DAY = len("2026-11-20")
_NO_STAMP: Mapping[str, str] = {"source": "", "at": ""}


@dataclass(frozen=True, slots=True)
class RankedSource(Source):
    """A source among others: `ranking` names the providers, the most trusted first.

    Who is not in it is the operator, who is trusted above all of them.
    """

    ranking: tuple[str, ...] = ()

    def is_above(self, other: str) -> bool:
        """Tell whether this source is trusted more than the one of that name."""
        return self._rank(self.provider) < self._rank(other)

    def _rank(self, name: str) -> int:
        return self.ranking.index(name) if name in self.ranking else -1


class Change(Enum):
    """What came of a merge: nothing, a newer date for what was known, or something anybody can see."""

    NONE = 0
    REFRESHED = 1
    CHANGED = 2


@lru_cache(maxsize=1024)
def stamp(source: Source) -> dict[str, str]:
    """Say who said it and when; shared, so never to be changed."""
    return {"source": source.provider, "at": sortable(source.at)}


@lru_cache(maxsize=1024)
def sortable(at: datetime) -> str:
    """Write a time so that later ones sort last: RFC 3339 in UTC with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def merge(
    row: dict[str, Any], found: Mapping[str, Any], units: Sequence[tuple[str, ...]], source: Source
) -> Change:
    """Take over what is newer into the row and its `provenance`; fields of one unit are never mixed.

    `found` has a value or None for each field of the units; None says nothing.
    """
    said = stamp(source)
    known: dict[str, dict[str, str]] = row["provenance"]
    result = Change.NONE
    touched: list[str] = []
    for unit in units:
        change, fields = _merge_unit(row, found, unit, source, said)
        touched += fields
        if change.value > result.value:
            result = change
    if touched:
        row["provenance"] = _stamped(known, touched, said, row, units)
    return result


def _merge_unit(
    row: dict[str, Any],
    found: Mapping[str, Any],
    unit: tuple[str, ...],
    source: Source,
    said: Mapping[str, str],
) -> tuple[Change, list[str]]:
    given = [name for name in unit if found[name] is not None]
    if not given:
        return Change.NONE, []
    missing = [name for name in given if row[name] is None]
    differing = [name for name in given if row[name] is not None and row[name] != found[name]]
    newer, older = _compared(source, said, _latest(row, unit))
    if older or (differing and not newer):  # an older city does not go with a newer country
        return Change.NONE, []
    if differing:
        for name in unit:
            row[name] = found[name]
        return Change.CHANGED, list(unit)
    for name in missing:
        row[name] = found[name]
    if missing:
        return Change.CHANGED, given if newer else missing
    return (Change.REFRESHED, given) if newer else (Change.NONE, [])


def _latest(row: Mapping[str, Any], unit: tuple[str, ...]) -> Mapping[str, str]:
    """Give the latest stamp on what the unit has."""
    known = row["provenance"]
    stamps = [known.get(name) or known.get(ALL) or _NO_STAMP for name in unit if row[name] is not None]
    return max(stamps, key=itemgetter("at"), default=_NO_STAMP)


def _compared(source: Source, said: Mapping[str, str], before: Mapping[str, str]) -> tuple[bool, bool]:
    """Tell whether the word counts more than the one before, and whether it is older."""
    at, at_before = said["at"], before["at"]
    if not isinstance(source, RankedSource) or source.provider == before["source"]:
        return at > at_before, at < at_before
    day, day_before = at[:_DAY], at_before[:_DAY]
    return day > day_before or (day == day_before and source.is_above(before["source"])), day < day_before


def _stamped(
    known: Mapping[str, Any],
    touched: Sequence[str],
    said: dict[str, str],
    row: Mapping[str, Any],
    units: Sequence[tuple[str, ...]],
) -> dict[str, Any]:
    """Write the stamp on the fields, in the shortest way."""
    filled = {name for unit in units for name in unit if row[name] is not None}
    own = {name: found for name, found in known.items() if name in filled and name not in touched}
    if filled <= set(touched):
        return {ALL: said}
    stamps = dict.fromkeys((name for name in touched if name in filled), said)
    return ({ALL: known[ALL]} if ALL in known else {}) | own | stamps
