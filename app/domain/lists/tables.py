"""CSV files and workbooks as a header and rows; each row has its number and its fault, if any."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, TypeAlias

from app.domain.errors import InvalidValue
from app.domain.lists.csv_files import ListFormat, delimiter_of, is_archive, text_format_of
from app.domain.lists.csv_records import LONG_CELL, MAX_ROW_LENGTH, TRUNCATED_ROW, Records, Row
from app.domain.lists.header_fields import column
from app.domain.lists.xlsx_records import DAMAGED, Workbook

HEADER_WITHIN = 50  # rows; some exports have notes before the header
_SAMPLE = 1 << 16
_LINK_FIELDS = frozenset({"linkedin_url", "url", "company_linkedin_url", "company_domain"})
_INVISIBLE = "\ufeff\0 \r\n\t\u00a0"

TOO_MANY_CELLS = "The row has more cells than the header has columns. Quote cells that contain the separator."
REPEATED_HEADER = "This row repeats the header."


CountKnown: TypeAlias = Callable[[Sequence[str]], int]
"""Counts the cells of a row that are known headers."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows can be read once: its header, rows, format and delimiter.

    `close` releases the reader and leaves the file open. Call it at the end: a reader that is
    garbage-collected earlier closes the file, whose position callers still read.
    """

    header: list[str]
    rows: Iterator[Row]
    format: ListFormat
    close: Callable[[], object]
    delimiter: str = ""


def read_table(
    file: IO[bytes],
    count_known: CountKnown,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
) -> Table:
    r"""Return the table of a CSV file or of a sheet of an XLSX workbook.

    The header is the row with the most known headers among the first 50, else the first with more than one
    cell. A row with too few cells is padded. If it is the last row and the file does not end with a line
    break, it is reported as truncated. `delimiter` may be written `tab` or `\t`. Without `sheet`, the sheet
    with the most known headers is read.

    Raises:
        InvalidValue: the file is empty, not a list, or has no rows below its header.

    """
    if is_archive(file):
        return _of_workbook(file, count_known, sheet)
    return _of_text(file, count_known, encoding, delimiter)


def _of_text(file: IO[bytes], count_known: CountKnown, encoding: str | None, delimiter: str | None) -> Table:
    csv.field_size_limit(2 * MAX_ROW_LENGTH)
    text_format = text_format_of(file, encoding)
    file.seek(0)
    text = io.TextIOWrapper(file, text_format.encoding, errors=text_format.errors, newline="")
    sample = text.read(_SAMPLE)
    delimiter = _delimiter(delimiter) or delimiter_of(sample)
    text.seek(0)
    records = Records(text, delimiter)
    first = list(islice(records, HEADER_WITHIN))
    index = _header_index(first, count_known)
    header = _stripped(first[index].cells)
    rows = _not_empty(_checked(chain(first[index + 1 :], records), header))
    return Table(header, rows, text_format, text.detach, delimiter)


def _of_workbook(file: IO[bytes], count_known: CountKnown, sheet: str | None) -> Table:
    book = Workbook(file)
    first = {name: list(islice(book.rows(name), HEADER_WITHIN)) for name in book.sheets}
    known = {name: max((count_known(row.cells) for row in rows), default=0) for name, rows in first.items()}
    name = sheet or max((name for name in first if first[name]), key=lambda name: known[name], default="")
    if not first.get(name):
        raise InvalidValue(
            f"The workbook has no sheet {sheet!r} with cells. Its sheets: {', '.join(first)}."
            if sheet
            else "The workbook is empty."
        )
    header_row = first[name][_header_index(first[name], count_known)]
    if header_row.fault == DAMAGED:
        raise InvalidValue(DAMAGED)
    header = _stripped(header_row.cells)
    links = book.links(name, _link_columns(header))
    below = (row for row in book.rows(name, len(header), links) if row.line > header_row.line)
    unread = tuple(other for other, count in known.items() if other != name and count > 1)
    list_format = ListFormat("xlsx", sheet=name, unread_sheets=unread)
    return Table(header, _not_empty(_checked(below, header)), list_format, book.close)


def _link_columns(header: Sequence[str]) -> dict[int, bool]:
    """Return the columns in which links are read, and whether any link counts or only one to LinkedIn."""
    found = {index: column(text) for index, text in enumerate(header)}
    return {
        index: meaning is not None
        for index, meaning in found.items()
        if meaning is None or meaning.field in _LINK_FIELDS
    }


def _not_empty(rows: Iterator[Row]) -> Iterator[Row]:
    try:
        first = next(rows)
    except StopIteration:
        raise InvalidValue("The file has a header but no rows.") from None
    return chain([first], rows)


def _delimiter(text: str | None) -> str | None:
    if text is None:
        return None
    delimiter = {"tab": "\t", "\\t": "\t"}.get(text.lower(), text)
    if len(delimiter) != 1:
        raise InvalidValue("The delimiter must be one character, such as ; or the word tab.")
    return delimiter


def _header_index(rows: Sequence[Row], count_known: CountKnown) -> int:
    counts = [0 if row.fault not in {None, LONG_CELL} else count_known(row.cells) for row in rows]
    if best := max(counts, default=0):
        return counts.index(best)
    wide = (index for index, row in enumerate(rows) if sum(bool(cell.strip()) for cell in row.cells) > 1)
    return next(wide, 0)


def _stripped(cells: Sequence[str]) -> list[str]:
    names = [cell.strip(_INVISIBLE) for cell in cells]
    while len(names) > 1 and not names[-1]:
        names.pop()
    return names


def _checked(rows: Iterator[Row], header: list[str]) -> Iterator[Row]:
    """Yield the rows that are not blank, each with as many cells as the header or a fault."""
    width = len(header)
    for row in rows:
        cells = row.cells
        if row.fault is None and not any(cell and not cell.isspace() for cell in cells):
            continue
        fault = row.fault
        if fault is None and len(cells) != width:
            fault = _fault_of_width(cells, width, cut=not row.ended)
            cells = [*cells, *[""] * (width - len(cells))] if len(cells) < width else cells[:width]
        if fault is None and cells[0].strip(_INVISIBLE) == header[0] and _stripped(cells) == header:
            fault = REPEATED_HEADER
        is_as_read = row.ended and fault is row.fault and cells is row.cells
        yield row if is_as_read else Row(row.line, cells if fault is None else row.cells, fault)


def _fault_of_width(cells: Sequence[str], width: int, *, cut: bool) -> str | None:
    if len(cells) < width:
        return TRUNCATED_ROW if cut else None
    return TOO_MANY_CELLS if any(cell.strip() for cell in cells[width:]) else None
