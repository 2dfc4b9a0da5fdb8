"""A suppressed number of a company hides the number; any other suppressed number hides the person."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from findings_support import NOW, company, email, person, phone

from app.domain.findings import FoundContact, FoundPhone
from app.domain.lists.people_rows import ParsedPerson
from app.engine.contacts import contacts, switchboards
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.lists import ingest
from app.engine.lookups import contact_data
from app.infra.database.session import Session

ACME = company("Acme Inc.", "acme.example")
NUMBER = "+16502530000"
LISTED = Identifier("phone", NUMBER)


def colleagues(number: FoundPhone, *names: str) -> list[FoundContact]:
    return [
        person(name, company=ACME, emails=(email(f"{name[0].lower()}@acme.example"),), phones=(number,))
        for name in names
    ]


def suppress(session: Session) -> None:
    suppressions.suppress(session, [LISTED], reason="asked", now=NOW)


def shown(session: Session, workspace_id: str, contact: Contact) -> tuple[bool, int, int]:
    """Return whether the contact is suppressed, and how many addresses and numbers are shown."""
    session.expire_all()
    data = contact_data.load(session, workspace_id, [contact])
    addresses, numbers = data.emails.get(contact.id, ()), data.phones.get(contact.id, ())
    return data.is_suppressed(contact), len(addresses), len(numbers)


@pytest.mark.parametrize(
    ("number", "names"),
    [
        (phone(NUMBER, type="work"), ("Ada Ray", "Bob Low")),
        (phone(NUMBER, type="other"), ("Ada Ray", "Bob Low", "Cy Dee")),
        (phone(NUMBER, type="hq"), ("Ada Ray",)),
    ],
)
def test_the_suppressed_number_of_a_company_is_hidden_and_its_people_are_not(
    session: Session, workspace_id: str, number: FoundPhone, names: tuple[str, ...]
) -> None:
    people = [contacts.upsert(session, found, now=NOW) for found in colleagues(number, *names)]
    before = [shown(session, workspace_id, contact) for contact in people]

    suppress(session)

    assert before == [(False, 1, 1)] * len(names)
    assert [shown(session, workspace_id, contact) for contact in people] == [(False, 1, 0)] * len(names)
    assert switchboards.suppressed_people(session, [LISTED]) == set()


@pytest.mark.parametrize(
    ("number", "names"),
    [
        (phone(NUMBER, type="work"), ("Ada Ray",)),
        (phone(NUMBER, type="mobile"), ("Ada Ray", "Bob Low")),
        (phone(NUMBER, type="direct"), ("Ada Ray", "Bob Low")),
        (phone("+4915112345678", type="work"), ("Ada Ray", "Bob Low")),  # a mobile by its numbering plan
    ],
)
def test_any_other_suppressed_number_hides_the_person(
    session: Session, workspace_id: str, number: FoundPhone, names: tuple[str, ...]
) -> None:
    people = [contacts.upsert(session, found, now=NOW) for found in colleagues(number, *names)]

    suppressions.suppress(session, [Identifier("phone", number.e164)], reason="asked", now=NOW)

    assert all(shown(session, workspace_id, contact)[0] for contact in people)


def test_a_person_who_is_stored_twice_under_one_name_is_one_person(
    session: Session, workspace_id: str
) -> None:
    number = phone(NUMBER, type="work")
    twice = [
        contacts.upsert(
            session, person(company=employer, emails=(email(address),), phones=(number,)), now=NOW
        )
        for employer, address in ((ACME, "ada@acme.example"), (company("Beta"), "ada@beta.example"))
    ]

    suppress(session)

    assert twice[0].id != twice[1].id
    assert all(shown(session, workspace_id, contact)[0] for contact in twice)


@pytest.fixture
def imported(session: Session) -> Callable[..., dict[str, int]]:
    def ingested(*found: FoundContact) -> dict[str, int]:
        result = ingest.ingest_contacts(session, [ParsedPerson(record) for record in found], now=NOW)
        return {name: count for name, count in result.counts.items() if count}

    return ingested


def test_a_list_with_a_suppressed_switchboard_loses_the_number_only(
    session: Session, imported: Callable[..., dict[str, int]]
) -> None:
    suppress(session)
    number = phone(NUMBER, type="work")

    assert imported(*colleagues(number, "Ada Ray", "Bob Low")) == {"new": 2}
    assert imported(*colleagues(number, "Cy Dee")) == {"suppressed": 1}


def test_a_person_with_a_suppressed_number_of_their_own_is_not_imported(
    session: Session, imported: Callable[..., dict[str, int]]
) -> None:
    suppress(session)

    assert imported(*colleagues(phone(NUMBER, type="mobile"), "Ada Ray", "Bob Low")) == {"suppressed": 2}
