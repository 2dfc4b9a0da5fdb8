from collections.abc import Sequence
from datetime import UTC, datetime

import pycountry
import pytest

from app.domain.findings import FoundContact
from app.domain.lists.cells.cell_warnings import CellWarnings, WarningKey
from app.domain.lists.cells.list_countries import list_countries
from app.domain.lists.company_rows import company_of
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.people_rows import person_of
from app.domain.lists.row_values import ImportDefaults, RowValues

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def people(
    header: str, *rows: str, region: str | None = None, warnings: CellWarnings | None = None
) -> list[FoundContact]:
    """Return the people of a list whose cells are separated by bars."""
    layout = map_columns(header.split("|"), Entity.CONTACTS)
    cells = [row.split("|") for row in rows]
    defaults = ImportDefaults("list.csv", NOW, NOW, region, list_countries(layout, cells))
    found = CellWarnings() if warnings is None else warnings
    return [person_of(RowValues(layout, row, defaults, found), layout).found for row in cells]


@pytest.mark.parametrize(
    ("place", "phone", "country", "e164"),
    [
        ("Saskatoon, SK", "306-555-0100", "CA", "+13065550100"),
        ("Foam Lake, SK", "306-555-0100", "CA", "+13065550100"),
        ("Atlanta, Georgia", "404-555-0100", "US", "+14045550100"),
        ("Valdosta, Georgia", "229-555-0100", "US", "+12295550100"),
        ("Gori, Georgia", "+995 32 212 3456", "GE", "+995322123456"),
        ("Lincoln, IL", "217-555-0100", "US", "+12175550100"),
        ("Albany, WA", "(08) 9374 4000", "AU", "+61893744000"),
    ],
)
def test_the_number_of_a_row_decides_between_the_countries_of_its_place(
    place: str, phone: str, country: str, e164: str
) -> None:
    (found,) = people("Full name|Company|Location|Phone", f"Ada Lovelace|Acme|{place}|{phone}")

    assert (found.country, [number.e164 for number in found.phones]) == (country, [e164])


@pytest.mark.parametrize(
    ("header", "rows", "region"),
    [
        ("email|location", ["a@acme.de|Pforzheim, DE"], None),
        ("email|location", ["a@acme.example|Pforzheim, DE"], "DE"),
        ("email|location", ["a@acme.example|Pforzheim, DE", *["b@acme.example|Berlin, DE"] * 9], None),
        ("email|city|state", ["a@acme.example|Pforzheim|BW"], None),
        ("email|city|state", ["a@acme.example|Bad Tölz|BY", "b@acme.example|Kassel|HE"], None),
        ("email|city|country", ["a@acme.example|Pforzheim|DE"], None),
    ],
)
def test_the_country_of_a_place_comes_from_the_row_or_the_list(
    header: str, rows: list[str], region: str | None
) -> None:
    found = people(header, *rows, region=region)[0]

    assert (found.city or "", found.country) == (rows[0].split("|")[1].partition(",")[0], "DE")


@pytest.mark.parametrize(
    ("header", "row", "field"),
    [
        ("email|location", "a@acme.example|Pforzheim, DE", "location"),
        ("email|location|phone", "a@acme.example|Dublin, CA|+353 1 234 5678", "location"),
        ("email|city|state", "a@acme.example|Bristol|PA", "state"),
    ],
)
def test_a_place_that_may_be_in_several_countries_is_reported(header: str, row: str, field: str) -> None:
    warnings = CellWarnings()

    (found,) = people(header, row, warnings=warnings)

    assert found.country is None
    assert warnings.counts == {WarningKey(field, None, "ambiguous_place"): 1}


@pytest.mark.parametrize(
    ("cells", "place"),
    [
        (["Acme", "acme.de", "Pforzheim, DE"], ("Pforzheim", "DE")),
        (["Acme", "acme.com", "Pforzheim, DE"], ("Pforzheim", None)),
        (["Acme", "", "Saskatoon, SK"], ("Saskatoon", "CA")),
    ],
)
def test_the_website_decides_between_the_countries_of_a_company(
    cells: Sequence[str], place: tuple[str, str | None]
) -> None:
    layout = map_columns(["name", "website", "headquarters"], Entity.COMPANIES)
    row = RowValues(layout, cells, ImportDefaults("list.csv", NOW, NOW), CellWarnings())

    company = company_of(row)

    assert (company.city, company.country) == place


def test_each_code_of_a_country_is_read_as_it_is_exported() -> None:
    codes = [country.alpha_2 for country in pycountry.countries]

    found = people("email|country", *(f"a@acme.example|{code}" for code in codes))

    assert [person.country for person in found] == codes


