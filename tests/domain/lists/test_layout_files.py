from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.findings import EmailStatus, FoundCompany, FoundContact
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.company_rows import company_of
from app.domain.lists.files.tables import read_table
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.people_rows import person_of
from app.domain.lists.row_values import ImportDefaults, RowValues

LAYOUTS = Path(__file__).parents[2] / "data" / "layouts"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
VALID, ACCEPT_ALL, RISKY = EmailStatus.VALID, EmailStatus.ACCEPT_ALL, EmailStatus.RISKY


def person(name: str) -> FoundContact:
    values, layout = row(name, Entity.CONTACTS)
    return person_of(values, layout).found


def company(name: str) -> FoundCompany:
    values, _ = row(name, Entity.COMPANIES)
    return company_of(values)


def row(name: str, entity: Entity) -> tuple[RowValues, object]:
    with (LAYOUTS / f"{name}.csv").open("rb") as file:
        table = read_table(file, lambda cells: map_columns(cells, entity).known_count)
        layout = map_columns(table.header, entity)
        [only] = table.rows
    return RowValues(layout, only.cells, ImportDefaults(name, NOW, NOW), CellWarnings()), layout


def emails(found: FoundContact) -> list[tuple[str, str, EmailStatus]]:
    return [(item.email, item.type, item.status) for item in found.emails]


def phones(found: FoundContact) -> list[tuple[str, str]]:
    return [(item.e164, item.type) for item in found.phones]


def test_apollo_exports_two_addresses_three_numbers_and_the_company() -> None:
    found = person("apollo")

    assert (found.full_name, found.title, found.seniority) == (
        "Ada Lovelace",
        "Chief Technology Officer",
        "c_suite",
    )
    assert (found.department, found.city, found.country) == ("engineering", "Boston", "US")
    assert found.linkedin_url == "https://www.linkedin.com/in/ada-demo001"
    assert emails(found) == [
        ("ada.lovelace@northlight-optics.example", "work", VALID),
        ("a.lovelace@northlight-optics.example", "work", RISKY),
    ]
    assert (found.emails[0].confidence, found.emails[0].verified_at) == (
        0.97,
        datetime(2026, 9, 1, 10, tzinfo=UTC),
    )
    assert (found.emails[1].confidence, found.emails[1].verified_at) == (None, None)
    assert phones(found) == [("+16175550101", "direct"), ("+16175550102", "mobile"), ("+16175550100", "hq")]
    assert {item.do_not_call for item in found.phones} == {False}
    assert found.company is not None
    assert (found.company.name, found.company.domain) == ("Northlight Optics", "northlight-optics.example")
    assert found.company.linkedin_url == "https://www.linkedin.com/company/northlight-optics-demo"
    assert (found.company.industry, found.company.headcount) == ("optics", "51-200")


def test_hubspot_rows_are_dated_and_national_numbers_are_of_the_rows_country() -> None:
    found = person("hubspot")

    assert found.source.at == datetime(2026, 8, 3, 12, tzinfo=UTC)
    assert (found.first_name, found.last_name, found.country) == ("Jürgen", "Müller", "DE")
    assert found.linkedin_url == "https://www.linkedin.com/in/jürgen-demo001"
    assert emails(found) == [("j.mueller@lindenhof-maschinenbau.example", "work", VALID)]
    assert found.emails[0].verified_at is None
    assert phones(found) == [("+493023125001", "work")]
    assert found.company is not None
    assert found.company.domain == "lindenhof-maschinenbau.example"


def test_salesforce_exports_multi_line_cells_extensions_and_american_dates() -> None:
    found = person("salesforce")

    assert (found.full_name, found.title, found.department) == ("Maya Patel", "Buyer", "purchasing")
    assert found.source.at == datetime(2026, 10, 28, tzinfo=UTC)
    assert phones(found) == [("+16175550110", "work"), ("+16175550111", "mobile"), ("+16175550113", "other")]
    assert found.phones[0].extension == "42"
    assert (found.city, found.country) == ("Boston", "US")


def test_linkedin_puts_notes_before_the_header_and_credentials_into_names() -> None:
    found = person("linkedin_connections")

    assert (found.first_name, found.last_name, found.full_name) == ("Grace", "Okafor", "Grace Okafor")
    assert found.linkedin_url == "https://www.linkedin.com/in/grace-demo002"
    assert (found.title, found.emails) == ("Data Analyst", ())
    assert found.company is not None
    assert (found.company.name, found.company.domain) == ("Quillstone Software", None)


