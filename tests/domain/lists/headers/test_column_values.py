"""Columns are believed by their values, and guessed from them without a header."""

from __future__ import annotations

import pytest

from app.domain.lists.cells.cell_warnings import CellWarnings, WarningKey
from app.domain.lists.files.csv_records import TRUNCATED_ROW, Row
from app.domain.lists.headers.column_mapping import Entity
from app.domain.lists.headers.column_values import FittedColumns, fit_columns
from app.domain.lists.headers.upload_columns import propose


def fitted(header: list[str], *rows: list[str], **options: bool) -> FittedColumns:
    return fit_columns(header, Entity.CONTACTS, rows, **options)


@pytest.mark.parametrize(
    ("header", "values", "field"),
    [
        ("Attendee", ["1490213377"], "full_name"),
        ("Contact", ["1001", "1002", ""], "full_name"),
        ("Contact", ["Yes", "No", "yes"], "full_name"),
        ("Name", ["ada@acme.example", "bob@acme.example"], "full_name"),
        ("Lead name", ["https://crm.example/1", "www.crm.example/2"], "full_name"),
        ("First name", ["2026-04-01", "01/04/2026"], "first_name"),
        ("Last name", ["+1 617 555 0101"], "last_name"),
        ("Position", ["1", "2", "3"], "title"),
        ("Company", ["4711", "#4712", "12,5"], "company_name"),
        ("Email", ["TRUE", "FALSE", "TRUE"], "email"),
        ("Work email", ["1", "0"], "email"),
        ("Phone", ["ada@acme.example"], "phone"),
        ("Mobile", ["https://wa.example/1"], "phone"),
        ("LinkedIn", ["500", "1200"], "linkedin_url"),
        ("Website", ["12", "13"], "company_domain"),
    ],
)
def test_a_column_whose_values_do_not_fit_its_header_is_left_out(
    header: str, values: list[str], field: str
) -> None:
    found = fitted([header, "x"], *([value, "x"] for value in values))

    assert found.unfit == {0: field}
    assert found.layout.meanings == {header: None, "x": None}


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("Name", ["Ada Lovelace", "42"]),
        ("Name", ["", "N/A"]),
        ("Last name", ["No"]),
        ("Last name", ["No", "Ja"]),
        ("Company", ["3M", "1&1", "https://acme.example"]),
        ("Company", ["7-11", "1984"]),
        ("Email", ["ada(at)acme.example", "none"]),
        ("Phone", ["16175550101", "030/123 45 67"]),
        ("LinkedIn", ["ada-demo", "Yes"]),
        ("Website", ["info@acme.example"]),
        ("City", ["12"]),
        ("First Name", ["J.", "N.", "J.", "Y."]),
    ],
)
def test_a_column_keeps_its_field_if_half_of_its_values_may_be_right(header: str, values: list[str]) -> None:
    assert not fitted([header, "x"], *([value, "x"] for value in values)).unfit


def test_another_column_takes_the_place_of_one_that_is_left_out() -> None:
    found = fitted(
        ["Email", "E-mail address"], ["yes", "a@a.example"], ["yes", "b@a.example"], ["no", "c@b.example"]
    )

    assert [column.index for column in found.layout.emails] == [1]


@pytest.mark.parametrize(
    ("header", "names", "field"),
    [
        (["Nombre", "Correo"], ["Ada Low", "Bob Ray", "Cy"], "full_name"),
        (["Ad", "E-posta"], ["Ada Low"], "full_name"),
        (["Nom", "E-mail"], ["Ada Low", "Bob Ray"], "full_name"),
        (["Nombre", "Correo"], ["Ada", "Bob", "Cy Dee"], "first_name"),
        (["Nombre", "Apellidos"], ["Ada Maria", "Bob Luis"], "first_name"),
        (["Nombre", "Nombre completo"], ["Ada Maria", "Bob Luis"], "first_name"),
        (["Nombre", "Correo"], ["", ""], "first_name"),
    ],
)
def test_one_column_of_names_is_the_full_name_if_its_values_are(
    header: list[str], names: list[str], field: str
) -> None:
    rows = [[name, "x"] for name in names]

    assert fitted(header, *rows).layout.meanings[header[0]] == field
    assert propose(header, rows)[0] == field


def test_a_column_that_was_mapped_is_not_checked() -> None:
    found = fit_columns(["Attendee"], Entity.CONTACTS, [["1490213377"]], {"attendee": "full_name"})

    assert not found.unfit
    assert found.layout.meanings == {"Attendee": "full_name"}


def test_only_the_first_rows_are_looked_at() -> None:
    rows = [["Ada Lovelace"]] * 200 + [["1"]] * 1000

    assert not fitted(["Name"], *rows).unfit


@pytest.mark.parametrize(
    ("rows", "fields"),
    [
        ([["ada@a.example"], ["bob@a.example"]], ["email"]),
        ([["Ada Lovelace", "ada.lovelace@a.example"]], ["full_name", "email"]),
        ([["Acme", "Ada King", "ada@a.example", "+44 20 7946 0000"]], [None, "full_name", "email", "phone"]),
        ([["Bob Ray", "https://www.linkedin.com/in/bob-ray-demo"]], ["full_name", "linkedin_url"]),
        ([["Acme Tools", "ada@a.example", "(617) 555-0101"]], [None, "email", "phone"]),
        ([["Al Ng", "al.ng@a.example"]], [None, "email"]),
        ([["Ada Lovelace", "+44 20 7946 0000"]], [None, "phone"]),
        ([["", ""], ["", ""]], [None, None]),
    ],
)
def test_columns_without_a_header_are_guessed(rows: list[list[str]], fields: list[str | None]) -> None:
    header = [f"Column {number}" for number in range(1, len(fields) + 1)]
    found = fitted(header, *rows, has_header=False)

    assert list(found.layout.meanings.values()) == fields
    assert dict(found.guessed) == {index: field for index, field in enumerate(fields) if field}


def test_a_column_without_a_header_may_be_mapped() -> None:
    found = fit_columns(
        ["Column 1"], Entity.CONTACTS, [["a@a.example"]], {"Column 1": "work_email"}, has_header=False
    )

    assert not found.guessed
    assert found.layout.emails[0].kind == "work"


def test_a_list_without_readable_rows_has_the_columns_of_its_header() -> None:
    assert fitted(["Name"]).layout.meanings == {"Name": "full_name"}


def test_the_cells_of_left_out_and_guessed_columns_are_counted() -> None:
    warnings = CellWarnings()
    rows = [Row(2, ["1"]), Row(3, [""]), Row(4, [], TRUNCATED_ROW), Row(5, ["2"])]

    fitted(["Attendee"], ["1"]).warn(warnings, rows)
    fitted(["Column 1"], ["a@a.example"], has_header=False).warn(warnings, rows)

    assert warnings.counts == {
        WarningKey("full_name", 0, "unfit_column"): 2,
        WarningKey("email", 0, "guessed_column"): 2,
    }
    assert set(map(tuple, warnings.lines.values())) == {(2, 5)}
