"""The shape of tables: the delimiter, the header or that there is none, and groups of columns."""

from __future__ import annotations

import io
from typing import Any

import pytest

from app.domain.errors import InvalidValue
from app.domain.lists.files.tables import Table, TableOptions, read_table
from app.domain.lists.headers.upload_columns import count_known


def table(content: str, **options: Any) -> Table:
    return read_table(io.BytesIO(content.encode()), count_known, TableOptions(**options))


def cells(content: str, **options: Any) -> list[list[str]]:
    return [row.cells for row in table(content, **options).rows]


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("Name;Firma;Ort\nMustermann, Max;Acme, Inc.;Berlin, DE\n", ["Name", "Firma", "Ort"]),
        ("Name|Email|Notes\nLow, Ada|a@a.example|a, b, c; d\n", ["Name", "Email", "Notes"]),
        ("Name\tEmail\nLow, A, B, C\ta@a.example\n", ["Name", "Email"]),
        ('"Name";"Email"\n"Low, A, B, C";a@a.example\n', ["Name", "Email"]),
        ("Name,Email\nLow; A; B; C,a@a.example\n", ["Name", "Email"]),
        ("sep=;\nName;Email,Phone,City\nAda Low;a@a.example\n", ["Name", "Email,Phone,City"]),
        ('"sep=;"\nName;Email\nAda Low;a@a.example\n', ["Name", "Email"]),
    ],
)
def test_the_delimiter_is_the_one_whose_header_is_understood(content: str, header: list[str]) -> None:
    assert table(content).header == header


@pytest.mark.parametrize(
    "content",
    [
        "ada@a.example\nbob@a.example\n",
        "Ada Lovelace;ada@a.example\nBob Ray;bob@a.example\n",
        "Ada Lovelace,https://www.linkedin.com/in/ada-demo\nBob Ray,https://www.linkedin.com/in/bob-demo\n",
        "Ada Lovelace,+1 617 555 0101\nBob Ray,+1 617 555 0102\n",
        "Ada,Sales,ada@a.example\nBob,Position,bob@a.example\n",
        "Business,ada@a.example\nBeta,bob@a.example\n",
        "Ada,Sales,ada@a.example\nName,Position,Ray\n",
        "sep=,\nAda,ada@a.example\nBob,bob@a.example\n",
    ],
)
def test_the_first_person_of_a_list_without_a_header_is_a_row(content: str) -> None:
    found = table(content)

    assert not found.has_header
    assert found.header == [f"Column {number + 1}" for number in range(len(found.header))]
    assert len(list(found.rows)) == 2


@pytest.mark.parametrize(
    "content",
    [
        "Email\nada@a.example\n",
        "# list of opt-outs\nemail\nada@a.example\n",
        "Exported by,ada@a.example\n\nName,Email,Phone\nAda,ada@a.example,1\n",
        "https://crm.example/export\nName,Email\nAda,ada@a.example\n",
        "Ansprechpartner X,Kanal\nAda,ada@a.example\n",
        "Name,Email,https://crm.example/field\nAda,ada@a.example,1\n",
    ],
)
def test_a_header_is_found_below_notes_and_with_unknown_names(content: str) -> None:
    found = table(content)

    assert found.has_header
    assert list(found.rows)[-1].cells[0].lower().startswith("ada")


def test_whether_there_is_a_header_can_be_said() -> None:
    content = "Ada Lovelace,Acme\nBob Ray,Beta\n"

    assert cells(content, has_header=False) == [["Ada Lovelace", "Acme"], ["Bob Ray", "Beta"]]
    assert cells("name,email\nAda,a@a.example\n", has_header=False)[0] == ["name", "email"]
    assert table("Ada,a@a.example\nBob,b@a.example\n", has_header=True).header == ["Ada", "a@a.example"]
    assert table("name,email\na@a.example,b@a.example\n", has_header=True).header == ["name", "email"]


def test_a_file_that_only_names_its_delimiter_has_no_rows() -> None:
    with pytest.raises(InvalidValue, match="no rows"):
        table("sep=;\n")


