"""CSV files and workbooks as a header and rows; each row has its number and its fault, if any."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import IO

from app.domain.errors import InvalidValue
from app.domain.lists.files.csv_files import ListFormat, is_archive, text_format_of
from app.domain.lists.files.csv_records import MAX_RECORD_LENGTH, TRUNCATED_ROW, Records, Row
from app.domain.lists.files.delimiters import CountKnown, delimiter_of, is_spaced, names_delimiter, quote_of
from app.domain.lists.files.xlsx_records import DAMAGED, Workbook
from app.domain.lists.headers.header_fields import column
from app.domain.lists.headers.header_rows import (
    HEADER_WITHIN,
    INVISIBLE,
    column_names,
    header_index,
    stripped,
)
from app.domain.messages import Message

_SAMPLE = 1 << 16
_LINK_FIELDS = frozenset({"linkedin_url", "url", "company_linkedin_url", "company_domain"})

TOO_MANY_CELLS = Message(
    "The row has more cells than the header has columns. Quote cells that contain the separator."
)
REPEATED_HEADER = Message("This row repeats the header.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    r"""How to read a table, as far as it is not detected.

    `delimiter` may be written `tab` or `\t`. `sheet` is the name of a sheet of a workbook.
    """

    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    has_header: bool | None = None


DETECTED = TableOptions()
"""Everything is detected."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows can be read once: its header, rows, format and delimiter.

    If `has_header` is false, the columns are called `Column 1` and so on. `names_delimiter` is whether the
    first line was one like `sep=;`. `cell_kinds` has, once the rows of a workbook were read, the kinds of the
    cells of each column (see `Workbook.rows`). `close` releases the reader and
    leaves the file open. Call it at the end: a reader that is garbage-collected earlier closes the file,
    whose position callers still read.
    """

    header: list[str]
    rows: Iterator[Row]
    format: ListFormat
    close: Callable[[], object]
    delimiter: str = ""
    has_header: bool = True
    names_delimiter: bool = False
    cell_kinds: dict[int, set[str]] = field(default_factory=dict)


def read_table(file: IO[bytes], count_known: CountKnown, options: TableOptions = DETECTED) -> Table:
    """Return the table of a CSV file or of a sheet of an XLSX workbook.

    The header is one of the first 50 rows (see `header_index`). A row with too few cells is padded. If it is
    the last row and the file does not end with a line break, it is reported as truncated. Without a sheet in
    the options, the sheet with the most known headers is read.

    Raises:
        InvalidValue: the file is empty, not a list, or has no rows below its header.

    """
    if is_archive(file):
        return _of_workbook(file, count_known, options)
    return _of_text(file, count_known, options)


def _of_text(file: IO[bytes], count_known: CountKnown, options: TableOptions) -> Table:
    csv.field_size_limit(2 * MAX_RECORD_LENGTH)
    text_format = text_format_of(file, options.encoding, count_known)
    file.seek(0)
    text = io.TextIOWrapper(file, text_format.encoding, errors=text_format.errors, newline="")
    sample = text.read(_SAMPLE)
    delimiter = _delimiter(options.delimiter) or delimiter_of(sample, count_known)
    text.seek(0)
    records: Iterator[Row] = Records(
        text, delimiter, quote_of(sample, delimiter), spaced=is_spaced(sample, delimiter)
    )
    first = list(islice(records, HEADER_WITHIN))
    if _are_quoted_lines(first, delimiter, count_known):
        first, records = (
            [_split(row, delimiter) for row in first],
            (_split(row, delimiter) for row in records),
        )
    is_named = names_delimiter(sample)
    if is_named:
        del first[0]
    index = header_index(first, count_known, has_header=options.has_header)
    header = column_names(first, index, count_known)
    below = first if index is None else first[index + 1 :]
    written = 0 if index is None else len(first[index].cells)
    rows = _not_empty(_checked(chain(below, records), header, written))
    return Table(header, rows, text_format, text.detach, delimiter, index is not None, is_named)


def _are_quoted_lines(rows: Sequence[Row], delimiter: str, count_known: CountKnown) -> bool:
    """Return whether whole lines are quoted, as if each was one cell: `"Name,Email"`."""
    if any(len(row.cells) != 1 for row in rows):
        return False
    return max((count_known(_split(row, delimiter).cells) for row in rows), default=0) > 1


def _split(row: Row, delimiter: str) -> Row:
    """Return a row with the cells of the line that its only cell is."""
    if row.fault is not None or len(row.cells) != 1:
        return row
    try:
        return row._replace(
            cells=next(csv.reader(io.StringIO(row.cells[0], newline=""), delimiter=delimiter))
        )
    except (csv.Error, StopIteration):  # a line break or nothing in the cell
        return row


def _of_workbook(file: IO[bytes], count_known: CountKnown, options: TableOptions) -> Table:
    book = Workbook(file)
    first = {name: list(islice(book.rows(name), HEADER_WITHIN)) for name in book.sheets}
    known = {name: max((count_known(row.cells) for row in rows), default=0) for name, rows in first.items()}
    name = options.sheet or max((name for name in first if first[name]), key=known.__getitem__, default="")
    if not first.get(name):
        raise InvalidValue(
            Message(
                "The workbook has no sheet {sheet} with cells. Its sheets: {names}.",
                sheet=repr(options.sheet),
                names=", ".join(first),
            )
            if options.sheet
            else "The workbook is empty."
        )
    index = header_index(first[name], count_known, has_header=options.has_header)
    if index is not None and first[name][index].fault == DAMAGED:
        raise InvalidValue(DAMAGED)
    header = column_names(first[name], index, count_known)
    last = 0 if index is None else first[name][index].line
    links = book.links(name, _link_columns(header))
    kinds: dict[int, set[str]] = {}
    below = (row for row in book.rows(name, len(header), links, kinds, last) if row.line > last)
    unread = tuple(other for other, count in known.items() if other != name and count > 1)
    list_format = ListFormat(
        "xlsx", sheet=name, unread_sheets=unread, unsolved_formulas=book.unsolved_formulas(name)
    )
    rows = _not_empty(_checked(below, header))
    return Table(header, rows, list_format, book.close, has_header=index is not None, cell_kinds=kinds)


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


def _checked(rows: Iterator[Row], header: list[str], written: int = 0) -> Iterator[Row]:
    """Yield the rows that are not blank, each with as many cells as the header or a fault.

    The header may have been `written` with more cells, of columns at its end that have no name.
    """
    width = len(header)
    for row in rows:
        cells = row.cells
        if row.fault is None and not any(cell and not cell.isspace() for cell in cells):
            continue
        fault = row.fault
        if fault is None and len(cells) != width:
            fault = _fault_of_width(cells, width, max(width, written), cut=not row.ended)
            cells = [*cells, *[""] * (width - len(cells))] if len(cells) < width else cells[:width]
        if fault is None and cells[0].strip(INVISIBLE) == header[0] and stripped(cells) == header:
            fault = REPEATED_HEADER
        is_as_read = row.ended and fault is row.fault and cells is row.cells
        yield row if is_as_read else Row(row.line, cells if fault is None else row.cells, fault)


def _fault_of_width(cells: Sequence[str], width: int, most: int, *, cut: bool) -> str | None:
    if len(cells) < width:
        return TRUNCATED_ROW if cut else None
    return TOO_MANY_CELLS if any(cell.strip() for cell in cells[most:]) else None
