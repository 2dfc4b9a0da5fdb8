"""What was not understood in the cells of a list: counts by column and code, and the first lines of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from app.domain.lists.warning_kinds import INVALID, kind_of

MAX_LINES = 3
"""The lines that are kept as examples of each warning."""


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

    def extend(self, others: CellWarnings) -> None:
        """Add the warnings of a further part of the list."""
        for key, count in others.counts.items():
            self.counts[key] += count
            self.lines[key] = list(dict.fromkeys([*self.lines.get(key, []), *others.lines[key]]))[:MAX_LINES]

    def joined(self, others: CellWarnings) -> CellWarnings:
        """Return these warnings with others."""
        both = CellWarnings()
        both.extend(self)
        both.extend(others)
        return both

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


def described(
    warnings: CellWarnings, header: Sequence[str], fields: Sequence[str | None]
) -> list[dict[str, Any]]:
    """Return the warnings with the name of their column, their effect, and what to do, for people.

    `fields` are the fields of the columns of the header.
    """
    columns = {field: name for field, name in zip(reversed(fields), reversed(header), strict=True) if field}
    return [
        {
            "column": header[column] if column is not None else columns.get(field, field),
            "field": field,
            "code": code,
            "effect": kind_of(code).effect.value,
            "count": count,
            "lines": warnings.lines[WarningKey(field, column, code)],
            "detail": kind_of(code).sentences,
        }
        for (field, column, code), count in sorted(warnings.counts.items(), key=_place)
    ]


def _place(item: tuple[WarningKey, int]) -> tuple[int, str, str]:
    field, column, code = item[0]
    return (-1 if column is None else column, field, code)
