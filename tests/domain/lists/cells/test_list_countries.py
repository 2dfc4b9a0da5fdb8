from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.lists.cells.cell_warnings import CellWarnings, WarningKey
from app.domain.lists.cells.list_countries import UNKNOWN, fitting_country, list_countries
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.people_rows import person_of
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.normal.places.subdivisions import country_of_subdivisions

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def phones(
    header: str, *rows: str, region: str | None = None, warnings: CellWarnings | None = None
) -> list[str]:
    """Return the numbers of the first row of a list."""
    layout = map_columns(header.split(","), Entity.CONTACTS)
    cells = [row.split(",") for row in rows]
    defaults = ImportDefaults("list.csv", NOW, NOW, region, list_countries(layout, cells))
    values = RowValues(layout, cells[0], defaults, CellWarnings() if warnings is None else warnings)
    return [phone.e164 for phone in person_of(values, layout).found.phones]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("email,phone,country", ["a@acme.example,(617) 555-0101,USA"]),
        ("email,phone,company,company country", ["a@acme.example,(617) 555-0101,Acme,US"]),
        ("email,phone,state", ["a@acme.example,(617) 555-0101,MA", "b@acme.example,,Texas"]),
        ("email,phone,company,company state", ["a@acme.example,(617) 555-0101,Acme,TX"]),
        ("email,phone,mailing state/province", ["a@acme.example,(617) 555-0101,California"]),
        ("email,phone", ["a@mass.gov,(617) 555-0101"]),
        ("email,phone,website", ["a@acme.example,(617) 555-0101,https://acme.us/about"]),
        ("email,phone", ["a@acme.example,(617) 555-0101", "b@acme.example,+1 617 555 0102"]),
        ("email,phone,country", ["a@acme.example,(617) 555-0101,", "b@acme.example,,US"]),
    ],
)
def test_a_phone_without_a_country_code_takes_it_from_the_row_or_the_list(
    header: str, rows: list[str]
) -> None:
    assert phones(header, *rows) == ["+16175550101"]


@pytest.mark.parametrize(
    ("header", "rows", "region", "e164"),
    [
        ("email,phone,country", ["a@acme.us,030 23125001,DE"], "US", "+493023125001"),
        ("email,phone", ["a@acme.us,030 23125001"], "DE", "+493023125001"),
        ("email,phone", ["a@acme.de,030 23125001", "b@acme.example,+1 617 555 0102"], None, "+493023125001"),
        ("email,phone", ["a@acme.us,+49 30 23125001"], "US", "+493023125001"),
        ("email,phone", ["a@acme.us,49 30 23125001"], None, "+493023125001"),
        ("email,phone", ["a@acme.us,0049 30 23125001"], None, "+493023125001"),
    ],
)
def test_what_the_row_says_goes_before_the_option_and_the_option_before_a_guess(
    header: str, rows: list[str], region: str | None, e164: str
) -> None:
    assert phones(header, *rows, region=region) == [e164]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("email,phone", ["a@acme.example,(617) 555-0101"]),
        ("email,phone", ["a@acme.de,(117) 555-0101"]),
        ("email,phone,state", ["a@acme.example,(617) 555-0101,PA"]),
        ("email,phone,state", ["a@acme.example,(617) 555-0101,PA", "b@acme.example,,KA"]),
        (
            "email,phone,country",
            ["a@acme.example,555-0101,", *["b@acme.example,,"] * 30, "c@x.example,,US"],
        ),
        ("email,phone,country", ["a@acme.example,5550101,", "b@x.example,,US", "c@x.example,,DE"]),
        ("email,phone", ["a@acme.example,11 98765-4321"]),
    ],
)
def test_a_phone_is_left_out_and_counted_where_nothing_shows_its_country(
    header: str, rows: list[str]
) -> None:
    warnings: CellWarnings = CellWarnings()

    assert phones(header, *rows, warnings=warnings) == []
    assert warnings.counts[WarningKey("phone", 1, "no_country")] == 1


@pytest.mark.parametrize("cell", ["1234", "none yet", "+1 23", "00 12"])
def test_what_is_not_a_number_is_counted_as_invalid(cell: str) -> None:
    warnings: CellWarnings = CellWarnings()

    assert phones("email,phone", f"a@acme.example,{cell}", warnings=warnings) == []
    assert warnings.counts == {WarningKey("phone", 1, "invalid"): 1}


def test_a_state_names_the_country_of_the_person_and_of_the_company() -> None:
    layout = map_columns(["Name", "State", "Company", "Company State"], Entity.CONTACTS)
    cells = ["Ada Lovelace", "TX", "Acme", "Oregon"]
    defaults = ImportDefaults("list.csv", NOW, NOW, countries=list_countries(layout, [cells]))

    found = person_of(RowValues(layout, cells, defaults, CellWarnings()), layout).found

    assert found.company is not None
    assert (found.country, found.company.country) == ("US", "US")


def test_a_list_without_phones_or_states_shows_no_country() -> None:
    layout = map_columns(["email", "country"], Entity.CONTACTS)

    assert list_countries(layout, [["a@acme.example", "US"]]) == UNKNOWN


@pytest.mark.parametrize("cells", [[], ["a@acme.example"], ["", "030 1234567"]])
def test_a_row_with_too_few_cells_shows_no_country(cells: list[str]) -> None:
    layout = map_columns(["email", "phone", "country"], Entity.CONTACTS)

    assert list_countries(layout, [cells]) == UNKNOWN


def test_invalid_values_show_no_country() -> None:
    layout = map_columns(["email", "phone", "country"], Entity.CONTACTS)

    found = list_countries(layout, [["a@acme.example", "+1 2 | 555 0101", "Atlantis"]])

    assert (found.majority, found.national) == (None, ("555 0101",))


@pytest.mark.parametrize(
    ("texts", "country"),
    [
        (["CA", "tx", "New York"], "US"),
        (["ON", "Québec"], "CA"),
        (["NSW"], "AU"),
        (["SP", "PA", "Rio de Janeiro"], "BR"),
        (["Nordrhein-Westfalen", "Bayern"], "DE"),
        (["Kärnten"], "AT"),
        (["PA"], None),
        (["EMEA", "APAC"], None),
        (["CA", "EMEA"], None),
        (["Île-de-France", "Bretagne"], "FR"),
        (["N.S.W.", "Vic."], "AU"),
        (["Catalonia", "Lérida", "Principado de Asturias"], "ES"),
        (["Osaka", "Kyoto"], "JP"),
        ([], None),
    ],
)
def test_states_name_a_country_if_nearly_all_are_of_one(texts: list[str], country: str | None) -> None:
    assert country_of_subdivisions(texts) == country


@pytest.mark.parametrize(
    ("numbers", "country"),
    [
        (["(202) 224-3121", "617-555-0101"], "US"),
        (["020 7946 0018", "0161 496 0000"], "GB"),
        (["030 23125001", "0171 3920001"], "DE"),
        (["01 99 00 00 04", "06 39 98 00 01"], "FR"),
        (["(11) 98765-4321"], "BR"),
        (["0000000"], None),
        ([], None),
    ],
)
def test_the_country_is_suggested_that_writes_its_numbers_like_this(
    numbers: list[str], country: str | None
) -> None:
    assert fitting_country(numbers) == country
