"""vCards, read by an independent parser."""

from __future__ import annotations

from typing import Any

import pytest
import vobject
from apiflask import APIFlask
from page_support import visitor
from stored_support import a_company, a_contact, a_phone, an_email, own
from users_support import SignedInUser, create_user

from app.features.vcards import cards
from app.features.vcards.cards import MAX_OCTETS, Version

EMAIL = {"email": "ada@acme.com", "type": "work"}
PHONE = {"e164": "+442079460123", "extension": None, "type": "mobile", "line_type": "mobile"}
PERSON: dict[str, Any] = {
    "full_name": "Ada Lovelace",
    "title": "Chief Engineer",
    "company": {"name": "Acme, Engines; Sons", "domain": "acme.com"},
    "location": {"city": "London", "country": "GB"},
    "linkedin_url": "https://www.linkedin.com/in/ada",
    "revealed": {"emails": [EMAIL], "phones": [PHONE]},
    "updated_at": "2026-11-29T11:00:00.000Z",
}


def read(card: str) -> Any:
    parsed = vobject.readOne(card)
    parsed.validate()
    return parsed


@pytest.mark.any_database
@pytest.mark.parametrize("version", cards.VERSIONS)
def test_a_parser_reads_the_card_as_the_person(version: Version) -> None:
    card = read(cards.vcard(PERSON, version))

    assert (card.fn.value, card.version.value) == ("Ada Lovelace", version)
    assert (card.n.value.given, card.n.value.family) == ("Ada", "Lovelace")
    assert card.org.value == ["Acme, Engines; Sons"]
    assert (card.title.value, card.email.value) == ("Chief Engineer", "ada@acme.com")
    assert (card.adr.value.city, card.adr.value.country) == ("London", "GB")
    assert card.url.value == "https://www.linkedin.com/in/ada"
    assert card.tel.value.removeprefix("tel:") == "+442079460123"


@pytest.mark.any_database
@pytest.mark.parametrize("version", cards.VERSIONS)
@pytest.mark.parametrize(
    "name",
    [
        "Zoë O'Brien-Müller",
        "李小龙",
        "محمد بن سلمان",
        "Анна Иванова",
        "Cher",
        "Semi; Colon, Comma\\Slash",
        "👩‍💻 Ada",
        "Dr. Ada King Lovelace III",
        "Ada " * 60,
        "李" * 100,
    ],
)
def test_names_of_all_scripts_and_lengths_come_back_unchanged(name: str, version: Version) -> None:
    text = cards.vcard(PERSON | {"full_name": name}, version)

    assert read(text).fn.value == " ".join(name.split())
    assert all(len(line.encode()) <= MAX_OCTETS for line in text.split("\r\n"))


@pytest.mark.any_database
@pytest.mark.parametrize("version", cards.VERSIONS)
def test_a_name_cannot_add_lines_to_the_card(version: Version) -> None:
    hostile = "Ada\r\nEMAIL:eve@evil.example\x00\u2028X"

    card = read(cards.vcard(PERSON | {"full_name": hostile, "title": "a\nTEL:1"}, version))

    assert [one.value for one in card.contents["email"]] == ["ada@acme.com"]
    assert card.fn.value == "Ada EMAIL:eve@evil.example X"
    assert card.title.value == "a TEL:1"


@pytest.mark.any_database
@pytest.mark.parametrize("version", cards.VERSIONS)
@pytest.mark.parametrize(
    ("registers", "note"),
    [
        (
            [
                {"name": "TPS, UK", "date": "2026-11-25T00:00:00.000Z", "listed": True},
                {"name": "CTPS", "date": "2026-11-25T00:00:00.000Z", "listed": False},
            ],
            "Do not call +442079460123 (TPS, UK of 2026-11-25)",
        ),
        ([], "Do not call +442079460123"),
    ],
)
def test_a_number_that_must_not_be_called_has_a_note(
    registers: list[dict[str, Any]], note: str, version: Version
) -> None:
    phone = PHONE | {"do_not_call": True, "call_registers": registers}

    card = read(cards.vcard(PERSON | {"revealed": {"emails": [EMAIL], "phones": [phone]}}, version))

    assert card.note.value == note
    assert "note" not in read(cards.vcard(PERSON, version)).contents


@pytest.mark.any_database
def test_a_name_of_signs_alone_is_a_given_name() -> None:
    card = read(cards.vcard(PERSON | {"full_name": ","}, cards.VERSIONS[0]))

    assert card.n.value.given


@pytest.mark.any_database
@pytest.mark.parametrize("version", cards.VERSIONS)
@pytest.mark.parametrize("name", [None, "", "  ", "\u2028"])
def test_a_person_without_a_name_has_one_given_name_and_no_family(name: str | None, version: Version) -> None:
    lines = cards.vcard(PERSON | {"full_name": name}, version).split("\r\n")

    assert lines[2:4] == ["FN:Name not known", "N:;Name not known;;;"]


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\r"])
def test_a_break_of_any_kind_is_a_space(separator: str) -> None:
    card = read(cards.vcard(PERSON | {"full_name": f"Ada{separator}Lovelace"}, cards.VERSIONS[0]))

    assert (card.fn.value, card.n.value.given) == ("Ada Lovelace", "Ada")


