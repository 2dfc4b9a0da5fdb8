"""Whom a text means that is typed into one box: on SQLite and PostgreSQL."""

from __future__ import annotations

import pytest
from stored_support import a_company, a_contact

from app.engine.contacts.contacts import Contact
from app.engine.lookups import typed_people
from app.engine.lookups.typed_people import Typed
from app.infra.database.session import Session

TEAM = {
    "northlight": ["Ethan Miller", "Anna Müller", "José García Márquez", "Robert Klein"],
    "other": ["Ethan Park", "Li Wei"],
}


@pytest.fixture
def people(session: Session) -> dict[str, str]:
    """The names of stored people by id."""
    northlight = a_company(session, "Northlight Labs GmbH", domain="northlight.example")
    other = a_company(session, "Other Systems", domain="other.example")
    stored = [a_contact(session, northlight, name) for name in TEAM["northlight"]]
    stored += [a_contact(session, other, name) for name in TEAM["other"]]
    unnamed = a_contact(session, northlight, "Nobody Known")
    session.flush()
    row = session.get_one(Contact, unnamed.id)
    row.full_name = row.name_key = row.last_key = None
    session.flush()
    return {contact.id: contact.full_name or "" for contact in stored}


def found(session: Session, people: dict[str, str], typed: str) -> list[str]:
    return [people[contact_id] for contact_id in typed_people.find(session, typed).people]


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("Ethan", {"Ethan Miller", "Ethan Park"}),
        ("eth", {"Ethan Miller", "Ethan Park"}),
        ("miller", {"Ethan Miller"}),
        ("Ethan Miller", {"Ethan Miller"}),
        ("MILLER, Ethan", {"Ethan Miller"}),
        ("Miller Ethan", {"Ethan Miller"}),
        ("ethan mil", {"Ethan Miller"}),
        ("Müller", {"Anna Müller"}),
        ("Mueller", {"Anna Müller"}),
        ("muller anna", {"Anna Müller"}),
        ("Bob Klein", {"Robert Klein"}),
        ("bob", {"Robert Klein"}),
        ("García Márquez", {"José García Márquez"}),
        ("jose marquez", {"José García Márquez"}),
        ("Li Wei", {"Li Wei"}),
    ],
)
def test_a_name_alone_lists_whom_we_know(
    session: Session, people: dict[str, str], typed: str, names: set[str]
) -> None:
    assert set(found(session, people, typed)) == names


@pytest.mark.parametrize(
    "typed",
    [
        "northlight",
        "Northlight Labs",
        "northlight labs gmbh",
        "northl",
        "northlight.example",
        "northlight lab",
    ],
)
def test_a_company_alone_lists_its_people(session: Session, people: dict[str, str], typed: str) -> None:
    result = typed_people.find(session, typed)

    assert {people[contact_id] for contact_id in result.people} == set(TEAM["northlight"])
    assert [company.name for company in result.companies] == ["Northlight Labs GmbH"]
    assert not result.is_more


@pytest.mark.parametrize(
    "typed",
    [
        "Ethan northlight",
        "Ethan Miller at Northlight Labs",
        "Ethan Miller, Northlight",
        "northlight ethan",
        "Miller @ northlight.example",
        "Ethan Milller northlight labs",
        "eth north",
    ],
)
def test_a_name_and_a_company_find_the_person_first(
    session: Session, people: dict[str, str], typed: str
) -> None:
    assert found(session, people, typed)[:1] == ["Ethan Miller"]


@pytest.mark.parametrize("typed", ["", "  ", "e", "et", "%", "_th", "zzz", "…", "x" * 5000, "eth%n", "\\"])
def test_what_says_too_little_or_means_nobody_finds_nobody(
    session: Session, people: dict[str, str], typed: str
) -> None:
    assert found(session, people, typed) == []


def test_who_has_exactly_the_name_comes_first(session: Session) -> None:
    company = a_company(session)
    for name in ("Ada Lovelace Byron", "Ada Lovelace"):
        a_contact(session, company, name)
    session.flush()

    first, _ = typed_people.find(session, "Ada Lovelace").people

    assert session.get_one(Contact, first).full_name == "Ada Lovelace"


def test_more_people_than_are_listed_are_said(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_people, "MAX_FOUND", 2)
    company = a_company(session, "Northlight")
    for number in range(4):
        a_contact(session, company, f"Ada Low{chr(97 + number)}")
    a_contact(session, a_company(session, "Northlight Two", domain="two.example"), "Bo Li")
    session.flush()

    by_name, by_company = typed_people.find(session, "Ada"), typed_people.find(session, "northlight")

    assert (len(by_name.people), by_name.is_more) == (2, True)
    assert (len(by_company.people), by_company.is_more) == (2, True)


def test_nothing_is_stored(session: Session) -> None:
    assert typed_people.find(session, "Ethan at Northlight") == Typed([], is_more=False, companies=[])
