from __future__ import annotations

import re
import weakref
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus, FoundContact
from app.domain.lists.cells import cells, dates, email_cells
from app.domain.lists.cells.cell_warnings import CellWarnings, WarningKey
from app.domain.lists.cells.email_cells import read_email
from app.domain.lists.company_rows import company_of
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.people_rows import person_of
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.normal.person_emails import person_email
from app.domain.normal.places.countries import country_code
from app.domain.normal.places.places import parse_location
from app.domain.normal.texts.text_folding import fold, snake_case, split_camel
from app.domain.normal.texts.vocabularies import department, email_status, headcount, phone_type, seniority

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def row(entity: Entity = Entity.CONTACTS, region: str | None = None, **cells: str) -> RowValues:
    layout = map_columns([name.replace("_", " ") for name in cells], entity)
    return RowValues(
        layout, list(cells.values()), ImportDefaults("list.csv", NOW, NOW, region), CellWarnings()
    )


def person(region: str | None = None, **cells: str) -> FoundContact:
    layout = map_columns([name.replace("_", " ") for name in cells], Entity.CONTACTS)
    return person_of(row(region=region, **cells), layout).found


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20T10:30:00+02:00", datetime(2026, 11, 20, 8, 30, tzinfo=UTC)),
        ("2026/11/20 10:30", datetime(2026, 11, 20, 10, 30, tzinfo=UTC)),
        ("20.11.2026", datetime(2026, 11, 20, tzinfo=UTC)),
        ("11/20/2026", datetime(2026, 11, 20, tzinfo=UTC)),
        ("20/11/26", datetime(2026, 11, 20, tzinfo=UTC)),
        ("3/4/2026 12:15 AM", datetime(2026, 3, 4, 0, 15, tzinfo=UTC)),
        ("3/4/2026 5:15 PM", datetime(2026, 3, 4, 17, 15, tzinfo=UTC)),
        ("20 Nov 2026", datetime(2026, 11, 20, tzinfo=UTC)),
        ("November 20, 2026", datetime(2026, 11, 20, tzinfo=UTC)),
        ("1763596800", datetime(2025, 11, 20, tzinfo=UTC)),
        ("1763596800000", datetime(2025, 11, 20, tzinfo=UTC)),
    ],
)
def test_dates_are_read_as_exports_write_them(text: str, meant: datetime) -> None:
    assert dates.parse_timestamp(text) == meant


class Cell(str):
    """A text that can have weak references."""

    __slots__ = ("__weakref__",)


@pytest.mark.parametrize("read", [cells.value, cells.name_value])
def test_long_cells_do_not_stay_in_memory(read: Callable[[str], str | None]) -> None:
    cell = Cell("x" * 100_000)
    reference = weakref.ref(cell)

    content = read(cell)
    del cell

    assert content is not None
    assert reference() is None


@pytest.mark.parametrize(
    "text", ["soon", "31/31/2026", "", "9999-12-31T23:59:59-05:00", "0001-01-01 00:00:00 +0100"]
)
def test_an_invalid_date_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        dates.parse_timestamp(text)


FORMULA_PARTS = "=+-@'\"a ;,|\t\n\u2028\uff1d\uff0b\uff0d\uff20"


@given(
    st.one_of(st.text(st.characters(exclude_categories=("C", "Z"))), st.text(FORMULA_PARTS).map(str.strip))
)
@example("|'=")
@example("a|''=1")
def test_an_escaped_formula_is_read_back_unchanged(text: str) -> None:
    written = cells.escape_formula(text)

    assert cells.unescape_formula(written) == text
    assert not any(part.lstrip(' "')[:1] in {*"=+-@\uff1d"} for part in re.split("[;,\t\n]", written) if part)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("CEO;=cmd|' /C calc'!A0", "CEO;'=cmd|' /C calc'!A0"),
        ("CEO\t@SUM(A1)", "CEO\t'@SUM(A1)"),
        ("\n=1+1", "\n'=1+1"),
        (' "=1+1', "' \"=1+1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\ufe63x", "'\ufe63x"),
        ("CEO|=1+1", "CEO|'=1+1"),
        ("CEO\u2028=1+1", "CEO\u2028'=1+1"),
        ("CEO\x0b=1+1", "CEO\x0b'=1+1"),
        ("CEO | @Acme", "CEO | @Acme"),
        ("Sales - EMEA", "Sales - EMEA"),
        ("ada@acme.example", "ada@acme.example"),
    ],
)
def test_a_formula_is_escaped_wherever_a_spreadsheet_may_start_a_cell(text: str, written: str) -> None:
    assert cells.escape_formula(text) == written


