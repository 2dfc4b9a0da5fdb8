from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from address_book_support import a_book
from jobs_support import NOW, a_workspace
from sqlalchemy import select
from stored_support import a_company, a_contact, an_email

from app.domain.normal.names.name_keys import person_key
from app.domain.records.person_matcher import PersonMatcher
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.suppressions.suppressions import ERASED
from app.engine.own_records import own_verifications
from app.engine.own_records.own_verifications import OwnVerification, Verdict
from app.engine.privacy import erased_people, erasure, person_data, reencryption
from app.engine.privacy.erasure import ErasurePlan
from app.features.address_books import books, personal_data, readings
from app.features.address_books.books import SentFile
from app.features.address_books.files import FILES
from app.features.address_books.tables import (
    AddressBook,
    AddressBookFile,
    AddressBookKey,
    AddressBookPerson,
)
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from app.infra.database.session import Session

PROFILE = "https://www.linkedin.com/in/ada-lovelace"
EMAIL = Identifier("email", "ada@acme.com")
ADA: dict[str, Any] = {"name": "Ada Lovelace", "emails": [EMAIL.value], "company": "Acme Engines"}
BOB: dict[str, Any] = {"name": "Bob Ray", "emails": ["bob@ray.example"]}
ONLY_NEW = DigestKeys(b"another key", b"another key", ((7, b"7" * 32),))


@pytest.fixture
def ada(session: Session) -> Contact:
    contact = a_contact(session, a_company(session))
    an_email(session, contact, EMAIL.value)
    return contact


def follow(session: Session) -> ErasurePlan:
    return erasure.plan(session, erasure.find_contacts(session, [EMAIL], ()), [EMAIL])


def test_a_person_sees_the_address_books_of_all_workspaces_and_is_deleted_from_them(
    session: Session, workspace_id: str, ada: Contact
) -> None:
    a_book(session, workspace_id, ADA, BOB)
    a_book(session, a_workspace(session), ADA, title="Of ada@acme.com")
    plan = follow(session)

    shown = person_data.collect(session, [ada], plan)["address_book_people"]
    erasure.erase(session, plan, now=NOW)

    assert (plan.counts["address_book_people"], plan.counts["notes"]) == (2, 1)
    assert [(row["address_book"], row["values"]["name"]) for row in shown] == [
        ("Contacts", "Ada Lovelace"),
        ("Of ada@acme.com", "Ada Lovelace"),
    ]
    assert [row.person["name"] for row in session.scalars(select(AddressBookPerson))] == ["Bob Ray"]
    assert {row.matched_on for row in session.scalars(select(AddressBookKey))} == {"email", "name"}
    books_left = session.scalars(
        select(AddressBook).order_by(AddressBook.id).execution_options(populate_existing=True)
    )
    assert [book.title == book.id for book in books_left] == [False, True]


@pytest.mark.parametrize(
    ("profiles", "rows"), [([], 1), ([PROFILE], 1), (["https://www.linkedin.com/in/another-ada"], 0)]
)
def test_a_person_is_found_by_name_and_company_unless_the_profile_is_another(
    session: Session, workspace_id: str, profiles: list[str], rows: int
) -> None:
    a_book(session, workspace_id, ADA | {"profiles": profiles})
    matcher = PersonMatcher(
        linkedin_urls=frozenset([PROFILE]), names=frozenset([(person_key("Ada Lovelace"), "acme.com")])
    )

    assert personal_data.find(session, matcher).rows == rows


def test_a_file_and_people_are_encrypted_under_the_new_key(session: Session, workspace_id: str) -> None:
    a_book(session, workspace_id, ADA)
    file = SentFile(content=b"BEGIN:VCARD")
    book, _is_new = books.create(session, workspace_id, "New", file, account_id="acc_1", now=NOW)
    session.expire_all()
    session._keys = replace(session.keys, encryption=ONLY_NEW.encryption)  # noqa: SLF001 -- set once otherwise

    first = reencryption.encrypt_next(session, AddressBookFile.__tablename__, now=NOW)

    stored = session.scalars(select(AddressBookFile.content)).one()
    assert (first, stored[0]) == (True, 7)
    assert FILES.decrypted(session, book.id, stored) == b"BEGIN:VCARD"
    assert AddressBookPerson.__tablename__ in reencryption.names()
    assert not FILES.encrypt_next(session)


def test_an_erasure_waits_for_workers_that_read_a_file(session: Session, workspace_id: str) -> None:
    a_book(session, workspace_id, ADA)

    readings.await_writers(session)

    assert personal_data.find(session, PersonMatcher()).rows == 0


def test_the_verdicts_on_all_addresses_of_an_erased_entry_are_deleted(
    session: Session, workspace_id: str
) -> None:
    a_book(session, workspace_id, {**ADA, "emails": (EMAIL.value, "ada@home.example")})
    verdict = Verdict("valid", NOW)
    own_verifications.store(session, workspace_id, {EMAIL.value: verdict, "ada@home.example": verdict})

    erasure.erase(session, follow(session), now=NOW)

    assert session.scalars(select(OwnVerification)).all() == []


def test_an_erased_person_who_came_back_with_a_backup_is_erased_again(database: Database) -> None:
    with database.transaction() as session:
        a_book(session, a_workspace(session), ADA, BOB)
        suppressions.suppress(session, [EMAIL], reason=ERASED, now=NOW)

    erased = erased_people.erase_again(database)

    with database.reading() as session:
        left = [row.person["name"] for row in session.scalars(select(AddressBookPerson))]
    assert (erased["address_book_people"], left) == (1, ["Bob Ray"])
