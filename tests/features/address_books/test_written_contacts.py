"""Cards, tables and labels as programs write them, from bug reports of programs that read address books."""

from __future__ import annotations

import base64
import codecs
import csv
import quopri
import re
from pathlib import Path
from typing import Any

import pytest
from jobs_support import NOW

from app.features.address_books import contact_files
from app.features.address_books.people import BookPerson

pytestmark = pytest.mark.any_database

CASES = Path(__file__).parent / "cases"


def people(content: bytes) -> list[BookPerson]:
    contacts = contact_files.read(content, country=None, now=NOW)
    return [person for row in contacts.rows if (person := contacts.person(row))]


def shown(person: BookPerson) -> tuple[str, list[str], list[str], str, list[str]]:
    return person.name, list(person.emails), list(person.phones), person.company, list(person.profiles)


def cases(name: str) -> list[Any]:
    """Return the text and the people of each case in a file."""
    found = []
    for case in (CASES / name).read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, lines = case.partition("\n")
        persons = [expected(line) for line in re.findall(r"^>(.*)", lines, re.MULTILINE)]
        found.append(pytest.param(re.sub(r"(?m)^>.*\n?", "", lines), persons, id=title))
    return found


def expected(line: str) -> tuple[str, list[str], list[str], str, list[str]]:
    name, emails, phones, company, profiles = [*map(str.strip, line.split("|")), "", "", "", ""][:5]
    return name, emails.split(), phones.split(), company, profiles.split()


@pytest.mark.parametrize(("cards", "persons"), cases("cards.txt"))
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\r\r\n"])
def test_written_cards_are_read(cards: str, persons: list[Any], line_end: str) -> None:
    found = people(cards.replace("\n", line_end).encode())

    assert list(map(shown, found)) == persons


@pytest.mark.parametrize(("rows", "persons"), cases("tables.txt"))
def test_written_tables_are_read(rows: str, persons: list[Any]) -> None:
    found = people(rows.strip().encode())

    assert list(map(shown, found)) == persons


with (CASES / "labels.csv").open(encoding="utf-8", newline="") as file:
    LABELS = [(row["label"], row["kept"] == "yes") for row in csv.DictReader(file)]


@pytest.mark.parametrize(("label", "is_kept"), LABELS)
def test_only_numbers_of_the_persons_own_phones_are_kept(label: str, is_kept: bool) -> None:  # noqa: FBT001
    table = (
        f"Name,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value\nAda Ray,ada@acme.com,{label},+442079460121\n"
    )

    [found] = people(table.encode())

    assert found.phones == (["+442079460121"] if is_kept else [])


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [("8bit", bytes), ("base64", base64.encodebytes), ("Quoted-Printable", quopri.encodestring)],
)
@pytest.mark.parametrize("media_type", ["text/vcard", "text/x-vcard", "text/directory; profile=vCard"])
def test_cards_attached_to_a_mail_are_read(encoding: str, encode: Any, media_type: str) -> None:
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:Zoë Low\nEMAIL:zoe@acme.com\nEND:VCARD\n".encode()
    mail = (
        b'From: a@acme.com\nContent-Type: multipart/mixed; boundary="b"\n\n'
        b"--b\nContent-Type: text/plain\n\nHi\n"
        b"--b\nContent-Type: %s\nContent-Transfer-Encoding: %s\n\n%s\n--b--\n"
    )

    found = people(mail % (media_type.encode(), encoding.encode(), encode(card)))

    assert [(person.name, list(person.emails)) for person in found] == [("Zoë Low", ["zoe@acme.com"])]


def test_joined_files_may_each_have_a_byte_order_mark() -> None:
    """As in owncloud-archive/contacts#635 and sabre-io/vobject#175."""
    card = codecs.BOM_UTF8 + b"BEGIN:VCARD\nEMAIL:%s@acme.com\nEND:VCARD"

    found = people(card % b"ada" + b"\n" + card % b"bob" + card % b"eve")

    assert [list(person.emails) for person in found] == [["ada@acme.com"], ["bob@acme.com"], ["eve@acme.com"]]
