"""One row as its layout sees it: values by field, and a count of what could not be understood."""

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
    """What holds for a whole list: its name, the date of rows without one, the country of local numbers."""

    source: str
    at: datetime
    now: datetime
    region: str | None = None


class RowValues:
    """The values of one row. What is there and cannot be understood is left out and counted in `warnings`."""

    __slots__ = ("_single", "cells", "terms", "warnings")

    def __init__(
        self, layout: ColumnMapping, cells: Sequence[str], terms: ImportDefaults, warnings: Counter[str]
    ) -> None:
        self._single = layout.single
        self.cells = cells
        self.terms = terms
        self.warnings = warnings

    def raw(self, field: str) -> list[str]:
        """Give the cells of the field's columns as they stand, the surest first."""
        return [self.cells[place] for place in self._single.get(field, ())]

    def all(self, field: str) -> list[str]:
        """Give what every column of the field says, the surest first."""
        said = (value(self.cells[place]) for place in self._single.get(field, ()))
        return [one for one in said if one is not None]

    def text(self, field: str) -> str | None:
        """Give what the surest column of the field that says anything says."""
        for place in self._single.get(field, ()):
            said = value(self.cells[place])
            if said is not None:
                return said
        return None

    def normal(self, field: str, form: Callable[[str], str]) -> str | None:
        """Give the normal form of the first value of the field that has one."""
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
        """Give what one cell says."""
        return None if place is None else value(self.cells[place])

    def time(self, said: str | None, field: str) -> datetime | None:
        """Read a time; one in the future is none."""
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
        """Say that the list said so, at a time of its own or the list's."""
        return Source(self.terms.source, SourceKind.IMPORT, at or self.terms.at)
