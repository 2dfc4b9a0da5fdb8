"""Files as phones, mail programs and web services export them; the people in them are made up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jobs_support import NOW

from app.domain.errors import InvalidValue
from app.features.address_books import contact_files
from app.features.address_books.people import BookPerson

pytestmark = pytest.mark.any_database

EXPORTS = Path(__file__).parent / "exports"
ADA = "https://www.linkedin.com/in/ada-lovelace"
GRACE = "https://www.linkedin.com/in/grace-hopper"


def people(content: bytes, country: str | None = None) -> list[BookPerson]:
    contacts = contact_files.read(content, country=country, now=NOW)
    return [person for row in contacts.rows if (person := contacts.person(row))]


def entry(name: str, emails: str = "", phones: str = "", company: str = "", **others: Any) -> Any:
    return (name, emails.split(), phones.split(), company, others.get("profiles", []))


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (
            "android.vcf",
            [
                entry(
                    "Jörg Kraußmann-Überländer",
                    "joerg@kraussmann.example",
                    "+4930231250001 +4930231250002",
                    "Büro Nord",
                ),
                entry("Mum", phones="+4930231250003"),
            ],
        ),
        (
            "outlook.vcf",
            [
                entry(
                    "Änne Größe",
                    "anne@mueller-soehne.example",
                    "+4930231250011 +4930231250012",
                    "Müller & Söhne",
                )
            ],
        ),
        (
            "icloud.vcf",
            [
                entry(
                    "Ada Lovelace",
                    "ada@acme.example ada.lovelace@mail.example",
                    "+442079460123",
                    "Acme, Engines; Ltd.",
                    profiles=[ADA],
                ),
                entry("Grace Hopper", "", "+442079460125", "Flow-Matic Systems", profiles=[GRACE]),
            ],
        ),
        (
            "thunderbird.vcf",
            [
                entry(
                    "西村 玲",
                    "rei@nishimura.example r.nishimura@work.example",
                    "+16502530000 +16502530001",
                )
            ],
        ),
        (
            "google.csv",
            [
                entry(
                    "Ada Lovelace",
                    "ada@acme.example ada2@acme.example ada@mail.example",
                    "+442079460123 +442079460124",
                    "Acme Engines",
                    profiles=[ADA],
                ),
                entry("Zoë Ångström", "", "+46812345678"),
            ],
        ),
        ("google-old.csv", [entry("Ivan Petrov", "ivan@petrov.example", "+74951234567", "Petrov Works")]),
        (
            "outlook.csv",
            [
                entry(
                    "Renée O'Hara",
                    "renee@cafe.example renee@mail.example",
                    "+16502530000 +16502530001",
                    "Café Société",
                )
            ],
        ),
        (
            "outlook-de.csv",
            [
                entry(
                    "Jürgen Weiß",
                    "j.weiss@soehne.example jw@mail.example",
                    "+4930231250031 +4930231250032",
                    "Müller & Söhne GmbH",
                )
            ],
        ),
        (
            "outlook-fr.csv",
            [
                entry(
                    "Zoé Lefèvre",
                    "zoe@ecrous.example",
                    "+33199000001 +33639980001",
                    "Société Générale d\u2019Écrous",
                )
            ],
        ),
        (
            "outlook-es.csv",
            [
                entry(
                    "Íñigo Muñoz Ibáñez", "inigo@penon.example", "+34912345678 +34612345678", "Compañía Peñón"
                )
            ],
        ),
    ],
)
def test_an_export_is_read(file: str, expected: list[Any]) -> None:
    found = people((EXPORTS / file).read_bytes())

    shown = [
        (each.name, list(each.emails), list(each.phones), each.company, list(each.profiles)) for each in found
    ]
    assert shown == expected


def test_a_card_says_when_it_was_changed() -> None:
    (ada, *_others) = people((EXPORTS / "icloud.vcf").read_bytes())

    assert ada.changed_at == datetime(2025, 6, 15, 1, 0, 46, tzinfo=UTC)


def test_any_list_with_columns_of_people_is_read() -> None:
    (found,) = people(b"Customer;Contact name;Mail;Mobile\nAcme;Ada Lovelace;ada@acme.com;+442079460123\n")

    assert (found.name, found.emails, found.phones) == ("Ada Lovelace", ["ada@acme.com"], ["+442079460123"])


def test_national_numbers_are_of_the_named_country() -> None:
    content = b"BEGIN:VCARD\nFN:Ada Lovelace\nTEL:020 7946 0123\nEND:VCARD"

    assert [list(each.phones) for each in people(content, "GB")] == [["+442079460123"]]
    assert people(content) == []


def test_the_number_of_a_whole_company_is_left_out() -> None:
    (found,) = people(b"Name,Email,Company Main Phone\nAda Lovelace,ada@acme.com,+442079460100\n")

    assert found.phones == []


def test_a_handle_that_may_be_somebody_elses_is_left_out() -> None:
    (found,) = people(b"Name,Email,LinkedIn\nAda Lovelace,a@acme.com,the-grower-1a2b3c\n")

    assert found.profiles == []


def test_a_row_that_names_nobody_or_cannot_be_read_is_left_out() -> None:
    content = b'Name,Email\nAda,\nBob Ray,bob@x.com\n"Eve,eve@x.com\n'

    assert [each.name for each in people(content)] == ["Bob Ray"]


def test_an_entry_that_stops_the_program_does_not_cost_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    person_of = contact_files.person_of

    def fail_for_ada(row: Any, layout: Any) -> Any:
        if "ada@x.com" in row.cells:
            raise RuntimeError
        return person_of(row, layout)

    monkeypatch.setattr(contact_files, "person_of", fail_for_ada)

    assert [each.name for each in people(b"Name,Email\nAda Ray,ada@x.com\nBob Ray,bob@x.com\n")] == [
        "Bob Ray"
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\n \r\n", "The file is empty."),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "This is a picture"),
        (bytes(range(1, 32)) * 100, "This is not a text file."),
        (b"PK\x03\x04 a workbook", "This is a workbook or an archive."),
        (b"BEGIN:VCALENDAR\nEND:VCALENDAR", "This is a calendar"),
        (b"Colour,Size\nred,5\nblue,6\nred,7\n", "No column with a name, an e-mail address"),
        (b"Name,Email\n", "The file has a header but no rows."),
        (b"BEGIN:VCARDS\nFN:Ada\n", "The file has no contact cards."),
    ],
)
def test_another_file_is_refused_with_what_to_do(content: bytes, sentence: str) -> None:
    with pytest.raises(InvalidValue, match=f"^{sentence}"):
        contact_files.read(content, country=None, now=NOW)


@pytest.mark.parametrize(
    "line",
    [
        b"A" * 3_000_000,
        b"a=\n" * 200_000,
        b"BEGIN:VCARD\n" * 20_000,
        b'"' * 3_000_000,
        b"N:" + b"\\;" * 900_000,
    ],
)
def test_a_file_made_to_occupy_a_reader_is_read_in_seconds(line: bytes) -> None:
    content = b"BEGIN:VCARD\nFN:Ada\nEMAIL:a@x.com\n" + line

    assert [each.emails for each in people(content)] == [["a@x.com"]]