@pytest.mark.parametrize(
    ("content", "header"),
    [
        (
            "Contact,,Company,\nName,Email,Name,City\nA,b,c,d\n",
            ["Contact Name", "Contact Email", "Company Name", "Company City"],
        ),
        (
            "Person,,Manager,\nName,Email,Name,Email\nA,b,c,d\n",
            ["Person Name", "Person Email", "Manager Name", "Manager Email"],
        ),
        ("Details,,More\nName,Email,Phone\nA,b,c\n", ["Name", "Email", "Phone"]),
        ("My list\nName,Email,Phone\nA,b,c\n", ["Name", "Email", "Phone"]),
        ("1 617 555 0101,b\nName,Email,Phone\nA,b,c\n", ["Name", "Email", "Phone"]),
        (",Company,Details\nEmail,Name,City\na,b,c\n", ["Email", "Company Name", "City"]),
    ],
)
def test_merged_cells_above_the_header_belong_to_the_columns_below(content: str, header: list[str]) -> None:
    assert table(content).header == header


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("BEGIN:VCARD\nVERSION:3.0\nFN:Ada\n", "contact cards"),
        ("\ufeffbegin:vcard\n", "contact cards"),
        ("BEGIN:VCALENDAR\n", "calendar"),
        ("dn: cn=Ada,dc=acme\nmail: a@a.example\n", "directory"),
        ("version: 1\n\ndn:: Y249QWRh\n", "directory"),
        ('{"name": "Ada"}\n{"name": "Bob"}\n', "JSON"),
        ('[\n  {\n"name": "Ada"}]', "JSON"),
        ('{\n  "people": []}', "JSON"),
        ('<?xml version="1.0"?><Workbook>', "XML"),
    ],
)
def test_files_in_other_formats_are_refused_with_what_to_do(content: str, sentence: str) -> None:
    with pytest.raises(InvalidValue, match=sentence):
        read_table(io.BytesIO(content.encode()), count_known)


@pytest.mark.parametrize(
    "magic", [b"7z\xbc\xaf'\x1c", b"Rar!\x1a\x07", b"BZh91AY", b"\xfd7zXZ\0", b"!BDN", b"PAR1"]
)
def test_binary_files_are_refused_by_how_they_begin(magic: bytes) -> None:
    with pytest.raises(InvalidValue, match=r"Unpack it|as CSV"):
        read_table(io.BytesIO(magic + b"rest"), count_known)


def test_whole_lines_may_be_quoted() -> None:
    content = '"Name,Email"\n""\n"Ada,ada@a.example"\n"Bob ""B"", x"\n'

    assert table(content).header == ["Name", "Email"]
    assert cells(content) == [["Ada", "ada@a.example"], ['Bob "B"', " x"]]


def test_one_column_of_quoted_texts_stays_one() -> None:
    assert cells('"Email"\n"ada@a.example, bob@a.example"\n') == [["ada@a.example, bob@a.example"]]


def test_spaces_before_quotes_are_left_out_only_if_all_quotes_have_them() -> None:
    assert cells('Name, Email\n"Low, Ada", "a@a.example"\n') == [["Low, Ada", "a@a.example"]]
    assert cells('Name,Note\n"Ada","x"\nBob, "y"\n') == [["Ada", "x"], ["Bob", ' "y"']]
    assert cells("Name,Note\nAda, x\n") == [["Ada", " x"]]


def test_a_row_of_known_headers_below_data_is_the_header() -> None:
    content = "Export,2026-05-01,admin@crm.example\nName,Email,Phone\nAda,a@a.example,1\n"

    assert table(content).header == ["Name", "Email", "Phone"]
    assert not table("Ada,Sales,ada@a.example\nName,Position,Ray\n").has_header


def test_cells_may_be_between_apostrophes() -> None:
    content = "'Name';'Email'\n'Low; Ada';'a@a.example'\n'O''Neil';\"\"\n"

    assert table(content).header == ["Name", "Email"]
    assert cells(content) == [["Low; Ada", "a@a.example"], ["O'Neil", '""']]


def test_an_apostrophe_in_a_cell_is_part_of_it() -> None:
    assert cells("Name,'Email'\n'Ada',a@a.example\n") == [["'Ada'", "a@a.example"]]
