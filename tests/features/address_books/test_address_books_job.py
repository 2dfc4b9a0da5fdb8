"""Workers that read the files of address books."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from address_book_support import a_book, cards
from jobs_support import at_once
from sqlalchemy import func, select
from worker_harness import WorkerHarness, worker_harness

from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.work.items import WorkItem
from app.features.address_books import books, contact_files, readings, work
from app.features.address_books.books import SentFile
from app.features.address_books.tables import AddressBook, AddressBookFile, AddressBookPerson
from app.infra import clock
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import shutdown_flag

MANY = [f"Ada{number} Ray" for number in range(5)]


@pytest.fixture
def harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    monkeypatch.setattr(work, "BATCH", 2)
    return worker_harness(settings, database, monkeypatch)


def sent(harness: WorkerHarness, content: bytes) -> str:
    """Insert an address book with a file that no worker has seen; return its id."""
    with harness.database.transaction() as session:
        file = SentFile(content=content)
        return books.create(
            session, harness.workspace_id, "Contacts", file, account_id="acc_1", now=clock.now()
        )[0].id


def turn(harness: WorkerHarness, book_id: str) -> AddressBook:
    """Give a worker one turn at the book, when it is due; return the book."""
    harness.clock.now += timedelta(minutes=1)
    with suppress(RuntimeError):  # of a test that lets it fail
        work.read_address_book(book_id, harness.services)
    with harness.database.reading() as session:
        return session.get_one(AddressBook, book_id)


def stored(harness: WorkerHarness) -> tuple[int, int]:
    """Return how many people and files are stored."""
    with harness.database.reading() as session:
        people, files = (
            session.scalar(select(func.count()).select_from(table))
            for table in (AddressBookPerson, AddressBookFile)
        )
    return people or 0, files or 0


def is_due(harness: WorkerHarness, book_id: str) -> bool:
    with harness.database.reading() as session:
        return session.scalar(select(WorkItem.due_at).where(WorkItem.id == book_id)) is not None


def test_a_file_that_is_sent_twice_at_once_is_one_book(harness: WorkerHarness) -> None:
    ids = at_once(4, lambda _number: sent(harness, cards("Ada Ray")))

    assert len(set(ids)) == 1
    assert stored(harness) == (0, 1)


def test_a_file_is_read_in_batches(harness: WorkerHarness) -> None:
    book = turn(harness, sent(harness, cards(*MANY)))

    assert (book.status, book.people, book.left_out, book.rows_read, book.detail) == ("ready", 5, 0, 0, None)
    assert book.read_at is not None
    assert (stored(harness), is_due(harness, book.id)) == ((5, 0), False)


def test_long_entries_are_read_in_smaller_batches(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "BATCH", 100)
    monkeypatch.setattr(work, "MAX_CHARACTERS", 10)
    stores: list[int] = []
    store = readings.store

    def count(*given: Any, now: Any) -> None:
        stores.append(given[3])
        store(*given, now=now)

    monkeypatch.setattr(readings, "store", count)

    turn(harness, sent(harness, cards(*MANY)))

    assert stores == [1] * 5


def test_a_worker_that_shuts_down_leaves_the_rest_to_another(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    book_id = sent(harness, cards(*MANY))
    with monkeypatch.context() as stopping:
        stopping.setattr(shutdown_flag, "has_begun", lambda: True)
        first = turn(harness, book_id)
    half = (first.status, first.rows_read, first.people, stored(harness), is_due(harness, book_id))

    second = turn(harness, book_id)

    assert half == ("reading", 2, 0, (2, 1), True)
    assert (second.status, second.people, stored(harness)) == ("ready", 5, (5, 0))


def test_a_batch_that_fails_is_read_again_and_nothing_is_stored_twice(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    book_id = sent(harness, cards(*MANY))
    store, calls = readings.store, iter([True, False])

    def fail_at_the_second(*given: Any, now: Any) -> None:
        if not next(calls):
            raise RuntimeError
        store(*given, now=now)

    with monkeypatch.context() as failing:
        failing.setattr(readings, "store", fail_at_the_second)
        turn(harness, book_id)
    book = turn(harness, book_id)

    assert (book.status, book.people, stored(harness)) == ("ready", 5, (5, 0))


def test_a_file_at_which_every_worker_fails_is_given_up(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: Any, **_named: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(readings, "store", fail)
    book_id = sent(harness, cards(*MANY))

    for _ in range(books.READING.max_attempts + 1):
        book = turn(harness, book_id)

    assert (book.status, book.detail, stored(harness)) == ("failed", readings.GIVEN_UP, (0, 0))
    assert not is_due(harness, book_id)


def test_a_file_that_cannot_be_read_says_why(harness: WorkerHarness) -> None:
    book = turn(harness, sent(harness, b"Colour,Size\nred,5\nblue,6\nred,7\n"))

    assert (book.status, book.people, book.file_digest) == ("failed", 0, None)
    assert (book.detail or "").startswith("No column with a name")
    assert (stored(harness), is_due(harness, book.id)) == ((0, 0), False)


def test_a_file_with_too_many_contacts_is_refused(harness: WorkerHarness) -> None:
    harness.change_settings(upload_max_rows=4)

    book = turn(harness, sent(harness, cards(*MANY)))

    assert book.detail == "The file has more than 4 contacts. Split it into several books."
    assert stored(harness) == (0, 0)


def test_the_people_of_a_workspace_are_limited(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(books, "MAX_PEOPLE", 5)
    stranger = harness.other_workspace().workspace_id
    with harness.database.transaction() as session:
        a_book(session, harness.workspace_id, {"emails": ["eve@x.com"]}, title="Other")
        a_book(session, stranger, {"emails": ["eve@x.com"]})

    fits = turn(harness, sent(harness, cards(*MANY[:4])))
    book = turn(harness, sent(harness, cards("Bob Ray")))

    assert (fits.status, book.status, book.detail) == ("ready", "failed", readings.FULL)


def test_a_person_who_must_not_be_stored_is_left_out(harness: WorkerHarness) -> None:
    with harness.database.transaction() as session:
        suppressions.suppress(
            session, [Identifier("email", "ada1@x.com")], reason="objection", now=clock.now()
        )

    book = turn(harness, sent(harness, cards(*MANY)))

    assert (book.people, book.left_out, stored(harness)[0]) == (4, 1, 4)


def test_a_book_that_was_deleted_is_not_read(harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    book_id = sent(harness, cards(*MANY))
    read = contact_files.read

    def delete_and_read(content: bytes, **options: Any) -> Any:
        with harness.database.transaction() as session:
            books.remove(session, harness.workspace_id, book_id)
        return read(content, **options)

    monkeypatch.setattr(contact_files, "read", delete_and_read)
    work.read_address_book(book_id, harness.services)

    assert stored(harness) == (0, 0)


def test_a_message_about_a_book_without_a_file_is_ignored(harness: WorkerHarness) -> None:
    book_id = sent(harness, cards(*MANY))
    with harness.database.transaction() as session:
        session.delete(session.get_one(AddressBookFile, book_id))

    assert turn(harness, book_id).status == "reading"
