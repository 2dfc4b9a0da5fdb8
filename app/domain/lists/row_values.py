"""The values of a row by field, and the count of values that could not be parsed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.findings import Source, SourceKind
from app.domain.lists.cells import parse_timestamp, value
from app.domain.lists.column_mapping import ColumnMapping


@dataclass(frozen=True, slots=True)
class ImportDefaults:
    """Defaults of an import: source name, date of rows without one, country of national phone numbers."""

    source: str
    at: datetime
    now: datetime
    region: str | None = None


class RowValues:
    """The values of one row. A value that cannot be parsed is omitted and counted in `warnings`."""

    __slots__ = ("_single", "cells", "terms", "warnings")

    def __init__(
        self, layout: ColumnMapping, cells: Sequence[str], terms: ImportDefaults, warnings: Counter[str]
    ) -> None:
        self._single = layout.single
        self.cells = cells
        self.terms = terms
        self.warnings = warnings

    def raw(self, field: str) -> list[str]:
        """Return the raw cells of the field's columns, the most reliable first."""
        return [self.cells[place] for place in self._single.get(field, ())]

    def all(self, field: str) -> list[str]:
        """Return the values of all columns of the field, the most reliable first."""
        values = (value(self.cells[place]) for place in self._single.get(field, ()))
        return [text for text in values if text is not None]

    def text(self, field: str) -> str | None:
        """Return the value of the field's most reliable column that is not empty."""
        for place in self._single.get(field, ()):
            said = value(self.cells[place])
            if said is not None:
                return said
        return None

    def normal(self, field: str, form: Callable[[str], str]) -> str | None:
        """Return the normal form of the field's first valid value; None if there is none."""
        wrong = False
        for place in self._single.get(field, ()):
            said = value(self.cells[place])
            if said is not None:
                try:
                    return form(said)
                except (InvalidValue, NotAProfileUrl):
                    wrong = True
        if wrong:
            self.warnings[field] += 1
        return None

    def cell(self, place: int | None) -> str | None:
        """Return the value of one cell; None if it is empty."""
        return None if place is None else value(self.cells[place])

    def time(self, said: str | None, field: str) -> datetime | None:
        """Parse a time; a time in the future is invalid."""
        if said is None:
            return None
        try:
            found = parse_timestamp(said)
        except InvalidValue:
            found = None
        if found is None or found > self.terms.now:
            self.warnings[field] += 1
            return None
        return found

    def source(self, at: datetime | None) -> Source:
        """Return the import as a source, at this time or the import's default."""
        return Source(self.terms.source, SourceKind.IMPORT, at or self.terms.at)