def test_google_exports_labels_and_several_values_in_one_cell() -> None:
    found = person("google_new")

    assert (found.full_name, found.title, found.department) == ("Fiona Jane O'Shea", "Editor", "books")
    assert found.linkedin_url == "https://www.linkedin.com/in/fiona-demo003"
    assert emails(found) == [
        ("fiona.oshea@thistlewren.example", "work", VALID),
        ("foshea@thistlewren.example", "work", VALID),
        ("fiona@mailbox.example", "personal", VALID),
    ]
    assert phones(found) == [("+442079460001", "work")]


def test_googles_earlier_headers_are_read() -> None:
    found = person("google_old")

    assert (found.first_name, found.last_name) == ("Fiona", "O'Shea")
    assert phones(found) == [("+442079460001", "mobile")]
    assert emails(found)[0][1] == "work"


def test_outlook_calls_the_salutation_title() -> None:
    found = person("outlook")

    assert (found.title, found.department, found.country) == ("Directeur", "purchasing", "FR")
    assert len(found.emails) == 2
    assert phones(found) == [("+33199000001", "work"), ("+33199000003", "hq")]


def test_hunter_exports_confidences() -> None:
    found = person("hunter")

    assert emails(found) == [("daniel.chen@northlight-optics.example", "work", ACCEPT_ALL)]
    assert found.emails[0].confidence == 0.94
    assert found.emails[0].verified_at == datetime(2026, 10, 1, tzinfo=UTC)
    assert (found.title, found.department) == ("Finance Director", "finance")


def test_lusha_exports_grades_and_do_not_call_flags() -> None:
    found = person("lusha")

    assert emails(found) == [
        ("inigo.garcialorca@olivares-del-sur.example", "work", RISKY),
        ("inigo@mailbox.example", "personal", VALID),
    ]
    assert phones(found) == [("+442079460031", "work")]
    assert found.phones[0].do_not_call is True
    assert found.country == "ES"
    assert found.company is not None
    assert found.company.headcount == "201-500"


def test_rocketreach_exports_the_location_on_one_line_and_mangled_headcounts() -> None:
    found = person("rocketreach")

    assert (found.city, found.country) == ("Boston", "US")
    assert emails(found) == [("sofia.rivera@northlight-optics.example", "work", VALID)]
    assert phones(found) == [("+16175550120", "direct")]
    assert found.company is not None
    assert found.company.headcount == "11-50"


def test_a_german_spreadsheet_in_windows_encoding_is_read() -> None:
    found = person("german_cp1252")

    assert (found.first_name, found.last_name) == ("Käthe", "Weiß")
    assert emails(found) == [("kaethe.weiss@kaeferberg-solar.example", "work", VALID)]
    assert phones(found) == [("+491713920001", "mobile"), ("+493023125002", "direct")]
    assert (found.title, found.department, found.country) == ("Vertriebsleitung", "sales", "DE")
    assert found.source.at == datetime(2026, 10, 3, tzinfo=UTC)
    assert found.company is not None
    assert found.company.headcount == "1001-5000"
    assert found.company.domain == "kaeferberg-solar.example"


def test_a_french_spreadsheet_in_utf_16_is_read() -> None:
    found = person("french_utf16")

    assert (found.first_name, found.last_name, found.title) == ("Élodie", "De la Tour", "Rédactrice")
    assert emails(found) == [("edelatour@lumiere-bleue.example", "work", VALID)]
    assert phones(found) == [("+33199000004", "mobile")]


def test_a_spanish_spreadsheet_is_read() -> None:
    found = person("spanish")

    assert (found.full_name, found.department, found.country) == ("Lucía Muñoz Vega", "sales", "ES")
    assert found.linkedin_url == "https://www.linkedin.com/in/lucia-demo007"
    assert phones(found) == [("+442079460032", "work")]


def test_a_crunchbase_list_of_companies_is_read() -> None:
    found = company("crunchbase_companies")

    assert (found.name, found.domain) == ("Veldhoven Glas B.V.", "veldhoven-glas.example")
    assert found.linkedin_url == "https://www.linkedin.com/company/veldhoven-glas-demo"
    assert (found.city, found.country, found.headcount) == ("Eindhoven", "NL", "51-200")


def test_a_hubspot_list_of_companies_is_read() -> None:
    found = company("hubspot_companies")

    assert (found.name, found.domain, found.headcount) == ("Sjöberg & Ek AB", "sjoberg-ek.example", "201-500")
    assert found.linkedin_url == "https://www.linkedin.com/company/sjoberg-ek-demo"
    assert (found.city, found.country) == ("Göteborg", "SE")
    assert found.source.at == datetime(2026, 8, 1, tzinfo=UTC)


@pytest.mark.parametrize("name", sorted(path.stem for path in LAYOUTS.glob("*.csv")))
def test_every_example_file_has_an_identifying_column(name: str) -> None:
    entity = Entity.COMPANIES if name.endswith("companies") else Entity.CONTACTS

    _, layout = row(name, entity)

    assert layout.names_rows