@pytest.mark.parametrize(
    ("header", "rows", "country"),
    [
        ("email|country", ["a@acme.example|NA", "b@acme.example|DE", "c@acme.example|"], "NA"),
        ("email|country", ["a@acme.example|NA", "b@acme.example|DE", "c@acme.example|N/A"], "NA"),
        ("email|country", ["a@acme.example|na", "b@acme.example|DE"], None),
        ("email|country", ["a@acme.example|N/A", "b@acme.example|NA", "c@acme.example|DE"], None),
        ("email|country", ["a@acme.example||", "b@acme.example|NA", "c@acme.example|DE"], None),
        ("email|country", ["a@acme.example|N/A", "b@acme.example|Namibia"], None),
    ],
)
def test_na_is_namibia_among_codes_of_countries(header: str, rows: list[str], country: str | None) -> None:
    warnings = CellWarnings()

    assert people(header, *rows, warnings=warnings)[0].country == country
    assert not warnings.total


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("email|country", ["a@acme.example|NA", "b@acme.example|Germany"]),
        ("email|country name", ["a@acme.example|NA", "b@acme.example|Namibia"]),
        ("email|country", ["a@acme.example|NA", "b@acme.example|DEU"]),
        ("email|country", ["a@acme.example|NA", "b@acme.example|"]),
        ("email|country|title", ["a@acme.example|NA|CEO", "b@acme.example|DE|NA"]),
    ],
)
def test_na_that_may_be_namibia_or_an_empty_cell_is_left_out_and_told(header: str, rows: list[str]) -> None:
    warnings = CellWarnings()

    assert people(header, *rows, warnings=warnings)[0].country is None
    assert warnings.counts == {WarningKey("country", None, "maybe_namibia"): 1}


@pytest.mark.parametrize(
    ("text", "city", "country"),
    [
        ("10115 Berlin", "Berlin", None),
        ("D-10115 Berlin", "Berlin", None),
        ("1012 AB Amsterdam", "Amsterdam", None),
        ("9000 St. Gallen", "St. Gallen", None),
        ("Musterstr. 1, 10115 Berlin", "Berlin", None),
        ("12 High Street, London", "London", None),
        ("Rue de la Paix 3, Paris, France", "Paris", "FR"),
        ("PO Box 5, Nairobi", "Nairobi", None),
        ("Milan (Italy)", "Milan", "IT"),
        ("Torino (TO)", "Torino", "IT"),
        ("Frankfurt (Oder)", "Frankfurt (Oder)", None),
        ("Remote, USA", None, "US"),
        ("Greater Munich Metropolitan Area", "Munich", None),
    ],
)
def test_a_city_is_read_without_its_street_postcode_and_surroundings(
    text: str, city: str | None, country: str | None
) -> None:
    (found,) = people("email|city", f"ada@acme.example|{text}")

    assert (found.city, found.country) == (city, country)


@pytest.mark.parametrize("field", ["city", "location"])
@pytest.mark.parametrize(
    "text",
    [
        "Main Street 5", "123 Main St", "Hauptstraße 12", "Via Roma 3", "Calle Mayor 5", "Ulica Prosta 7",
        "P.O. Box 123", "Postfach 12", "Remote", "Home Office", "weltweit",
    ],
)  # fmt: skip
def test_a_street_or_a_word_for_no_place_is_no_city_and_told(field: str, text: str) -> None:
    warnings = CellWarnings()
    (found,) = people(f"email|{field}", f"ada@acme.example|{text}", warnings=warnings)

    assert (found.city, found.country) == (None, None)
    assert warnings.counts == {WarningKey(field, None, "invalid"): 1}


@pytest.mark.parametrize(
    ("city", "country", "read_as"),
    [
        ("Berlin, DE", "", ("Berlin", "DE")),
        ("Atlanta, Georgia", "", ("Atlanta", "US")),
        ("Paris, France", "", ("Paris", "FR")),
        ("Lima, Peru", "", ("Lima", "PE")),
        ("Berlin, DE", "Germany", ("Berlin", "DE")),
        ("Valdosta, Georgia", "", ("Valdosta", None)),
        ("Halle, Saale", "", ("Halle, Saale", None)),
        ("Kleinstadt, Nippes", "", ("Kleinstadt, Nippes", None)),
        ("Bogotá, D.C.", "CO", ("Bogotá, D.C.", "CO")),
        ("Berlin", "", ("Berlin", None)),
    ],
)
def test_the_column_of_a_city_may_have_its_state_and_country(
    city: str, country: str, read_as: tuple[str, str | None]
) -> None:
    (found,) = people("email|city|country", f"ada@acme.example|{city}|{country}")

    assert (found.city, found.country) == read_as
