"""Writing of XLSX: a workbook in parts, each made when it is sent, so that memory stays flat.

The libraries that write workbooks return nothing before the last row is read. A download of many rows would
be cut off by proxies before its first byte.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from functools import cache
from typing import TypeAlias
from xml.sax.saxutils import escape

Cell: TypeAlias = str | int | float | date | datetime | None

MIMETYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_CELL = 32_767
"""The characters of a cell, https://support.microsoft.com/office/1672b34d-7043-467e-8e27-269d656771c3."""
MAX_ROWS = 1_048_576
"""The rows of a sheet, likewise. What is beyond goes to a further sheet."""
MAX_SHEET_BYTES = 1 << 30
"""Unpacked. An entry of more than 2 GiB needs ZIP64, which Excel does not read in a stream."""
MAX_EXACT = 10**15
"""Excel has 15 digits of a number: a longer one is written as text."""
_FLUSH = 1 << 16
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_NOT_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_NOT_IN_TITLE = re.compile(r"[\x00-\x1f\ud800-\udfff\[\]:*?/\\']")
_TEXT, _HEADER, _DATE, _MOMENT = 1, 2, 3, 4
_DAY_ZERO = datetime(1899, 12, 30)  # noqa: DTZ001 -- dates of a sheet have no zone
_NO_LOOK = 'fontId="{}" fillId="0" borderId="0" xfId="0"'
_LOOKS = "".join(  # in the order of the numbers above; 49 is text, 14 a date
    f'<xf numFmtId="{number}" {_NO_LOOK.format(font)} applyNumberFormat="1" applyFont="1"/>'
    for number, font in ((0, 0), (49, 0), (49, 1), (14, 0), (164, 0))
)
_STYLES = (
    f'{_XML}<styleSheet xmlns="{_MAIN}">'
    '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>'
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    f'<cellXfs count="5">{_LOOKS}</cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)
# The type of sheets is the default: how many there are is not known at the beginning.
_CONTENT_TYPES = (
    f'{_XML}<Types xmlns="{_PACKAGE}/content-types">'
    f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Default Extension="xml" ContentType="{_TYPES}.worksheet+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/></Types>'
)
_ROOT = (
    f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
)


class _Sent(io.RawIOBase):
    """What the archive has written and nobody has taken yet; it cannot be sought, as a response cannot."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._parts.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        part = b"".join(self._parts)
        self._parts.clear()
        return part


def workbook(name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    """Yield a workbook in parts: a sheet of this name with the header, which stays in view, and the rows.

    Texts are cells of text, whatever they begin with: nothing is run as a formula, and a number in a text
    keeps its zeros, its `+` and all of its digits. Finite numbers, dates and times are cells of their kind.
    """
    sent, left = _Sent(), _Rows(rows)
    sheets = 0
    with zipfile.ZipFile(sent, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
        archive.writestr("[Content_Types].xml", _CONTENT_TYPES)
        archive.writestr("_rels/.rels", _ROOT)
        archive.writestr("xl/styles.xml", _STYLES)
        while sheets == 0 or not left.at_end:
            sheets += 1
            with archive.open(f"xl/worksheets/sheet{sheets}.xml", "w") as sheet:
                for text in _sheet(header, left):
                    sheet.write(text)
                    if part := sent.taken():
                        yield part
        archive.writestr("xl/workbook.xml", _book(name, sheets))
        archive.writestr("xl/_rels/workbook.xml.rels", _relations(sheets))
    yield sent.taken()


class _Rows:
    """Rows of which the next one is known, so that no sheet is begun for none."""

    def __init__(self, rows: Iterable[Sequence[Cell]]) -> None:
        self._rows = iter(rows)
        self._next = next(self._rows, None)

    @property
    def at_end(self) -> bool:
        return self._next is None

    def take(self) -> Sequence[Cell]:
        row, self._next = self._next, next(self._rows, None)
        return row or ()


def _sheet(header: Sequence[str], rows: _Rows) -> Iterator[bytes]:
    """Yield a sheet with as many of the rows as it can have."""
    yield (
        f'{_XML}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">'
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
        '<sheetFormatPr defaultRowHeight="15"/>'
        f'<cols><col min="1" max="{max(1, len(header))}" width="20" customWidth="1"/></cols><sheetData>'
        f"{_row(1, header, _HEADER)}"
    ).encode()
    number, size = 1, 0
    while not rows.at_end and number < MAX_ROWS and size < MAX_SHEET_BYTES:
        texts, length = [], 0
        while not rows.at_end and number < MAX_ROWS and length < _FLUSH:
            number += 1
            texts.append(_row(number, rows.take(), _TEXT))
            length += len(texts[-1])
        part = "".join(texts).encode()
        size += len(part)
        yield part
    yield b"</sheetData></worksheet>"


def _row(number: int, cells: Sequence[Cell], style: int) -> str:
    texts = (
        _cell(f"{_letters(index)}{number}", cell, style)
        for index, cell in enumerate(cells)
        if cell not in {"", None}
    )
    return f'<row r="{number}">{"".join(texts)}</row>'


def _cell(place: str, cell: Cell, style: int) -> str:
    if isinstance(cell, str):
        return (
            f'<c r="{place}" s="{style}" t="inlineStr"><is><t xml:space="preserve">{_text(cell)}</t></is></c>'
        )
    if isinstance(cell, date):
        number, style = _serial(cell)
        return f'<c r="{place}" s="{style}"><v>{number}</v></c>'
    if isinstance(cell, int) and abs(cell) >= MAX_EXACT:
        return _cell(place, str(cell), style)
    return f'<c r="{place}"><v>{cell!r}</v></c>'


def _serial(day: date) -> tuple[str, int]:
    """Return a date or a time as the number of days since the beginning of 1900, and its style."""
    if not isinstance(day, datetime):
        return str((day - _DAY_ZERO.date()).days), _DATE
    since = day.replace(tzinfo=None) - _DAY_ZERO
    return repr(since.days + since.seconds / 86_400), _MOMENT


def _text(text: str) -> str:
    """Return the text in XML, with the signs that XML cannot have as Excel writes them: `_x0007_`."""
    text = text if len(text) <= MAX_CELL else f"{text[: MAX_CELL - 1]}…"
    return escape(_NOT_IN_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", text))


@cache
def _letters(index: int) -> str:
    """Return the letters of a column, from 0: A, …, Z, AA."""
    before, last = divmod(index, 26)
    return (_letters(before - 1) if before else "") + chr(ord("A") + last)


def _book(name: str, sheets: int) -> str:
    title = escape(_NOT_IN_TITLE.sub(" ", name)[:25].strip() or "Sheet", {'"': "&quot;"})
    entries = "".join(
        f'<sheet name="{title}{f" {number}" if number > 1 else ""}" sheetId="{number}" r:id="rId{number}"/>'
        for number in range(1, sheets + 1)
    )
    return f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{entries}</sheets></workbook>'


def _relations(sheets: int) -> str:
    entries = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        for number in range(1, sheets + 1)
    )
    styles = f'<Relationship Id="rId{sheets + 1}" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    return f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{entries}{styles}</Relationships>'
