"""The result of an upload is a file of the same kind, separator and encoding, with the cells as they were."""

from __future__ import annotations

import csv
import io
from datetime import date, datetime
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from upload_support import Uploader, uploader
from worker_harness import worker_harness

from app.domain.lists.files import xlsx_parts
from app.features.uploads import representations, result_files, results
from app.features.uploads.pages import formats
from app.infra.database.db import Database
from app.settings import Settings

OWN = 'Name;E-mail;Mobile;No\n"Zoë, Ödön";zoe@acme.com;+49 30 1;007\n"=SUM(1)";ada@acme.com;-5;\n'


@pytest.fixture
def ada(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    return uploader(worker_harness(settings, database, monkeypatch))


def read(ada: Uploader, content: bytes, name: str = "people.csv") -> tuple[bytes, str]:
    """Upload and read the list; return its result in the format in which it came, and that format."""
    upload_id = ada.upload(content, file_name=name)
    ada.turn(upload_id)
    upload = ada.get(upload_id)
    file_format = result_files.format_of(upload)
    batches = results.batches(ada.harness.database, upload)
    return b"".join(result_files.parts(upload, file_format, batches)), file_format


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "cp1250", "mac_roman"]
)
def test_a_text_file_comes_back_with_its_separator_and_encoding(ada: Uploader, encoding: str) -> None:
    own = OWN.replace("Zoë, ", "") if encoding == "cp1250" else OWN
    content = own.encode(encoding)
    result, file_format = read(ada, content)

    rows = list(csv.reader(io.StringIO(result.decode(encoding), newline=""), delimiter=";"))
    assert file_format == "csv"
    assert [row[:4] for row in rows] == list(csv.reader(io.StringIO(own), delimiter=";"))


def test_excels_unicode_text_comes_back_with_one_byte_order_mark(ada: Uploader) -> None:
    result, _ = read(ada, "Name\tE-mail\r\nZoë\tzoe@acme.com\r\n".encode("utf-16"), "people.txt")

    assert result.startswith(b"\xff\xfe")
    assert result.count(b"\xff\xfe") == 1
    assert result.decode("utf-16").splitlines()[1].startswith('"Zoë"\t"zoe@acme.com"\t')


def test_a_file_without_a_byte_order_mark_gets_none(ada: Uploader) -> None:
    result, _ = read(ada, OWN.encode())

    assert not result.startswith(b"\xef\xbb\xbf")


def test_a_line_that_names_the_separator_comes_back_where_excel_reads_it(ada: Uploader) -> None:
    in_cp1252, _ = read(ada, f"sep=;\n{OWN}".encode("cp1252"))
    in_utf_8, _ = read(ada, f"sep=;\n{OWN}".encode())

    assert in_cp1252.startswith(b"sep=;\r\n")
    assert not in_utf_8.startswith(b"sep=")


def test_what_an_encoding_cannot_write_is_written_plainly(ada: Uploader) -> None:
    upload_id = ada.upload("Jméno;E-mail\nJiří Dvořák;jiri@acme.com\n".encode("cp1250"))
    ada.turn(upload_id)
    upload = ada.get(upload_id)
    upload.table_format = {**(upload.table_format or {}), "encoding": "cp1252"}
    result = b"".join(result_files.parts(upload, "csv", results.batches(ada.harness.database, upload)))

    assert b'"Jir\xed Dvor\xe1k"' in result


def a_workbook(*rows: list[Any]) -> bytes:
    book, out = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)  # type: ignore[union-attr]
    book.create_sheet("Second").append(["Name", "E-mail"])
    book["Second"].append(["x", "x@acme.com"])
    book.create_sheet("Secret").sheet_state = "hidden"
    book["Secret"].append(["Name", "E-mail", "Mobile", "Company", "Website"])
    book.save(out)
    return out.getvalue()


ROWS = (
    ["Name", "E-mail", "Mobile", "Score", "Met on", "Seen", "Mixed"],
    ["Zoë", "zoe@acme.com", "+49301", 7, datetime(2024, 1, 5), datetime(2024, 1, 5, 9, 30), 1],  # noqa: DTZ001 -- sheets have no zones
    ["=1+1", "ada@acme.com", "007", 0.5, None, None, "one"],
)


def test_a_workbook_comes_back_as_one_with_numbers_and_dates(ada: Uploader) -> None:
    rows = [list(row) for row in ROWS]
    rows[2][0] = "Ada"
    result, file_format = read(ada, a_workbook(*rows), "people.xlsx")
    cells = [[cell.value for cell in row] for row in load_workbook(io.BytesIO(result)).active.rows]  # type: ignore[union-attr]

    assert file_format == "xlsx"
    assert cells[0][:8] == [*ROWS[0], "Found email"]
    assert cells[1][:7] == ["Zoë", "zoe@acme.com", "+49301", 7, rows[1][4], rows[1][5], "1"]
    assert cells[2][:7] == ["Ada", "ada@acme.com", "007", 0.5, None, None, "one"]
    assert cells[1][11] == 0  # the credits are a number


