"""The addresses and numbers that are verified, as people have them, each once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, NamedTuple

from app.domain.errors import InvalidValue
from app.domain.lists.cells.verifiable_cells import NEITHER, Field, Value, read_cell
from app.domain.lists.files.csv_records import Row
from app.domain.lists.files.tables import read_table
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.messages import Figure, Message

MAX_VALUES = 10_000
TOO_LONG = Message("The list has more than {max} values. Split it into several.", max=Figure(MAX_VALUES))
NO_COLUMN = Message(
    "No column with e-mail addresses or phone numbers was recognised. Name the columns email or phone in the "
    "first row, or send one value a line."
)
_SAMPLE = 20


class Unreadable(NamedTuple):
    """What is not verified: its line in a file or its place in a request, from 1, and why."""

    line: int
    detail: str


@dataclass(slots=True)
class Values:
    """The distinct values with their first lines, how many were duplicates, and what was not readable."""

    found: dict[Value, int] = field(default_factory=dict)
    duplicates: int = 0
    unreadable: list[Unreadable] = field(default_factory=list)

    def add(self, line: int, cell: str, country: str | None, *, only: Field | None = None) -> None:
        """Add what a cell has: addresses with an @, otherwise numbers."""
        for value in read_cell(cell, country, only=only):
            if isinstance(value, InvalidValue):
                self.unreadable.append(Unreadable(line, str(value)))
                continue
            self.duplicates += value in self.found
            self.found.setdefault(value, line)

    @property
    def emails(self) -> int:
        """Return the number of addresses."""
        return sum(value.field == "email" for value in self.found)


def of_texts(texts: Iterable[str], country: str | None) -> Values:
    """Return the values of a request."""
    values = Values()
    for number, text in enumerate(texts, 1):
        read = len(values.found) + values.duplicates + len(values.unreadable)
        values.add(number, text, country)
        if read == len(values.found) + values.duplicates + len(values.unreadable):  # such as n/a
            values.unreadable.append(Unreadable(number, NEITHER))
    return values


def of_file(file: IO[bytes], country: str | None) -> Values:
    """Return the values of a CSV file or a workbook.

    Raises:
        InvalidValue: it cannot be read as a list, it has too many values, or no column is known.

    """
    table = read_table(file, lambda cells: map_columns(list(cells), Entity.CONTACTS).known_count)
    try:
        rows = list(islice(table.rows, MAX_VALUES + 1))
    finally:
        table.close()
    if len(rows) > MAX_VALUES:
        raise InvalidValue(TOO_LONG)
    columns = _columns(table.header, rows, None) or _columns(table.header, rows, country)
    if not columns:
        raise InvalidValue(NO_COLUMN)
    values = Values()
    for row in rows:
        if row.fault is not None:
            values.unreadable.append(Unreadable(row.line, row.fault))
            continue
        for index, only in columns.items():
            values.add(row.line, row.cells[index], country, only=only)
    if len(values.found) > MAX_VALUES:
        raise InvalidValue(TOO_LONG)
    return values


def _columns(header: Sequence[str], rows: Sequence[Row], country: str | None) -> dict[int, Field | None]:
    """Return the columns of addresses and numbers; without a known header, those in which most are values.

    National numbers are values only with the country, in which identifiers and post codes may be such.
    """
    layout = map_columns(list(header), Entity.CONTACTS)
    named: dict[int, Field | None] = dict.fromkeys((slot.index for slot in layout.emails), "email")
    named |= dict.fromkeys((slot.index for slot in layout.phones), "phone")
    if named:
        return named
    sample = [row.cells for row in rows[:_SAMPLE] if row.fault is None]
    return {
        index: None
        for index in range(len(header))
        if _has_values([cells[index] for cells in sample], country)
    }


def _has_values(cells: Sequence[str], country: str | None) -> bool:
    """Return whether at least half of the cells that are not empty are values."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and sum(_is_value(cell, country) for cell in filled) * 2 >= len(filled)


def _is_value(cell: str, country: str | None) -> bool:
    values = Values()
    values.add(1, cell, country)
    return bool(values.found)


class Placed(NamedTuple):
    """A value with its place in the list, from 0, and its first line in the file, from 1."""

    value: Value
    position: int
    line: int

    @property
    def domain(self) -> str:
        """Return the domain of an address, and "" for a number."""
        return self.value.text.rpartition("@")[2] if self.value.field == "email" else ""


def chunks(values: Values, size: int) -> Iterator[list[Placed]]:
    """Yield the values of the jobs; the addresses of a domain are in the same job if they fit.

    So one job learns of a domain that accepts all mail.
    """
    placed = [Placed(value, position, line) for position, (value, line) in enumerate(values.found.items())]
    placed.sort(key=lambda each: (each.value.field, each.domain, each.position))
    for start in range(0, len(placed), size):
        yield placed[start : start + size]
