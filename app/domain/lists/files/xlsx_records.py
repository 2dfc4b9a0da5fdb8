"""The rows of the sheets of an Excel workbook (XLSX), read one after the other."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from itertools import islice
from types import MappingProxyType
from typing import IO, Any

from app.domain.errors import InvalidValue
from app.domain.lists.files.csv_records import Row, limited
from app.domain.lists.files.xlsx_links import Links, links_of, unsolved_formulas, with_targets
from app.domain.lists.files.xlsx_packages import part_name, readable
from app.domain.messages import Figure, Message

MAX_ROWS = 1_048_576  # of a sheet, https://support.microsoft.com/office/1672b34d-7043-467e-8e27-269d656771c3
MAX_SHEET_BYTES = 4 << 30  # unpacked
MAX_PART_BYTES = 512 << 20  # unpacked; the texts that cells share are held in memory
_SHEETS = "xl/worksheets/"
_MAIN_PART = "xl/workbook.xml"
_ESCAPED = "_x"  # characters that XML cannot hold: _x000D_

_KINDS = {int: "number", float: "number", date: "date", datetime: "time"}
_NO_LINKS: Mapping[int, Mapping[int, str]] = MappingProxyType({})

DAMAGED = Message(
    "The workbook is damaged here. The rows after this one were not read; save it again in Excel."
)
_NOT_A_WORKBOOK = Message(
    "This is a ZIP archive or a spreadsheet in another format than XLSX (ods, xlsb, Numbers). "
    "Open it in a spreadsheet program and save it as XLSX or CSV (UTF-8)."
)
_BROKEN = Message(
    "This workbook is damaged or password-protected. Open it in Excel and save it as XLSX or CSV (UTF-8)."
)
_ERRORS = (  # what the library raises for damaged parts
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError),
    *(ArithmeticError, AssertionError, AttributeError, LookupError, SyntaxError, TypeError, ValueError),
)


class Workbook:
    """A workbook whose sheets can be read several times, row by row."""

    def __init__(self, file: IO[bytes]) -> None:
        """Open the workbook; it does not close the file.

        Raises:
            InvalidValue: the file is not a workbook, is damaged, or is too large when unpacked.

        """
        _check_size(file)
        # The library takes 0.2 s and 15 MB, and only imports of workbooks need it.
        from openpyxl import load_workbook  # noqa: PLC0415
        from openpyxl.utils.escape import unescape  # noqa: PLC0415

        self._unescape = unescape
        try:
            self._file = readable(file)
            self._book = load_workbook(self._file, read_only=True, data_only=True, keep_links=False)
            self._sheets = {
                sheet.title: sheet for sheet in self._book.worksheets if sheet.sheet_state == "visible"
            }
        except InvalidValue:
            raise
        except _ERRORS as error:
            raise InvalidValue(_BROKEN) from error

    @property
    def sheets(self) -> list[str]:
        """Return the names of the visible sheets."""
        return list(self._sheets)

    def links(self, sheet: str, columns: Mapping[int, bool]) -> Links:
        """Return the targets of links in columns of a sheet, as `links_of` does."""
        try:
            with zipfile.ZipFile(self._file) as archive:
                return links_of(archive, self._part(sheet), columns)
        except _ERRORS:
            return {}  # reading the rows reports the damage

    def unsolved_formulas(self, sheet: str) -> int:
        """Return how many formulas of a sheet have no stored result: their cells are read as empty."""
        try:
            with zipfile.ZipFile(self._file) as archive:
                return unsolved_formulas(archive, self._part(sheet))
        except _ERRORS:
            return 0  # likewise

    def rows(
        self,
        sheet: str,
        width: int | None = None,
        links: Mapping[int, Mapping[int, str]] = _NO_LINKS,
        kinds: dict[int, set[str]] | None = None,
        after: int = 0,
    ) -> Iterator[Row]:
        """Yield the rows of a sheet with their numbers, without the columns after `width`.

        `kinds` gets the kinds of the cells of each column below the row `after`: number, date, time or text.

        Formulas have the results that were stored with them, and cells in `links` the targets. A row that is
        damaged is the last one.
        """
        found = self._sheets[sheet]
        found.reset_dimensions()  # some programs write wrong ones
        rows = enumerate(islice(found.iter_rows(max_col=width, values_only=True), MAX_ROWS), 1)
        number = 0
        try:
            for number, values in rows:
                row = self._row(number, values)
                if kinds is not None and number > after:
                    _add_kinds(kinds, values)
                if number in links:
                    row = limited(row._replace(cells=with_targets(row.cells, links[number])))
                yield row
        except _ERRORS:
            yield Row(number + 1, [], DAMAGED)

    def close(self) -> None:
        """Release the workbook's archive; the file stays open."""
        self._book.close()

    def _part(self, sheet: str) -> str:
        path: str = getattr(self._sheets[sheet], "_worksheet_path")  # noqa: B009 -- not published
        return path

    def _row(self, number: int, values: tuple[Any, ...]) -> Row:
        cells = [value if isinstance(value, str) else _text(value) for value in values]
        row = limited(Row(number, cells))
        if any(_ESCAPED in cell for cell in row.cells):
            row = row._replace(cells=[_storable(self._unescape(cell)) for cell in row.cells])
        while row.cells and not row.cells[-1]:
            row.cells.pop()
        return row


def _add_kinds(kinds: dict[int, set[str]], values: tuple[Any, ...]) -> None:
    for index, value in enumerate(values):
        if value is not None:
            kinds.setdefault(index, set()).add(_KINDS.get(type(value), "text"))


def _check_size(file: IO[bytes]) -> None:
    """Raise InvalidValue if the file is not a workbook, or is too large when unpacked."""
    file.seek(0)
    try:
        parts = zipfile.ZipFile(file).infolist()
    except _ERRORS as error:
        raise InvalidValue(_BROKEN) from error
    if all(part_name(part.filename) != _MAIN_PART for part in parts):
        raise InvalidValue(_NOT_A_WORKBOOK)
    for part in parts:
        limit = MAX_SHEET_BYTES if part_name(part.filename).startswith(_SHEETS) else MAX_PART_BYTES
        if part.file_size > limit:
            raise InvalidValue(
                Message(
                    "The part {name} of this workbook takes {size} MB unpacked; at most {max} MB are read. "
                    "Save the sheet as CSV (UTF-8).",
                    name=part.filename[:50],
                    size=Figure(part.file_size >> 20),
                    max=Figure(limit >> 20),
                )
            )


def _storable(text: str) -> str:
    """Return the text without null characters, which PostgreSQL cannot store, and without lone surrogates."""
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(value: object) -> str:
    """Return a value as it is written in CSV: phone numbers stored as numbers without a decimal point."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, datetime | date) else str(value)
