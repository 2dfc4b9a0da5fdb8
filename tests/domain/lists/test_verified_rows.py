"""What the rows of a list have to verify, by the columns that its owner chose."""

from __future__ import annotations

import pytest

from app.domain.lists import verified_rows
from app.domain.lists.cells.verifiable_cells import Value
from app.domain.lists.verified_rows import read_row

COLUMNS = [None, "email", "phone", "country"]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["full_name", "work_email", "mobile_phone", "personal_email"], [None, "email", "phone", None]),
        (["phone", "work_phone", "country", "company_country"], ["phone", None, "country", None]),
        ([None, "company_domain"], [None, None]),
    ],
)
def test_the_first_column_of_each_field_is_proposed(
    columns: list[str | None], expected: list[str | None]
) -> None:
    assert verified_rows.proposed(columns) == expected


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (["email", None], None),
        (["phone", "country"], None),
        (["email", "email"], verified_rows.CHOSEN_TWICE),
        (["country"], verified_rows.NOTHING_CHOSEN),
        ([None], verified_rows.NOTHING_CHOSEN),
        (["email", "full_name"], verified_rows.OTHER_FIELD),
    ],
)
def test_a_list_is_verified_by_one_column_of_addresses_and_one_of_numbers(
    columns: list[str | None], problem: str | None
) -> None:
    assert verified_rows.problem_of(columns) == problem


@pytest.mark.parametrize(
    ("cells", "country", "email", "phone"),
    [
        (["Ada", "Ada <ADA@acme.com>", "+49 30 901820", ""], None, "ada@acme.com", "+4930901820"),
        (["", "", "030 901820", "Germany"], "AT", None, "+4930901820"),
        (["", "", "030 901820", "Atlantis"], "DE", None, "+4930901820"),
        (["", "", "030 901820", "n/a"], "DE", None, "+4930901820"),
        (["", "ada@acme.com", ""], None, "ada@acme.com", None),
    ],
)
def test_a_row_is_read_as_people_write_it(
    cells: list[str], country: str | None, email: str | None, phone: str | None
) -> None:
    row = read_row(cells, COLUMNS, country)

    assert (row.email, row.phone, row.note) == (email, phone, None)


@pytest.mark.parametrize(
    ("cells", "value", "note"),
    [
        (["Eve", "", "", ""], None, "its cells are empty"),
        (["", "n/a", "-", "DE"], None, "its cells are empty"),
        (["", "nobody", "", ""], None, "not an e-mail address"),
        (["", "", "030 901820", ""], None, "lacks the country code"),
        (["", "nobody", "+4930901820", ""], Value("phone", "+4930901820"), "not an e-mail address"),
        (["", "a@acme.com, b@acme.com", "", ""], Value("email", "a@acme.com"), "several addresses"),
        (["", "", "+4930901820; +4930901821", ""], Value("phone", "+4930901820"), "several numbers"),
    ],
)
def test_what_is_not_verified_is_explained(cells: list[str], value: Value | None, note: str) -> None:
    row = read_row(cells, COLUMNS, None)

    assert row.value == value
    assert row.note is not None
    assert note in row.note


def test_the_same_address_twice_in_a_cell_is_one() -> None:
    assert read_row(["", "a@acme.com A@acme.com", ""], COLUMNS, None).note is None
