"""Lookups, and own records, of people in the address books of a workspace."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from address_book_support import a_book
from jobs_support import NOW, a_workspace
from sqlalchemy import select
from stored_support import ADA_URL, statements

from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records import own_records as port
from app.features.address_books import lookup, own_records, people
from app.features.address_books.lookup import BookRecords
from app.features.address_books.tables import AddressBook, AddressBookPerson
from app.infra.clock import rfc3339
from app.infra.database.session import Session
from app.settings import Settings

ADA: dict[str, Any] = {
    "name": "Ada Lovelace",
    "company": "Acme Engines",
    "emails": ["ada@acme.com"],
    "phones": ["+442079460123"],
    "changed_at": NOW,
}
OTHER_URL = "https://www.linkedin.com/in/another-ada"


def looked_up(workspace_id: str, **fields: Any) -> LookedUp:
    return LookedUp(workspace_id=workspace_id, **fields)


def entries(session: Session, person: LookedUp) -> list[dict[str, Any]]:
    (found,) = lookup.LOOKUP.load(Settings.__new__(Settings))(session, [person])
    shown: list[dict[str, Any]] = found["address_books"]
    return shown


def test_a_result_has_the_entry_of_the_person(session: Session, workspace_id: str) -> None:
    book = a_book(session, workspace_id, ADA, {"emails": ["bob@x.com"]})

    found = entries(session, looked_up(workspace_id, emails=["ada@acme.com"], phones=["+442079460123"]))

    assert found == [
        {
            "book_id": book.id,
            "book": "Contacts",
            "matched_on": ["email", "phone"],
            "has": ["email", "phone"],
            "emails": ["ada@acme.com"],
            "phones": ["+442079460123"],
            "changed_at": rfc3339(NOW),
        }
    ]


@pytest.mark.parametrize("found", [True, False])
def test_a_namesake_with_another_profile_is_somebody_else(
    session: Session, workspace_id: str, *, found: bool
) -> None:
    a_book(session, workspace_id, ADA | {"profiles": [ADA_URL]})
    profiles = [] if found else [OTHER_URL]

    person = looked_up(workspace_id, name="Ada Lovelace", companies=["Acme Engines"], profiles=profiles)

    assert [entry["matched_on"] for entry in entries(session, person)] == [["name"]] * found


def test_each_workspace_of_a_group_sees_its_own_address_books(session: Session, workspace_id: str) -> None:
    other = a_workspace(session)
    a_book(session, workspace_id, ADA, title="Mine")
    a_book(session, other, ADA, title="Theirs")
    third = a_workspace(session)

    found = BookRecords()(
        session, [looked_up(each, emails=["ada@acme.com"]) for each in (workspace_id, other, third)]
    )

    titles = [[entry["book"] for entry in fields["address_books"]] for fields in found]
    assert titles == [["Mine"], ["Theirs"], []]


def test_nobody_is_searched_while_no_workspace_has_an_address_book(
    session: Session, workspace_id: str
) -> None:
    find, group = BookRecords(), [looked_up(workspace_id, emails=["ada@acme.com"])] * 3
    find(session, group)

    with statements(session.get_bind()) as executed:
        found = find(session, group)

    assert (found, executed) == ([{"address_books": []}] * 3, [])


def test_a_group_of_any_size_costs_one_statement_and_one_more_if_anybody_is_found(
    session: Session, workspace_id: str
) -> None:
    a_book(session, workspace_id, ADA)
    find = BookRecords()
    nobody = [looked_up(workspace_id, emails=[f"{number}@x.com"]) for number in range(500)]
    find(session, nobody)
    counts = []

    for group in (nobody, [*nobody, looked_up(workspace_id, emails=["ada@acme.com"])]):
        with statements(session.get_bind()) as executed:
            find(session, group)
        counts.append(len(executed))

    assert counts == [1, 2]


def test_a_person_who_was_suppressed_since_is_not_shown(session: Session, workspace_id: str) -> None:
    a_book(session, workspace_id, ADA)
    suppressions.suppress(session, [Identifier("phone", "+442079460123")], reason="opted_out", now=NOW)

    assert entries(session, looked_up(workspace_id, emails=["ada@acme.com"])) == []


def test_many_entries_about_one_person_are_cut(session: Session, workspace_id: str) -> None:
    a_book(session, workspace_id, *[ADA] * (lookup.MAX_RECORDS + 1))

    found = entries(session, looked_up(workspace_id, emails=["ada@acme.com"]))

    assert len(found) == lookup.MAX_RECORDS


def test_values_are_stored_encrypted(session: Session, workspace_id: str) -> None:
    a_book(session, workspace_id, ADA)

    (stored,) = session.connection().exec_driver_sql("SELECT person FROM address_book_people").scalars()

    assert [value for value in ("Ada Lovelace", "ada@acme.com") if value in str(stored)] == []


def test_people_of_a_file_that_is_being_read_are_not_found(session: Session, workspace_id: str) -> None:
    book = a_book(session, workspace_id, ADA)
    people.store(session, book, book.revision + 1, [people.BookPerson(emails=["bob@x.com"])])
    bob = looked_up(workspace_id, emails=["bob@x.com"])
    before = entries(session, bob)

    people.keep_only(session, book.id, book.revision + 1)
    book.revision += 1

    assert (before, len(entries(session, bob))) == ([], 1)
    assert len(session.scalars(select(AddressBookPerson.id)).all()) == 1


def test_own_records_have_the_entry_and_how_certain_it_is(
    session: Session, workspace_id: str, settings: Settings
) -> None:
    book = a_book(session, workspace_id, ADA, {"name": "Bob Ray", "phones": ["+16502530000"]})
    find = port.load_all(settings)[own_records.SOURCE]

    ada, bob, nobody = find(
        session,
        [
            looked_up(workspace_id, emails=["ada@acme.com"]),
            looked_up(workspace_id, name="Eve Ray", phones=["+16502530000"]),
            looked_up(workspace_id, emails=["x@x.com"]),
        ],
    )

    assert (ada[0].source, ada[0].system, ada[0].title, ada[0].url) == (
        "address_book",
        book.id,
        "Contacts",
        None,
    )
    assert (list(ada[0].emails), list(ada[0].phones)) == (ADA["emails"], ADA["phones"])
    assert (ada[0].changed_at, ada[0].is_certain, bob[0].is_certain, list(nobody)) == (NOW, True, False, [])


def test_an_own_record_without_a_date_or_with_a_later_one_is_as_new_as_its_file(
    session: Session, workspace_id: str, settings: Settings
) -> None:
    dated, read_at, later = NOW - timedelta(days=900), NOW, NOW + timedelta(days=900)
    entries = [{"emails": ["bob@x.com"]}, {"emails": ["eve@x.com"], "changed_at": later}]
    a_book(session, workspace_id, ADA | {"changed_at": dated}, *entries)
    addresses = ("ada@acme.com", "bob@x.com", "eve@x.com")

    found = port.load_all(settings)[own_records.SOURCE](
        session, [looked_up(workspace_id, emails=[email]) for email in addresses]
    )

    assert [record.changed_at for records in found for record in records] == [dated, read_at, read_at]


def test_a_namesake_is_no_own_record(session: Session, workspace_id: str, settings: Settings) -> None:
    a_book(session, workspace_id, ADA | {"profiles": [ADA_URL]})
    person = looked_up(workspace_id, name="Ada Lovelace", companies=["Acme Engines"], profiles=[OTHER_URL])

    (found,) = port.load_all(settings)[own_records.SOURCE](session, [person])

    assert list(found) == []


def test_a_deleted_workspace_has_no_address_books(session: Session, workspace_id: str) -> None:
    book = a_book(session, workspace_id, ADA)
    session.delete(book)
    session.flush()

    assert session.scalars(select(AddressBook.id)).all() == []
    assert session.scalars(select(AddressBookPerson.id)).all() == []