@pytest.mark.parametrize("text", ["", "N/A", " - ", "null", "#N/A", "None", "\u00a0"])
def test_placeholder_words_are_empty(text: str) -> None:
    assert cells.value(text) is None


def test_null_is_accepted_as_a_name() -> None:
    assert (cells.name_value(" Null "), cells.name_value("n/a"), cells.name_value("")) == ("Null", None, None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a@x.example ::: b@x.example", ["a@x.example", "b@x.example"]),
        ("a@x.example; b@x.example,c@x.example", ["a@x.example", "b@x.example", "c@x.example"]),
        ("Ada <a@x.example>, Bob <b@x.example>", ["a@x.example", "b@x.example"]),
        ("mailto:a@x.example", ["a@x.example"]),
        ("n/a", []),
    ],
)
def test_a_cell_may_contain_several_addresses(text: str, found: list[str]) -> None:
    assert cells.emails_in(text) == found


def test_a_cell_may_contain_several_numbers() -> None:
    found = cells.phones_in("'+1 617 555 0101 ::: 617-555-0102;ext=7 | - | 0103")

    assert found == ["+1 617 555 0101", "617-555-0102;ext=7", "0103"]


@pytest.mark.parametrize(
    ("text", "code"),
    [("Deutschland", "DE"), ("U.S.A.", "US"), ("états-unis", "US"), ("The Netherlands", "NL"), ("uk", "GB")],
)
def test_countries_are_read_in_several_languages(text: str, code: str) -> None:
    assert country_code(text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Korea, Republic of", "KR"),
        ("Korea (Republic of)", "KR"),
        ("Republic of Korea", "KR"),
        ("Korea, Democratic People's Republic of", "KP"),
        ("Democratic People's Republic of Korea", "KP"),
        ("Taiwan, Province of China", "TW"),
        ("Bosnia and Herzegovina", "BA"),
        ("Bolivia, Plurinational State of", "BO"),
        ("Bolivia (Plurinational State of)", "BO"),
        ("Venezuela, Bolivarian Republic of", "VE"),
        ("Iran (Islamic Republic of)", "IR"),
        ("Tanzania, United Republic of", "TZ"),
        ("United Republic of Tanzania", "TZ"),
        ("Moldova, Republic of", "MD"),
        ("Republic of Moldova", "MD"),
        ("Micronesia, Federated States of", "FM"),
        ("Micronesia (Federated States of)", "FM"),
        ("Lao People's Democratic Republic", "LA"),
        ("Syrian Arab Republic", "SY"),
        ("Palestine, State of", "PS"),
        ("State of Palestine", "PS"),
        ("Congo, Democratic Republic of the", "CD"),
        ("Democratic Republic of the Congo", "CD"),
        ("Congo, The Democratic Republic of the", "CD"),
        ("Congo", "CG"),
        ("Republic of the Congo", "CG"),
        ("United Kingdom of Great Britain and Northern Ireland", "GB"),
        ("Macedonia, the former Yugoslav Republic of", "MK"),
        ("The former Yugoslav Republic of Macedonia", "MK"),
        ("Holy See (Vatican City State)", "VA"),
        ("Holy See", "VA"),
        ("Saint Kitts and Nevis", "KN"),
        ("Saint Vincent and the Grenadines", "VC"),
        ("São Tomé and Príncipe", "ST"),
        ("Antigua and Barbuda", "AG"),
        ("East Timor", "TL"),
        ("China, Hong Kong Special Administrative Region", "HK"),
        ("Macao", "MO"),
        ("Macau SAR China", "MO"),
        ("Netherlands (Kingdom of the)", "NL"),
        ("Kingdom of the Netherlands", "NL"),
        ("Gambia (Republic of The)", "GM"),
        ("Virgin Islands, U.S.", "VI"),
        ("Virgin Islands (British)", "VG"),
        ("Falkland Islands (Malvinas)", "FK"),
        ("Saint Martin (French part)", "MF"),
        ("Sint Maarten (Dutch part)", "SX"),
        ("South Georgia and the South Sandwich Islands", "GS"),
        ("Republic of Ireland", "IE"),
        ("Libyan Arab Jamahiriya", "LY"),
        ("People's Republic of China", "CN"),
        ("Republic of China", "TW"),
        ("The Bahamas", "BS"),
        ("Trinidad & Tobago", "TT"),
        ("Republic of Georgia", "GE"),
    ],
)
def test_countries_are_read_as_iso_3166_1_and_the_united_nations_write_them(text: str, code: str) -> None:
    """The names are those of iso.org/obp and unstats.un.org/unsd/methodology/m49."""
    assert country_code(text) == code


