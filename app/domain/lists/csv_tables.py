"""CSV files as a header and rows; each row has its line number and its fault, if any."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from app.domain.errors import InvalidValue
from app.domain.lists.csv_files import TextFormat, delimiter_of, text_format_of
from app.domain.lists.csv_records import LONG_CELL, MAX_ROW_LENGTH, TRUNCATED_ROW, Records, Row

HEADER_WITHIN = 50  # rows; some exports have notes before the header
_SAMPLE = 1 << 16
_INVISIBLE = "\ufeff\0 \r\n\t\u00a0"

TOO_MANY_CELLS = "The row has more cells than the header has columns. Quote cells that contain the separator."
REPEATED_HEADER = "This row repeats the header."


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows can be read once: its header, rows, text format and delimiter.

    `text` keeps a reference to the wrapper, which would otherwise close the file when it is collected, while
    callers still read the file's position.
    """

    header: list[str]
    rows: Iterator[Row]
    format: TextFormat
    delimiter: str
    text: io.TextIOWrapper


def read_table(
    file: IO[bytes],
    count_known: Callable[[Sequence[str]], int],
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Table:
    r"""Return the table of a CSV file; `count_known` counts the cells of a row that are known headers.

    The header is the row with the most known headers among the first 50, else the first with more than one
    cell. A row with too few cells is padded. If it is the last row and the file does not end with a line
    break, it is reported as truncated. `delimiter` may be written `tab` or `\t`.

    Raises:
        InvalidValue: the file is empty, not CSV, or has no rows below its header.

    """
    csv.field_size_limit(2 * MAX_ROW_LENGTH)
    text_format = text_format_of(file, encoding)
    file.seek(0)
    text = io.TextIOWrapper(file, text_format.encoding, errors=text_format.errors, newline="")
    sample = text.read(_SAMPLE)
    delimiter = _delimiter(delimiter) or delimiter_of(sample)
    text.seek(0)
    records = Records(text, delimiter)
    first = [row for _, row in zip(range(HEADER_WITHIN), records, strict=False)]
    index = _header_index(first, count_known)
    header = _stripped(first[index].cells)
    rows = _checked(_chain(first[index + 1 :], records), header)
    try:
        first_row = next(rows)
    except StopIteration:
        raise InvalidValue("The file has a header but no rows.") from None
    return Table(header, _chain([first_row], rows), text_format, delimiter, text)


def _delimiter(text: str | None) -> str | None:
    if text is None:
        return None
    delimiter = {"tab": "\t", "\\t": "\t"}.get(text.lower(), text)
    if len(delimiter) != 1:
        raise InvalidValue("The delimiter must be one character, such as ; or the word tab.")
    return delimiter


def _header_index(rows: Sequence[Row], count_known: Callable[[Sequence[str]], int]) -> int:
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


def _chain(first: Sequence[Row], rest: Iterator[Row]) -> Iterator[Row]:
    yield from first
    yield from rest
