"""Headers of exports in other languages than English; `tests/data/headers.csv` names the source of each."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from app.domain.errors import InvalidValue
from app.domain.lists.cells.country_cells import list_country
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.headers.header_fields import FIELDS, column
from app.domain.lists.headers.header_words import read_headers

DATA = Path(__file__).parents[3] / "app" / "domain" / "data"
with (Path(__file__).parents[2] / "data" / "headers.csv").open(encoding="utf-8") as file:
    CASES = list(csv.DictReader(file))
LAYOUTS = [
    line
    for line in (Path(__file__).parents[2] / "data" / "layouts_of_exports.txt")
    .read_text("utf-8")
    .splitlines()
    if not line.startswith("#")
]
"""The headers of exports and list forms, as their vendors' help and public files show them."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['language']}-{case['header']}")
def test_headers_are_read_in_their_language(case: dict[str, str]) -> None:
    found = column(case["header"])

    assert found is not None
    assert (found.field, found.kind or "") == (case["field"], case["kind"])


@pytest.mark.parametrize("line", LAYOUTS, ids=lambda line: line.partition(":")[0])
def test_the_headers_of_an_export_are_read_and_its_other_ones_are_not(line: str) -> None:
    wrong = {}
    for part in line.partition(": ")[2].split("; "):
        header, _, expected = part.partition(" = ")
        found = column(header)
        read = " ".join(filter(None, (found.field, found.kind))) if found else ""
        if read != expected:
            wrong[header] = read

    assert not wrong


@pytest.mark.parametrize(
    "header",
    [
        "Attendee #", "Order #", "Contact ID", "Name ID", "Lead No.", "Customer Number", "Is contact",
        "Company #", "Contact?", "Client #", "Lead #", "Full name #", "Person ID", "Name count",
        "Persona - Estado", "Kontakt-ID", "Buyer Email", "Manager Email", "Lead Status", "Attendee Status",
        "Organización - Cargo",
    ],
)  # fmt: skip
def test_a_header_of_a_number_a_flag_or_somebody_else_is_not_read(header: str) -> None:
    assert column(header) is None


@pytest.mark.parametrize(
    "language", sorted(path.stem for path in (DATA / "lists" / "headers").glob("*/*.txt"))
)
def test_every_language_has_the_columns_of_a_contact(language: str) -> None:
    fields = {case["field"] for case in CASES if case["language"] == language}

    assert fields >= {
        "full_name",
        "first_name",
        "last_name",
        "title",
        "email",
        "phone",
        "company_name",
        "country",
    }


def test_headers_are_those_of_known_fields() -> None:
    headers, words = read_headers()

    others = {"url", "email_word_status", "personal_phone"}
    assert {field for field, _ in headers.values()} <= {*FIELDS, *others}
    assert set(words) == {"names email", "names phone", "part", "kind", "which", "filler", "optout", "of"}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (["Nome", "Cognome", "E-mail"], {"first_name", "last_name"}),
        (["Förnamn", "Namn"], {"first_name", "last_name"}),
        (["Nome", "Cidade", "Estado"], {"first_name", "city", "state"}),
        (["Nombre", "Correo", "Estado"], {"first_name"}),
        (["Name", "Surname"], {"first_name", "last_name"}),
        (["Name", "First name", "Surname"], {"full_name", "first_name", "last_name"}),
        (["Full name", "Surname"], {"full_name", "last_name"}),
        (["الاسم", "اللقب"], {"first_name", "last_name"}),
        (["Nom", "Cognoms"], {"first_name", "last_name"}),
        (["Nom", "Prénom"], {"first_name", "last_name"}),
        (["Nom", "Société"], {"last_name", "company_name"}),
        (["Име", "Презиме"], {"first_name", "last_name"}),
        (["Име", "Презиме", "Фамилия"], {"first_name", "middle_name", "last_name"}),
    ],
)
def test_ambiguous_headers_are_read_by_those_beside_them(header: list[str], expected: set[str]) -> None:
    assert set(map_columns(header, Entity.CONTACTS).single) == expected


@pytest.mark.parametrize(
    "header",
    ["Fax", "Telefon (Fax)", "Téléphone (Fax)", "Adres pocztowy", "Mailing Address", "Kundennummer", "住所"],
)
def test_columns_of_something_else_are_ignored_in_every_language(header: str) -> None:
    assert column(header) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Deutschland", "DE"),
        ("Polska", "PL"),
        ("Česko", "CZ"),
        ("Россия", "RU"),
        ("日本", "JP"),
        ("德國", "DE"),
        ("中国", "CN"),
        ("Sverige", "SE"),
        ("Suomi", "FI"),
        ("Danmark", "DK"),
        ("Norge", "NO"),
        ("US", "US"),
    ],
)
def test_countries_are_read_in_the_languages_of_the_headers(text: str, code: str) -> None:
    assert list_country(text) == code


@pytest.mark.parametrize("text", ["Atlantis", "Светлана", "世界", "Europa"])
def test_what_is_not_a_country_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        list_country(text)