@pytest.mark.parametrize("text", ["Georgia, USA", "Paris, Texas", "State of Georgia", "Republic of Texas"])
def test_a_place_in_a_country_is_not_the_country(text: str) -> None:
    with pytest.raises(InvalidValue):
        country_code(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Greater Munich Metropolitan Area", ("Munich", None)),
        ("Lyon, Rhône, France", ("Lyon", "FR")),
        ("Boston, MA", ("Boston", "US")),
        ("Springfield, Somewhere", ("Springfield", None)),
        ("Germany", (None, "DE")),
        ("", (None, None)),
    ],
)
def test_a_location_line_is_split_into_city_and_country(
    text: str, place: tuple[str | None, str | None]
) -> None:
    assert parse_location(text) == place


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Verified", "valid"),
        ("catch-all", "accept_all"),
        ("HIGH_PROBABILITY", "risky"),
        ("nominative@pro", "valid"),
        ("nominative@invalid domain", "invalid"),
        ("A+", "valid"),
        ("B-", "risky"),
        ("Bounced", "invalid"),
        ("Unavailable", "unknown"),
    ],
)
def test_the_statuses_of_every_vendor_are_mapped(text: str, status: str) -> None:
    assert email_status(text) == status


def test_an_unknown_status_is_refused() -> None:
    with pytest.raises(InvalidValue):
        email_status("sunny")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("137", "51-200"), ("1", "1-10"), ("51 \u2013 200", "51-200"), ("1,001-5,000", "1001-5000"),
        ("10K+", "10001+"), ("10000+", "10001+"), ("1.200", "1001-5000"), ("250.0", "201-500"),
        ("1.5k", "1001-5000"),
        ("5001-10,000 employees", "5001-10000"), ("c_00051_00100", "51-200"), ("Nov-50", "11-50"),
        ("01-Oct", "1-10"),
    ],
)  # fmt: skip
def test_headcounts_become_ranges(text: str, size: str) -> None:
    assert headcount(text) == size


def test_a_headcount_without_a_number_is_refused() -> None:
    with pytest.raises(InvalidValue):
        headcount("many")


def test_seniorities_departments_and_types_are_mapped() -> None:
    assert (seniority("C-Level"), seniority("Grand Wizard")) == ("c_suite", "grand_wizard")
    assert (department("Engineering & Technical, Sales"), department("Abteilung Vertrieb")) == (
        "engineering",
        "sales",
    )
    assert department("Cat Herding") == "cat_herding"
    assert (phone_type("Work Fax"), phone_type("direct dial"), phone_type("x")) == ("fax", "direct", None)
    assert [phone_type(label) for label in ("workFax", "homeFax")] == ["fax", "fax"]  # of Android's export


def test_headers_are_folded() -> None:
    assert (fold("Téléphone-Nr. (Büro)"), snake_case("C Suite")) == ("telephone nr buro", "c_suite")
    assert split_camel("firstName") == "first Name"


@settings(deadline=None)
@given(st.emails())
def test_the_fast_path_for_addresses_returns_the_same(text: str) -> None:
    try:
        expected = person_email(text)
    except InvalidValue:
        expected = ""
    try:
        found = read_email(text)
    except InvalidValue:
        found = ""

    assert found in {expected, ""}
    assert found == expected or "**" in text or "xxxx" in text


@given(st.from_regex(email_cells._PLAIN, fullmatch=True))  # noqa: SLF001 -- the fast path's condition
def test_a_plain_address_is_the_only_one_in_its_cell(text: str) -> None:
    assert cells.emails_in(text) == [text]


@pytest.mark.parametrize("text", ["a***@acme.example", "a•••@acme.example", "ada@", "ada"])
def test_masked_and_broken_addresses_are_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        read_email(text)


def test_an_unknown_status_is_counted_as_a_warning() -> None:
    values = row(email="a@acme.example", email_status="sunny")

    found = person_of(values, map_columns(["email", "email status"], Entity.CONTACTS)).found

    assert found.emails[0].status is EmailStatus.UNKNOWN
    assert values.warnings.counts == {WarningKey("email_status", None, "invalid"): 1}


