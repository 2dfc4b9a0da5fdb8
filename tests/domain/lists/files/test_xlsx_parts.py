"""Workbooks are written in parts: their cells are as they were, and nothing in them is a formula."""

from __future__ import annotations

import io
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any

import pytest
from openpyxl import load_workbook

from app.domain.lists.files import xlsx_parts
from app.domain.lists.files.xlsx_records import Workbook

pytestmark = pytest.mark.any_database


def written(*rows: list[Any], header: tuple[str, ...] = ("a", "b"), name: str = "People") -> Any:
    return load_workbook(io.BytesIO(b"".join(xlsx_parts.workbook(name, header, rows))))


@pytest.mark.parametrize(
    "text", ["=1+1", "+49 30 1", "007", "12345678901234567890", "#N/A", " x ", "אבג", "1e5"]
)
def test_a_text_is_a_cell_of_text_as_it_was(text: str) -> None:
    cell = written([text]).active["A2"]

    assert (cell.value, cell.data_type, cell.number_format) == (text, "s", "@")


@pytest.mark.parametrize("value", [0, 42, -1.5, date(2024, 2, 29), datetime(2024, 2, 29, 10, 30)])  # noqa: DTZ001 -- sheets have no zones
def test_a_number_and_a_date_are_cells_of_their_kind(value: float | date) -> None:
    cell = written([value]).active["A2"]

    assert cell.data_type == ("d" if isinstance(value, date) else "n")
    assert cell.value == (datetime(2024, 2, 29) if value == date(2024, 2, 29) else value)  # noqa: DTZ001


def test_a_number_with_more_digits_than_excel_has_is_text() -> None:
    assert written([1234567890123456]).active["A2"].value == "1234567890123456"


def test_a_time_with_a_zone_is_written_as_it_is_there() -> None:
    assert written([datetime(2024, 1, 1, 6, tzinfo=UTC)]).active["A2"].value.hour == 6


def test_signs_that_xml_cannot_have_come_back() -> None:
    content = b"".join(xlsx_parts.workbook("x", ["a"], [["bell \x07 _x0041_\r\n<&>"]]))
    rows = list(Workbook(io.BytesIO(content)).rows("x"))

    assert rows[1].cells == ["bell \x07 _x0041_\r\n<&>"]


def test_a_cell_is_cut_at_what_excel_allows() -> None:
    value = written(["x" * 40_000]).active["A2"].value

    assert (len(value), value[-1]) == (xlsx_parts.MAX_CELL, "…")


def test_empty_cells_and_rows_are_empty_and_the_header_stays_in_view() -> None:
    sheet = written(["", "x", None], []).active

    assert [cell.value for cell in sheet[2]] == [None, "x"]
    assert sheet.freeze_panes == "A2"


def test_a_workbook_without_rows_has_its_header() -> None:
    assert [cell.value for cell in written().active[1]] == ["a", "b"]


def test_the_27th_column_is_found() -> None:
    assert written([*["x"] * 27], header=("h",) * 27).active["AA2"].value == "x"


@pytest.mark.parametrize(("name", "title"), [("a/b:[c]", "a b  c"), ("'''", "Sheet"), ('"<&', '"<&')])
def test_the_name_of_the_sheet_has_no_signs_that_excel_refuses(name: str, title: str) -> None:
    assert written(name=name).sheetnames == [title]


def test_what_a_sheet_cannot_have_is_on_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_parts, "MAX_ROWS", 3)
    book = written(*(["x"] for _ in range(4)))

    assert [(sheet.title, sheet.max_row) for sheet in book] == [("People", 3), ("People 2", 3)]


def test_the_first_part_is_sent_before_the_last_row_is_read() -> None:
    rows = iter([["x" * 100]] * 100_000)
    parts = list(islice(xlsx_parts.workbook("x", ["a"], rows), 3))

    assert len(parts) == 3
    assert len(list(rows)) > 80_000
