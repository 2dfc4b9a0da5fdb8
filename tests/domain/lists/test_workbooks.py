"""Workbooks are read as CSV files are; a damaged one is refused with a reason."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest
from openpyxl import Workbook

from app.domain.errors import InvalidValue
from app.domain.lists.files import xlsx_records
from app.domain.lists.files.csv_records import LONG_ROW
from app.domain.lists.files.tables import REPEATED_HEADER, Table, TableOptions, read_table
from app.domain.lists.files.xlsx_records import DAMAGED
from app.domain.lists.headers.column_mapping import Entity, map_columns

HEADER = ["Name", "Email", "Phone"]
ADA = ["Ada Lovelace", "ada@acme.example", "+1 617 555 0101"]


def workbook(sheets: dict[str, Sequence[Sequence[Any]]], hidden: Sequence[str] = ()) -> bytes:
    book = Workbook()
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        sheet.sheet_state = "hidden" if name in hidden else "visible"
        for row in rows:
            sheet.append(row)
    del book["Sheet"]
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def table(content: bytes, **options: Any) -> Table:
    return read_table(
        io.BytesIO(content),
        lambda cells: map_columns(cells, Entity.CONTACTS).known_count,
        TableOptions(**options),
    )


def rows(*rows: Sequence[Any], **options: Any) -> list[list[str]]:
    return [row.cells for row in table(workbook({"People": rows}), **options).rows]


def changed(content: bytes, part: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return the workbook with a part of it changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == part else old.read(name))
    return out.getvalue()


def test_the_rows_of_a_sheet_have_the_numbers_that_excel_shows() -> None:
    bob = ["Bob Ray", "b@acme.example"]

    found = table(workbook({"People": [["Exported today"], [], HEADER, ADA, [], bob]}))

    assert found.header == HEADER
    assert [(row.line, row.cells) for row in found.rows] == [(4, ADA), (6, [*bob, ""])]
    assert (found.format.encoding, found.format.sheet) == ("xlsx", "People")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (16175550101, "16175550101"),
        (16175550101.0, "16175550101"),
        (0.97, "0.97"),
        (True, "yes"),
        (False, "no"),
        (datetime(2026, 10, 1), "2026-10-01"),  # noqa: DTZ001 -- a workbook has no time zones
        (datetime(2026, 10, 1, 12, 30), "2026-10-01T12:30:00"),  # noqa: DTZ001 -- a workbook has no time zones
        (date(2026, 10, 1), "2026-10-01"),
        (time(12, 30), "12:30:00"),
        (timedelta(hours=1), "1:00:00"),
        ("+1 617", "+1 617"),
        ("a_x000D_b", "a\rb"),
        ("a_x0000_b", "ab"),
        ("a_xD800_b", "a\ufffdb"),
        ("a_xD83D__xDE00_b", "a\U0001f600b"),
        ("'=1+1", "'=1+1"),
        (None, ""),
    ],
)
def test_values_are_read_as_they_would_be_written_in_csv(value: object, text: str) -> None:
    assert rows([*HEADER, "Value"], [*ADA, value]) == [[*ADA, text]]


def test_a_phone_number_in_scientific_notation_is_read_as_its_digits() -> None:
    content = workbook({"People": [HEADER, [*ADA[:2], 16175550101]]})

    def rewrite(xml: bytes) -> bytes:
        return xml.replace(b"<v>16175550101</v>", b"<v>1.6175550101E10</v>")

    [row] = table(changed(content, "xl/worksheets/sheet1.xml", rewrite)).rows
    assert row.cells[2] == "16175550101"


def test_formulas_have_their_stored_results() -> None:
    content = workbook({"People": [HEADER, ["=1+1", *ADA[1:]]]})

    def calculate(xml: bytes) -> bytes:
        return re.sub(rb"</f><v ?/?>(</v>)?", b"</f><v>2</v>", xml)

    assert next(table(changed(content, "xl/worksheets/sheet1.xml", calculate)).rows).cells == ["2", *ADA[1:]]


def test_the_sheet_with_the_most_known_columns_is_read_and_other_lists_are_named() -> None:
    content = workbook(
        {
            "Notes": [["Read me"], ["Name"]],
            "Old": [HEADER[:2], ["Cy Low", "c@acme.example"]],
            "People": [HEADER, ADA],
            "Secret": [[*HEADER, "Title"], [*ADA, "CTO"]],
        },
        hidden=["Secret"],
    )

    found, other = table(content), table(content, sheet="Old")

    assert (found.format.sheet, found.format.unread_sheets) == ("People", ("Old",))
    assert next(found.rows).cells == ADA
    assert next(other.rows).cells == ["Cy Low", "c@acme.example"]


def test_cells_right_of_the_header_and_repeated_headers_are_left_out() -> None:
    found = list(table(workbook({"People": [HEADER, [*ADA, "", "note"], HEADER]})).rows)

    assert [(row.cells, row.fault) for row in found] == [(ADA, None), (HEADER, REPEATED_HEADER)]


def test_wrong_dimensions_hide_no_rows() -> None:
    content = workbook({"People": [HEADER, ADA, ADA]})

    def shrink(xml: bytes) -> bytes:
        return xml.replace(b'ref="A1:C3"', b'ref="A1:A1"')

    assert len(list(table(changed(content, "xl/worksheets/sheet1.xml", shrink)).rows)) == 2


def test_only_the_beginnings_of_a_row_with_too_many_characters_are_kept() -> None:
    """Cells may share one text, so a small workbook can have rows of many megabytes."""
    header = [*HEADER, "Title", "Note"]
    found = list(table(workbook({"People": [header, ["x" * 30_000] * 5, ADA]})).rows)

    assert [row.fault for row in found] == [LONG_ROW, None]
    assert [set(map(len, row.cells)) for row in found[:1]] == [{300}]


def test_a_row_with_the_longest_cell_of_excel_is_read() -> None:
    found = list(table(workbook({"People": [HEADER, [*ADA[:2], "x" * 32_767]]})).rows)

    assert [row.fault for row in found] == [None]


@pytest.mark.release
def test_a_sheet_that_is_damaged_is_read_up_to_there() -> None:
    content = workbook({"People": [HEADER, ADA, *[["Bob Ray", "b@acme.example", None]] * 50_000]})

    found = list(table(changed(content, "xl/worksheets/sheet1.xml", lambda xml: xml[: len(xml) // 2])).rows)

    assert found[0].cells == ADA
    assert [row.fault for row in found if row.fault] == [DAMAGED]
    assert found[-1].fault == DAMAGED


def bomb(xml: bytes) -> bytes:
    entities = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    return xml.replace(b"<worksheet", entities + b"<worksheet", 1).replace(b"<sheetData>", b"<sheetData>&b;")


def cut(xml: bytes) -> bytes:
    return xml[: xml.index(b"<row") + 10]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"PK\x03\x04rest", "damaged or password-protected"),
        (workbook({"People": [HEADER, ADA]})[:-100], "damaged or password-protected"),
        (changed(workbook({"A": [HEADER]}), "xl/workbook.xml", lambda xml: xml[:50]), "damaged"),
        (changed(workbook({"People": [HEADER, ADA]}), "xl/worksheets/sheet1.xml", bomb), "damaged"),
        (
            changed(workbook({"A": [HEADER, ADA]}), "xl/worksheets/sheet1.xml", cut),
            "The workbook is damaged here",
        ),
        (workbook({"People": []}), "The workbook is empty"),
        (workbook({"People": [HEADER]}), "a header but no rows"),
    ],
)
def test_a_workbook_that_cannot_be_read_is_refused_with_a_reason(content: bytes, sentence: str) -> None:
    with pytest.raises(InvalidValue, match=sentence):
        table(content)


def test_another_archive_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("content.xml", "<x/>")

    with pytest.raises(InvalidValue, match="another format than XLSX"):
        table(out.getvalue())


@pytest.mark.parametrize("limit", ["MAX_SHEET_BYTES", "MAX_PART_BYTES"])
def test_a_workbook_that_expands_too_much_is_refused_before_it_is_unpacked(
    monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(xlsx_records, limit, 100)

    with pytest.raises(InvalidValue, match="MB unpacked"):
        table(workbook({"People": [HEADER, ADA]}))


def test_a_sheet_that_does_not_exist_is_named() -> None:
    with pytest.raises(InvalidValue, match="no sheet 'Old' with cells"):
        table(workbook({"People": [HEADER, ADA]}), sheet="Old")


def test_a_workbook_without_known_headers_has_the_first_row_with_several_cells_as_its_header() -> None:
    assert table(workbook({"People": [["My list"], ["wer", "was"], ["Ada", "x"]]})).header == ["wer", "was"]


def test_the_library_is_only_imported_to_read_a_workbook() -> None:
    code = "import app.domain.lists.files.tables, sys; print('openpyxl' in sys.modules)"

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout == "False\n"