@pytest.mark.parametrize(
    ("cells", "status", "verified_at"),
    [
        ({}, "valid", None),
        ({"email_status": ""}, "valid", None),
        ({"status": "bounced"}, "invalid", None),
        ({"status": "customer"}, "valid", None),
        ({"email_confidence": "B"}, "risky", None),
        ({"email_verified": "2026-10-01"}, "valid", datetime(2026, 10, 1, tzinfo=UTC)),
        ({"last_verified": "2026-10-01"}, "valid", datetime(2026, 10, 1, tzinfo=UTC)),
        (
            {"email_status": "risky", "last_verified": "2026-10-01"},
            "risky",
            datetime(2026, 10, 1, tzinfo=UTC),
        ),
        ({"last_verified": "2999-01-01"}, "valid", None),
    ],
)
def test_an_address_is_valid_unless_the_row_has_another_status(
    cells: dict[str, str], status: str, verified_at: datetime | None
) -> None:
    [email] = person(email="a@acme.example", **cells).emails

    assert (email.status, email.verified_at) == (status, verified_at)


@pytest.mark.parametrize(
    ("text", "confidence"),
    [("0.97", 0.97), ("97", 0.97), ("0,5", 0.5), ("1%", 0.01), ("A", None), ("120", None), ("", None)],
)
def test_confidence_is_between_zero_and_one(text: str, confidence: float | None) -> None:
    [email] = person(email="a@acme.example", email_confidence=text).emails

    assert email.confidence == confidence


def test_an_address_occurs_once_per_row() -> None:
    found = person(email="a@acme.example, A@ACME.example", email_2="a@acme.example")

    assert len(found.emails) == 1


@pytest.mark.parametrize(
    ("cells", "region", "e164"),
    [
        ({"phone": "030 23125 001", "country": "Germany"}, "US", "+493023125001"),
        ({"phone": "030 23125 001", "country": "France"}, "DE", "+493023125001"),
        ({"phone": "030 23125 001", "company_country": "DE", "company": "Acme"}, None, "+493023125001"),
        ({"phone": "0049 30 23125 001"}, None, "+493023125001"),
        ({"phone": "493023125001"}, None, "+493023125001"),
    ],
)
def test_national_numbers_are_read_in_the_rows_country(
    cells: dict[str, str], region: str | None, e164: str
) -> None:
    assert [
        phone.e164 for phone in person(region, name="Ada Low", email="a@acme.example", **cells).phones
    ] == [e164]


def test_an_invalid_number_is_left_out_of_the_row() -> None:
    values = row(email="a@acme.example", phone="12", phone_2="+1 617 555 0101, +1 617 555 0101")
    layout = map_columns(["email", "phone", "phone 2"], Entity.CONTACTS)

    found = person_of(values, layout).found

    assert len(found.phones) == 1
    assert values.warnings.counts == {WarningKey("phone", 1, "invalid"): 1}


@pytest.mark.parametrize(
    ("cells", "status"), [("", "valid"), ("valid_number", "valid"), ("sunny", "unknown")]
)
def test_numbers_have_a_status(cells: str, status: str) -> None:
    [phone] = person(phone="+1 617 555 0101", phone_status=cells, phone_verified_at="").phones

    assert phone.status == status


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        ({"full_name": "Lovelace, Ada"}, ("Ada", "Lovelace", "Ada Lovelace")),
        ({"first_name": "Ada", "last_name": "Lovelace"}, ("Ada", "Lovelace", "Ada Lovelace")),
        ({"first_name": "Ada", "middle_name": "B", "last_name": "Low"}, ("Ada", "Low", "Ada B Low")),
        ({"first_name": "Dr. Ada", "last_name": "Low, PhD"}, ("Ada", "Low", "Ada Low")),
        ({"first_name": 'Earl "Buddy"', "last_name": "Carter"}, ("Earl", "Carter", 'Earl "Buddy" Carter')),
        ({"first_name": "A.", "last_name": "Low"}, ("A.", "Low", "A. Low")),
        ({"last_name": "Low"}, (None, "Low", "Low")),
        ({"first_name": "Ada"}, ("Ada", None, "Ada")),
        ({"full_name": "a@acme.example"}, (None, None, None)),
        ({"full_name": "42"}, (None, None, None)),
        ({"first_name": "A" * 201, "last_name": "Lovelace", "full_name": "Ada L"}, (None, None, None)),
        ({"last_name": "L" * 201}, (None, None, None)),
    ],
)
def test_names_are_read_in_full_or_in_parts(cells: dict[str, str], name: tuple[str | None, ...]) -> None:
    found = person(email="a@acme.example", **cells)

    assert (found.first_name, found.last_name, found.full_name) == name


@pytest.mark.parametrize(
    ("cells", "url"),
    [
        ({"linkedin": "ada-demo"}, "https://www.linkedin.com/in/ada-demo"),
        ({"linkedin": "https://www.linkedin.com/sales/lead/x"}, None),
        ({"profile": "https://www.linkedin.com/in/ada-demo"}, "https://www.linkedin.com/in/ada-demo"),
        ({"profile": "https://www.linkedin.com/company/x", "url": "https://ada.example"}, None),
    ],
)
def test_profiles_are_found_in_columns_of_links(cells: dict[str, str], url: str | None) -> None:
    assert person(email="a@acme.example", **cells).linkedin_url == url


