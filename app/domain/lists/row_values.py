"""The values of a row by field, and the count of values that could not be parsed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.findings import Source, SourceKind
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.cells.cells import MAX_LENGTH, is_cut, value
from app.domain.lists.cells.dates import DateOrders, is_ambiguous, parse_date_cell
from app.domain.lists.cells.list_countries import UNKNOWN, ListCountries
from app.domain.lists.headers.column_mapping import ColumnMapping
from app.domain.lists.warning_kinds import CONVERTED_TWICE, DATE_ORDER, INVALID, LONG_TEXT, UNREAD_FLAG
from app.domain.normal.texts.converted_twice import converted_once

_FIRST_TIME = datetime(1990, 1, 1, tzinfo=UTC)
"""Earlier times are the zero of a program (1899-12-30, 1970-01-01) or dates of another calendar."""


@dataclass(frozen=True, slots=True)
class ImportDefaults:
    """Defaults of an import: source name, date of rows without one, country of national phone numbers.

    `countries` are those that the rows of the list suggest for these numbers, `dates` the orders of day and
    month that they show.
    """

    source: str
    at: datetime
    now: datetime
    region: str | None = None
    countries: ListCountries = UNKNOWN
    dates: DateOrders = field(default_factory=DateOrders)


class RowValues:
    """The values of one row. A value that cannot be parsed is omitted and counted in `warnings`.

    `line` is the row's first line in its file, from 1; 0 if it has none.
    """

    __slots__ = ("_single", "_times", "cells", "defaults", "line", "warnings")

    def __init__(
        self,
        layout: ColumnMapping,
        cells: Sequence[str],
        defaults: ImportDefaults,
        warnings: CellWarnings,
        line: int = 0,
    ) -> None:
        self._single = layout.single
        self._times: dict[int, datetime | None] = {}
        self.defaults = defaults
        self.warnings = warnings
        self.line = line
        self.cells = cells if all(map(str.isascii, cells)) else self._converted(layout, cells)

    def _converted(self, layout: ColumnMapping, cells: Sequence[str]) -> Sequence[str]:
        """Return the cells, those that were converted to UTF-8 twice as they were meant, which is counted."""
        meant = [None if cell.isascii() else converted_once(cell) for cell in cells]
        for index, (name, text) in enumerate(zip(layout.header, meant, strict=False)):
            if text is not None and (field := layout.meanings[name]):
                self.warn(field, CONVERTED_TWICE, index)
        return [cell if text is None else text for cell, text in zip(cells, meant, strict=True)]

    def warn(self, field: str, code: str = INVALID, column: int | None = None) -> None:
        """Count a cell of the field that was left out, changed or guessed; `code` is one of `KINDS`."""
        self.warnings.add(field, code, column=column, line=self.line)

    def refuses(self, field: str, index: int, answer: bool | None) -> bool:  # noqa: FBT001 -- an answer read
        """Return whether a cell refuses contact; one that is not understood (None) does, and is counted."""
        if answer is None:
            self.warn(field, UNREAD_FLAG, index)
        return answer is not False

    def indexes(self, field: str) -> Sequence[int]:
        """Return the positions of the field's columns, the most reliable first."""
        return self._single.get(field, ())

    def raw(self, field: str) -> list[str]:
        """Return the raw cells of the field's columns, the most reliable first."""
        return [self.cells[index] for index in self._single.get(field, ())]

    def filled(self, field: str) -> list[tuple[int, str]]:
        """Return position and value of the field's columns that are not empty, the most reliable first."""
        columns = ((index, value(self.cells[index])) for index in self._single.get(field, ()))
        return [(index, text) for index, text in columns if text is not None]

    def all(self, field: str) -> list[str]:
        """Return the values of all columns of the field, the most reliable first; long ones are cut."""
        indexes = self._single.get(field, ())
        return [text for index in indexes if (text := self._value(field, index)) is not None]

    def text(self, field: str) -> str | None:
        """Return the value of the field's most reliable column that is not empty; a long one is cut."""
        for index in self._single.get(field, ()):
            text = self._value(field, index)
            if text is not None:
                return text
        return None

    def _value(self, field: str, index: int) -> str | None:
        cell = self.cells[index]
        if len(cell) > MAX_LENGTH and is_cut(cell):
            self.warn(field, LONG_TEXT, index)
        return value(cell)

    def normal(self, field: str, form: Callable[[str], str]) -> str | None:
        """Return the normal form of the field's first valid value; None if there is none."""
        invalid = None
        for index in self._single.get(field, ()):
            text = value(self.cells[index])
            if text is not None:
                try:
                    return form(text)
                except (InvalidValue, NotAProfileUrl):
                    invalid = index
        if invalid is not None:
            self.warn(field, column=invalid)
        return None

    def cell(self, index: int | None) -> str | None:
        """Return the value of one cell; None if it is empty."""
        return None if index is None else value(self.cells[index])

    def first_time(self, field: str) -> datetime | None:
        """Return the time in the field's most reliable column that is not empty."""
        columns = (index for index in self._single.get(field, ()) if value(self.cells[index]) is not None)
        return self.time_in(next(columns, None), field)

    def time_in(self, column: int | None, field: str) -> datetime | None:
        """Return the time in a column, parsed once, although the row and an address may have it."""
        if column is None:
            return None
        if column not in self._times:
            self._times[column] = self.time(self.cell(column), field, column)
        return self._times[column]

    def time(self, text: str | None, field: str, column: int | None = None) -> datetime | None:
        """Parse a time in the order of its column; one in the future or before 1990 is invalid."""
        if text is None:
            return None
        order = self.defaults.dates.of(column)
        try:
            moment = parse_date_cell(text, order)
        except InvalidValue:
            moment = None
        if moment is None or not _FIRST_TIME <= moment <= self.defaults.now:
            self.warn(field, column=column)
            return None
        if order is None and is_ambiguous(text):
            self.warn(field, DATE_ORDER, column)
        return moment

    def source(self, at: datetime | None) -> Source:
        """Return the import as a source, at this time or the import's default."""
        return _source(self.defaults.source, at or self.defaults.at)


@lru_cache(maxsize=1024)
def _source(name: str, at: datetime) -> Source:
    return Source(name, SourceKind.IMPORT, at)
