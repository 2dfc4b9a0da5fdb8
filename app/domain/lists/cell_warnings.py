"""What was not understood in the cells of a list: counts by column and code, and the first lines of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Self

MAX_LINES = 3
"""The lines that are kept as examples of each warning."""
INVALID = "invalid"
NO_COUNTRY = "no_country"
NOT_A_PROFILE = "not_a_profile"
PROFILE_URL = "profile_url"


class Effect(StrEnum):
    """What happened to a cell that was not read as it is written."""

    LEFT_OUT = "left_out"
    CHANGED = "changed"
    GUESSED = "guessed"


@dataclass(frozen=True, slots=True)
class WarningKind:
    """What a code says of the cells, and what decides otherwise; no text contains a value."""

    effect: Effect
    text: str
    option: str = ""


KINDS: Mapping[str, WarningKind] = {
    INVALID: WarningKind(Effect.LEFT_OUT, "These values could not be read."),
    NOT_A_PROFILE: WarningKind(
        Effect.LEFT_OUT,
        "These are words or handles, not profiles, and are not written from the name in their row.",
        "Write the URL of each profile.",
    ),
    PROFILE_URL: WarningKind(
        Effect.LEFT_OUT,
        "These URLs do not show whose profile they are.",
        "Open each one and write the URL that the browser then shows.",
    ),
    NO_COUNTRY: WarningKind(
        Effect.LEFT_OUT,
        "Neither the row nor the list shows the country of these numbers.",
        "Name the country of numbers without a country code.",
    ),
}


class WarningKey(NamedTuple):
    """The field, the position of its column (None if several columns share the field), and the code."""

    field: str
    column: int | None
    code: str


class CellWarnings:
    """Counts the cells of one list that were left out, changed or guessed."""

    __slots__ = ("counts", "lines")

    def __init__(self) -> None:
        self.counts: Counter[WarningKey] = Counter()
        self.lines: dict[WarningKey, list[int]] = {}

    def add(self, field: str, code: str = INVALID, *, column: int | None = None, line: int = 0) -> None:
        """Count a cell; `code` is one of `KINDS`, `line` its line in the file, 0 if unknown."""
        key = WarningKey(field, column, code)
        self.counts[key] += 1
        lines = self.lines.setdefault(key, [])
        if line and len(lines) < MAX_LINES and line not in lines:
            lines.append(line)

    def count(self, code: str) -> int:
        """Return how many cells have this code."""
        return sum(count for key, count in self.counts.items() if key.code == code)

    @property
    def total(self) -> int:
        """Return the number of warnings."""
        return self.counts.total()

    def to_json(self) -> list[dict[str, Any]]:
        """Return the warnings for a JSON column; `from_json` restores them."""
        return [
            {**key._asdict(), "count": count, "lines": self.lines[key]}
            for key, count in sorted(self.counts.items(), key=_place)
        ]

    @classmethod
    def from_json(cls, stored: Iterable[Mapping[str, Any]]) -> Self:
        """Restore the warnings of `to_json`."""
        warnings = cls()
        for entry in stored:
            key = WarningKey(entry["field"], entry["column"], entry["code"])
            warnings.counts[key] = entry["count"]
            warnings.lines[key] = list(entry["lines"])
        return warnings


def described(warnings: CellWarnings, header: Iterable[str]) -> list[dict[str, Any]]:
    """Return the warnings with the name of their column, their effect, and what to do, for people."""
    names = list(header)
    return [
        {
            "column": entry["field"] if entry["column"] is None else names[entry["column"]],
            "field": entry["field"],
            "code": entry["code"],
            "effect": KINDS[entry["code"]].effect.value,
            "count": entry["count"],
            "lines": entry["lines"],
            "detail": " ".join(filter(None, (KINDS[entry["code"]].text, KINDS[entry["code"]].option))),
        }
        for entry in warnings.to_json()
    ]


def _place(item: tuple[WarningKey, int]) -> tuple[int, str, str]:
    field, column, code = item[0]
    return (-1 if column is None else column, field, code)