def test_the_sheet_that_was_read_and_the_others_are_said(ada: Uploader) -> None:
    upload_id = ada.upload(a_workbook(*(list(row) for row in ROWS)), file_name="people.xlsx")
    ada.turn(upload_id)
    upload = ada.get(upload_id)

    assert " ".join(formats.notes(upload.table_format)[:2]) == (
        "The sheet “Sheet” was read. These look like lists, too, and were not read: “Second”. "
        "Upload each as a file of its own."
    )


def test_formulas_without_results_are_said(ada: Uploader) -> None:
    """As libraries write them that do not calculate, such as openpyxl and SheetJS."""
    content = a_workbook(ROWS[0], ["Ada", '=LOWER("ada@acme.com")'])
    upload_id = ada.upload(content, file_name="people.xlsx")
    ada.turn(upload_id)

    notes = " ".join(formats.notes(ada.get(upload_id).table_format))
    assert "The results of some formulas are not stored in the workbook" in notes


def test_a_list_can_be_had_in_the_other_format(ada: Uploader) -> None:
    upload_id = ada.upload(OWN.encode())
    ada.turn(upload_id)
    upload = ada.get(upload_id)
    result = b"".join(result_files.parts(upload, "xlsx", results.batches(ada.harness.database, upload)))
    sheet = load_workbook(io.BytesIO(result)).active

    assert [cell.value for cell in sheet[2]][:4] == ["Zoë, Ödön", "zoe@acme.com", "+49 30 1", "007"]  # type: ignore[index]
    assert sheet["A3"].data_type == "s"  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "file_format", "expected"),
    [
        ("people.csv", "csv", "people - result.csv"),
        ("people.TXT", "csv", "people - result.TXT"),
        ("people.xlsx", "csv", "people - result.csv"),
        ("people", "xlsx", "people - result.xlsx"),
    ],
)
def test_the_file_is_named_after_the_list(ada: Uploader, name: str, file_format: str, expected: str) -> None:
    upload = ada.get(ada.upload(OWN.encode(), file_name=name))

    assert result_files.name_of(upload, file_format) == expected


def test_the_content_type_names_unicode_only(ada: Uploader) -> None:
    upload_id = ada.upload(OWN.encode("cp1252"))
    ada.turn(upload_id)
    upload = ada.get(upload_id)

    assert result_files.content_type(upload, "csv") == "text/csv"
    assert result_files.content_type(upload, "xlsx") == xlsx_parts.MIMETYPE


@pytest.mark.parametrize(
    ("text", "kind", "cell"),
    [
        ("1e400", "number", "1e400"),
        ("x", "number", "x"),
        ("2024-01-05", "date", date(2024, 1, 5)),
        ("someday", "date", "someday"),
        ("2024-01-05", "text", "2024-01-05"),
    ],
)
def test_a_cell_that_is_not_of_its_kind_stays_a_text(text: str, kind: str, cell: object) -> None:
    assert result_files._cell(text, kind) == cell  # noqa: SLF001 -- what no workbook has


def test_the_samples_of_a_column_are_filled_cells(ada: Uploader) -> None:
    content = (
        b"E-mail,Phone\n" + b"".join(b"a%d@acme.com,\n" % index for index in range(9)) + b"z@acme.com,+4930\n"
    )
    upload_id = ada.upload(content)
    ada.turn(upload_id)
    with ada.harness.database.reading() as session:
        columns = representations.describe(session, ada.get(upload_id))["columns"]

    assert columns[0]["samples"] == ["a0@acme.com", "a1@acme.com", "a2@acme.com"]
    assert columns[1]["samples"] == ["+4930"]


def test_each_row_without_a_result_says_why_and_unreadable_ones_are_listed_first(ada: Uploader) -> None:
    rows = b"".join(b"a%d@acme.com,\n" % index for index in range(12))
    upload_id = ada.ready(b"E-mail,Website\n" + rows + b"nobody,\n")
    ada.start(upload_id)
    upload = ada.run(upload_id)
    with ada.harness.database.reading() as session:
        problems = results.problem_rows(session, upload, limit=50)

    notes = {row[-1] for row in ada.csv(upload_id)[1:-1]}
    assert notes == {f"{results._NOT_FOUND} A row with a LinkedIn profile is found more often."}  # noqa: SLF001 -- the sentence
    assert ada.csv(upload_id)[-1][-1].startswith("The row does not identify a person.")
    assert [row.number for row in problems] == [12, *range(10)]
