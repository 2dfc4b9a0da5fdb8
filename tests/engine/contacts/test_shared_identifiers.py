"""Identifiers that lists have for several people join nobody; namesakes are two people."""

from __future__ import annotations

import pytest
from findings_support import ADA, BOB, NOW, company, email, person, phone
from sqlalchemy import select

from app.domain.findings import EmailStatus, FoundContact
from app.domain.lists.warning_kinds import NAMESAKE, SHARED_ADDRESS, SHARED_NUMBER, SHARED_PROFILE
from app.engine.contacts import contacts, emails
from app.engine.contacts.contacts import Contact
from app.infra.database.session import Session

ACME = company("Acme Inc.", "acme.example")


def codes(session: Session, *records: FoundContact) -> list[tuple[str, ...]]:
    """Return the warnings about each record of one batch."""
    return [result.conflicts for result in contacts.upsert_many(session, records, now=NOW)]


def people(session: Session) -> list[tuple[str | None, str | None]]:
    query = select(Contact.full_name, Contact.linkedin_url).order_by(Contact.id)
    return [tuple(row) for row in session.execute(query)]


def test_people_of_one_list_with_one_profile_are_people_without_a_profile(session: Session) -> None:
    records = [
        person("Ada Lovelace", linkedin_url=ADA, emails=(email("ada@acme.example"),)),
        person("Bob Byron", linkedin_url=ADA, emails=(email("bob@beta.example"),)),
        person("Cy Dee", linkedin_url=BOB, emails=(email("cy@dee.example"),)),
    ]

    first = codes(session, *records)
    again = codes(session, *records)

    assert first == again == [(SHARED_PROFILE,), (SHARED_PROFILE,), ()]
    assert people(session) == [("Ada Lovelace", None), ("Bob Byron", None), ("Cy Dee", BOB)]


def test_a_profile_that_a_later_list_has_for_somebody_else_joins_only_people_of_its_name(
    session: Session,
) -> None:
    ada = contacts.upsert(session, person("Ada Lovelace", linkedin_url=ADA), now=NOW)
    other = codes(session, person("Bob Byron", linkedin_url=ADA, emails=(email("bob@beta.example"),)))

    nameless = contacts.upsert(session, person(None, linkedin_url=ADA), now=NOW)
    again = contacts.upsert(session, person("Ada Lovelace", linkedin_url=ADA), now=NOW)

    assert other == [(SHARED_PROFILE,)]
    assert again.id == ada.id
    assert again.linkedin_shared
    assert nameless.id != ada.id


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ("Ada Lovelace", "Ada King"),  # after a marriage
        ("Robert Byron", "Bob Byron"),
        ("Иван Петров", "Ivan Petrov"),
        ("Ada Lovelace", "A. Lovelace"),
        ("Ada Lovelace", None),
    ],
)
def test_a_profile_with_another_form_of_the_name_is_the_same_person(
    session: Session, stored: str, found: str | None
) -> None:
    first = contacts.upsert(session, person(stored, linkedin_url=ADA), now=NOW)

    again = contacts.upsert(session, person(found, linkedin_url=ADA), now=NOW)

    assert again.id == first.id
    assert not again.linkedin_shared


def test_a_record_without_a_name_is_nobody_by_an_address_of_several_people(session: Session) -> None:
    family = email("family@mailbox.example")
    first = codes(session, person("Ada Ray", emails=(family,)), person("Bob Low", emails=(family,)))

    nameless = contacts.upsert(session, person(None, emails=(family,), title="CTO"), now=NOW)

    assert first == [(), (SHARED_ADDRESS,)]
    assert (nameless.full_name, nameless.title) == (None, "CTO")


def test_a_switchboard_is_the_number_of_nobody(session: Session) -> None:
    switchboard = phone("+16502530000")
    codes(session, person("Ada Ray", phones=(switchboard,)), person("Bob Low", phones=(switchboard,)))

    nameless = codes(session, person(None, phones=(switchboard,), title="CTO"))

    assert nameless == [(SHARED_NUMBER,)]
    assert [name for name, _ in people(session)] == ["Ada Ray", "Bob Low", None]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            {"emails": (email("john.smith@acme.example"),), "phones": (phone("+16502530001"),)},
            {"emails": (email("jsmith2@acme.example"),), "phones": (phone("+16502530002"),)},
        ),
        ({"emails": (email("js@acme.example"),)}, {"emails": (email("j.smith@acme.example"),)}),
        (
            {"phones": (phone("+16502530001", type="mobile"),)},
            {"phones": (phone("+16502530002", type="mobile"),)},
        ),
    ],
)
@pytest.mark.parametrize("in_one_list", [True, False])
def test_people_of_one_name_and_company_with_other_addresses_or_numbers_are_two(
    session: Session, first: dict[str, object], second: dict[str, object], *, in_one_list: bool
) -> None:
    records = [person("John Smith", company=ACME, **values) for values in (first, second)]
    batches = [records] if in_one_list else [[record] for record in records]

    found = [code for batch in batches for code in codes(session, *batch)]
    again = codes(session, *records)

    assert found == [(), (NAMESAKE,)]
    assert len(people(session)) == 2
    assert again == [(), ()]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"emails": (email("js@acme.example"),)}, {"emails": (email("js@acme.de"),)}),
        ({"emails": (email("js@acme.example"),)}, {"emails": (email("john@gmail.com", type="personal"),)}),
        ({"emails": (email("js@acme.example"),)}, {"phones": (phone("+16502530002"),)}),
        ({"emails": (email("js@acme.example"),)}, {"emails": (email("info@acme.example"),)}),
        (
            {"emails": (email("js@acme.example", status=EmailStatus.INVALID),)},
            {"emails": (email("john.smith@acme.example"),)},
        ),
        (
            {"emails": (email("js@acme.example"),), "phones": (phone("+16502530001"),)},
            {"emails": (email("john.smith@acme.example"),), "phones": (phone("+16502530001"),)},
        ),
        (
            {"phones": (phone("+16502530001", type="work"),)},
            {"phones": (phone("+16502530002", type="work"),)},
        ),
    ],
)
def test_what_one_person_may_have_makes_nobody_two(
    session: Session, first: dict[str, object], second: dict[str, object]
) -> None:
    one = contacts.upsert(session, person("John Smith", company=ACME, **first), now=NOW)

    again = contacts.upsert(session, person("John Smith", company=ACME, **second), now=NOW)

    assert again.id == one.id


def test_neither_namesake_is_sold_with_the_address_of_the_other(session: Session) -> None:
    records = [
        person("John Smith", company=ACME, emails=(email(address),))
        for address in ("john.smith@acme.example", "jsmith2@acme.example")
    ]
    results = contacts.upsert_many(session, records, now=NOW)

    stored = emails.by_contact(session, [result.contact_id for result in results])

    assert [[row.email for row in stored[result.contact_id]] for result in results] == [
        ["john.smith@acme.example"],
        ["jsmith2@acme.example"],
    ]