@pytest.mark.parametrize("version", cards.VERSIONS)
def test_a_person_of_whom_little_is_known_has_a_valid_card(version: Version) -> None:
    nothing = dict.fromkeys(PERSON)

    card = read(cards.vcard(nothing, version))

    assert card.fn.value == "Name not known"
    assert "email" not in card.contents


@pytest.mark.any_database
def test_types_and_extensions_are_written_as_each_version_has_them() -> None:
    values = {
        "emails": [
            EMAIL,
            {"email": "ada@gmail.com", "type": "personal"},
            {"email": "a@b.example", "type": "x"},
        ],
        "phones": [
            PHONE,
            {"e164": "+12025550143", "extension": "7;x", "type": "direct", "line_type": "landline"},
            {"e164": "+12025550144", "extension": None, "type": "other", "line_type": "unknown"},
        ],
    }
    person = PERSON | {"revealed": values, "company": {"name": None, "domain": "acme.com"}, "location": None}

    old, new = cards.vcard(person, "3.0").split("\r\n"), cards.vcard(person, "4.0").split("\r\n")

    assert {"EMAIL;TYPE=INTERNET,WORK:ada@acme.com", "EMAIL;TYPE=INTERNET,HOME:ada@gmail.com"} < set(old)
    assert {"TEL;TYPE=CELL,VOICE:+442079460123", "TEL;TYPE=WORK,VOICE:+12025550143 x7"} < set(old)
    assert {"EMAIL;TYPE=INTERNET:a@b.example", "TEL;TYPE=VOICE:+12025550144", "ORG:acme.com"} < set(old)
    assert {"EMAIL;TYPE=work:ada@acme.com", "EMAIL:a@b.example"} < set(new)
    assert 'TEL;VALUE=uri;TYPE="cell,voice":tel:+442079460123' in new
    assert 'TEL;VALUE=uri;TYPE="work,voice":tel:+12025550143;ext=7' in new
    assert "TEL;VALUE=uri;TYPE=voice:tel:+12025550144" in new
    assert ("REV:2026-11-29T11:00:00Z" in old, "REV:20261129T110000Z" in new) == (True, True)


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ada Lovelace", "Ada Lovelace.vcf"),
        ("../a/b\\c", "abc.vcf"),
        ("李小龙", "李小龙.vcf"),
        ("…", "contact.vcf"),
    ],
)
def test_the_file_is_named_after_the_person(name: str, expected: str) -> None:
    assert cards.file_name([None, name]) == expected


@pytest.fixture
def contact_id(user: SignedInUser) -> str:
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session), full_name="Ada Lovelace")
        an_email(session, contact, "ada@acme.com")
        a_phone(session, contact, "+12025550143")
        own(session, user.workspace_id, contact, "email")
    return contact.id


def test_only_what_the_workspace_revealed_is_on_the_card(user: SignedInUser, contact_id: str) -> None:
    path = f"/api/contacts/{contact_id}/vcard"

    response = user.client.get(path, headers=user.headers)
    old = user.client.get(f"{path}?version=3.0", headers=user.headers).get_data(as_text=True)

    card = read(response.get_data(as_text=True))
    assert (response.status_code, response.mimetype) == (200, "text/vcard")
    assert response.headers["Content-Disposition"] == 'attachment; filename="Ada Lovelace.vcf"'
    assert card.email.value == "ada@acme.com"
    assert "tel" not in card.contents
    assert read(old).version.value == "3.0"


def test_another_workspace_gets_no_card(app: APIFlask, user: SignedInUser, contact_id: str) -> None:
    stranger = create_user(app, email="grace@other.example")

    response = user.client.get(f"/api/contacts/{contact_id}/vcard", headers=stranger.headers)

    assert (response.status_code, response.get_json()["code"]) == (404, "contact_not_found")


def test_an_unknown_version_is_refused(app: APIFlask, user: SignedInUser, contact_id: str) -> None:
    response = user.client.get(f"/api/contacts/{contact_id}/vcard?version=2.1", headers=user.headers)
    page = visitor(app, user).open(f"/contacts/{contact_id}/vcard?version=2.1")

    assert (response.status_code, page.status_code) == (422, 404)


@pytest.mark.parametrize(("query", "version"), [("", "3.0"), ("?version=4.0", "4.0")])
def test_the_page_of_a_contact_has_its_card(
    app: APIFlask, user: SignedInUser, contact_id: str, query: str, version: str
) -> None:
    browser = visitor(app, user)

    shown = browser.open(f"/contacts/{contact_id}").text
    card = browser.open(f"/contacts/{contact_id}/vcard{query}").text

    assert f'href="/contacts/{contact_id}/vcard"' in shown
    assert read(card).version.value == version
