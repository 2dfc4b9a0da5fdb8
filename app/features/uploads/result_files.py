"""The result of an upload as a file: a workbook for a workbook, and text as the list was written.

The customer's own cells come back as they were: digits, zeros and signs, without an apostrophe.
"""

from __future__ import annotations

import codecs
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from typing import Any, cast

from app.domain.lists.files import xlsx_parts
from app.domain.lists.files.csv_lines import csv_lines
from app.domain.lists.files.xlsx_parts import Cell
from app.features.uploads.result_rows import COLUMNS, ResultRow
from app.features.uploads.tables import Operation, Upload
from app.features.uploads.verify import results as verified

CSV, XLSX = "csv", "xlsx"
FORMATS = (CSV, XLSX)
SEPARATOR_LINE, CELL_KINDS = "separator_line", "cell_kinds"
"""What the format of an upload has for its result: whether the first line was one like `sep=;`, and the kind
of the cells of each column of a workbook, `text` if there are several."""
_TEXTS = ("csv", "tsv", "txt")
_PLAIN = "uploads.plain"
"""The error handler for signs that the encoding of the list does not have: `é` is written as `e`."""


def format_of(upload: Upload) -> str:
    """Return the format in which the list came."""
    return XLSX if (upload.table_format or {}).get("encoding") == XLSX else CSV


def name_of(upload: Upload, file_format: str) -> str:
    """Return the name of the file: the one of the list, with `- result` behind it."""
    name, _, ending = upload.file_name.rpartition(".")
    if file_format == XLSX or ending.lower() not in _TEXTS:
        ending = file_format
    return f"{name or upload.file_name} - result.{ending}"


def content_type(upload: Upload, file_format: str) -> str:
    """Return the content type, with the encoding if it is Unicode: others have other names there."""
    if file_format == XLSX:
        return xlsx_parts.MIMETYPE
    is_utf_8 = _encoding(upload.table_format or {}).startswith("utf-8")
    return "text/csv; charset=utf-8" if is_utf_8 else "text/csv"


def parts(upload: Upload, file_format: str, batches: Iterable[list[ResultRow]]) -> Iterator[bytes]:
    """Yield the file in parts: the columns and rows of the upload, in their order, and what was found."""
    return (_workbook if file_format == XLSX else _text)(upload, batches)


def _columns(upload: Upload) -> Sequence[str]:
    return verified.columns(upload) if upload.operation == Operation.VERIFY else COLUMNS


def _added(upload: Upload, row: ResultRow) -> Sequence[str | int]:
    return verified.added(upload, row) if upload.operation == Operation.VERIFY else row.added


def _workbook(upload: Upload, batches: Iterable[list[ResultRow]]) -> Iterator[bytes]:
    width, kinds = len(upload.header), (upload.table_format or {}).get(CELL_KINDS) or ()
    rows = ([*_typed(row.own(width), kinds), *_added(upload, row)] for batch in batches for row in batch)
    return xlsx_parts.workbook("Result", [*upload.header, *_columns(upload)], rows)


def _typed(cells: Sequence[str], kinds: Sequence[str]) -> Iterable[Cell]:
    """Return cells as they were in the workbook: what was a number or a date is one again."""
    if not kinds:
        return cells
    return [_cell(text, kind) if text else text for text, kind in zip(cells, kinds, strict=True)]


def _cell(text: str, kind: str) -> Cell:
    with suppress(ValueError):
        if kind == "number":
            number = float(text)
            return number if math.isfinite(number) and not number.is_integer() else int(text)
        if kind in {"date", "time"}:
            return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
    return text


def _text(upload: Upload, batches: Iterable[list[ResultRow]]) -> Iterator[bytes]:
    """Yield a text file. In what was found, formulas are escaped (docs/decisions/0020)."""
    width, written = len(upload.header), upload.table_format or {}
    encode = codecs.getincrementalencoder(_encoding(written))(_PLAIN).encode
    lines = partial(csv_lines, delimiter=upload.delimiter, unchanged=width)
    if written.get(SEPARATOR_LINE) and not _encoding(written).startswith("utf"):
        yield encode(f"sep={upload.delimiter}\r\n")  # Excel reads no UTF-8 below such a line
    yield encode(lines([[*upload.header, *_columns(upload)]]))
    for batch in batches:
        yield encode(lines([[*row.own(width), *_added(upload, row)] for row in batch]))


def _encoding(written: Mapping[str, Any]) -> str:
    """Return the encoding of the list; one with a byte order mark has it again, as Excel needs it."""
    encoding = written.get("encoding", XLSX)
    return "utf-8-sig" if encoding == XLSX else str(encoding)


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Return signs that an encoding does not have without their accents, the others as `?`."""
    failed = cast("UnicodeEncodeError", error)
    signs = unicodedata.normalize("NFKD", failed.object[failed.start : failed.end])
    plain = signs.encode("ascii", "ignore").decode()
    return plain or "?", failed.end


codecs.register_error(_PLAIN, _plainly)