@pytest.mark.parametrize(
    ("cells", "domain", "page"),
    [
        ({"website": "https://www.acme.example/about"}, "acme.example", None),
        (
            {"website": "linkedin.com/company/acme-demo"},
            "mail.example",
            "https://www.linkedin.com/company/acme-demo",
        ),
        ({"website": "linkedin.com/in/acme-demo"}, "mail.example", None),
        ({"website": "facebook.com/acme"}, "mail.example", None),
        ({"website": "gmail.com"}, "mail.example", None),
        ({"website": "info@acme.example"}, "acme.example", None),
        ({}, "mail.example", None),
    ],
)
def test_the_domain_of_a_company_is_its_website_or_that_of_the_work_email(
    cells: dict[str, str], domain: str, page: str | None
) -> None:
    company = person(email="a@mail.example", **cells).company

    assert company is not None
    assert (company.domain, company.linkedin_url) == (domain, page)


@pytest.mark.parametrize(
    "cells", [{"email": "a@gmail.com"}, {"work_email": "a@gmail.com"}, {"email": "a@com.ai"}]
)
def test_the_domain_of_a_mail_provider_is_not_a_company(cells: dict[str, str]) -> None:
    assert person(**cells).company is None


def test_the_location_of_a_company_may_be_on_one_line() -> None:
    found = company_of(row(Entity.COMPANIES, name="Acme", headquarters="Lyon, France"))

    assert (found.city, found.country) == ("Lyon", "FR")


@pytest.mark.parametrize(
    "cells",
    [
        {"full_name": "Ada Lovelace"},
        {"first_name": "Ada", "company": "Acme"},
        {"company": "Acme"},
        {"full_name": "Ada Lovelace", "company_linkedin_url": "linkedin.com/company/acme-demo"},
        {"email": "a***@acme.example"},
    ],
)
def test_a_row_without_a_person_is_refused(cells: dict[str, str]) -> None:
    with pytest.raises(InvalidValue, match="does not identify a person"):
        person(**cells)


def test_a_row_without_a_company_is_refused() -> None:
    with pytest.raises(InvalidValue, match="does not identify a company"):
        company_of(row(Entity.COMPANIES, industry="Tools"))


def test_an_invalid_date_is_counted_as_a_warning() -> None:
    values = row(email="a@acme.example", updated_at="soon")

    found = person_of(values, map_columns(["email", "updated at"], Entity.CONTACTS)).found

    assert found.source.at == NOW
    assert values.warnings.counts == {WarningKey("updated_at", 1, "invalid"): 1}


LONG_CELLS = (" " * 130_000 + "?", "; " * 60_000, "a" * 130_000, "1 " * 60_000, "<" * 130_000)


@pytest.mark.parametrize("text", LONG_CELLS)
def test_a_long_cell_is_read_in_linear_time(text: str) -> None:
    found = person(email=text, phone=text, phone_2="+1 617 555 0101", first_name=text, last_name=text)

    assert [phone.e164 for phone in found.phones] == ["+16175550101"]
    assert (found.emails, found.full_name) == ((), None)


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("Jürgen Müller", "cp1252"),
        ("Jürgen Müller", "latin-1"),
        ("Jiří Dvořák", "cp1252"),
        ("Łukasz Żak", "latin-1"),
        ("Иван Петров", "latin-1"),
        ("太郎", "cp1252"),
    ],
)
def test_a_cell_that_was_converted_to_utf_8_twice_is_read_as_it_was_meant(name: str, encoding: str) -> None:
    cell = name.encode().decode(encoding)
    layout = map_columns(["name", "company", "notes"], Entity.CONTACTS)
    warnings = CellWarnings()
    of_file = [cell, "Acme", cell]

    values = RowValues(layout, of_file, ImportDefaults("list.csv", NOW, NOW), warnings, 2)

    assert values.raw("full_name") == [name]
    assert warnings.counts == {WarningKey("full_name", 0, "converted_twice"): 1}
    assert of_file == [cell, "Acme", cell]


@pytest.mark.parametrize("name", ["Jürgen Müller", "JOÃO", "Müller", "Иван Петров", "Ã", "ÂNGELA MAIÃ"])
def test_other_letters_stay_as_they_are(name: str) -> None:
    values = row(name=name, company="Acme")

    assert values.raw("full_name") == [name]
    assert not values.warnings.counts
