"""Uploads at which every worker fails: they end in one state that says why, and hold no other list up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from upload_support import Uploader, a_list, people, uploader
from worker_harness import worker_harness

from app.domain.errors import Unavailable
from app.domain.lists.headers import upload_columns
from app.domain.lists.headers.column_mapping import ColumnMapping
from app.domain.lists.people_rows import ParsedPerson
from app.domain.lists.row_values import RowValues
from app.engine.accounts import workspaces
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.work import items
from app.engine.work.items import WorkItem
from app.engine.work.turns import Turn
from app.features.uploads import collection, erasure, row_store
from app.features.uploads.dispatch import ADVANCING
from app.features.uploads.row_reader import NOT_READ, RowReader
from app.features.uploads.tables import Upload, UploadStatus
from app.features.uploads.turn import pricing
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution import maintenance

ERASED = Identifier("email", "person.1@acme.com")
WITH_PHONES = ("Name", "Work email", "Phone")


@pytest.fixture
def ada(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    return uploader(worker_harness(settings, database, monkeypatch))


def failing(*_arguments: object, **_options: object) -> None:
    raise IndexError


def unavailable(*_arguments: object, **_options: object) -> None:
    raise Unavailable


def attempt(ada: Uploader, upload_id: str) -> None:
    """Give a worker one turn, whose failure is logged as in production."""
    maintenance.attempt(lambda: ada.turn(upload_id), step="upload")


def exhaust(ada: Uploader, upload_id: str) -> Upload:
    for _ in range(ADVANCING.max_attempts + 1):
        attempt(ada, upload_id)
    return ada.get(upload_id)


def given_up_uploads(ada: Uploader) -> int:
    with ada.harness.database.reading() as session:
        return items.failed_counts(session, now=database_clock.value(session))["upload"]


def balance(ada: Uploader) -> tuple[int, int]:
    with ada.harness.database.reading() as session:
        found = workspaces.balance(session, ada.harness.workspace_id)
        return found.available, found.held


def read_one(ada: Uploader, rows: int = 3) -> str:
    upload_id = ada.upload(a_list(*people(rows)))
    ada.turn(upload_id)
    return upload_id


def test_a_list_that_cannot_be_priced_fails_and_says_why(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_id = read_one(ada)
    monkeypatch.setattr(RowReader, "of", failing)

    failed = exhaust(ada, upload_id)

    assert (failed.status, failed.reason, ada.due_at(upload_id)) == (
        UploadStatus.FAILED,
        "processing_failed",
        None,
    )
    assert failed.detail is not None
    assert "5 times" in failed.detail
    assert given_up_uploads(ada) == 1


def test_a_file_that_cannot_be_read_to_its_end_fails_without_its_rows(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_store, "finish_reading", failing)
    upload_id = ada.upload(a_list(*people(3)))

    failed = exhaust(ada, upload_id)

    assert (failed.status, failed.reason, failed.header) == (UploadStatus.FAILED, "processing_failed", [])
    with ada.harness.database.reading() as session:
        assert row_store.sample(session, upload_id, limit=9) == []


def test_a_running_list_pauses_and_charges_only_what_was_found(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada.know(*[address for _name, address, _note in people(3)])
    upload_id = ada.ready(a_list(*people(3)))
    ada.start(upload_id)
    ada.turn(upload_id)
    before = balance(ada)
    collect = collection.collect
    monkeypatch.setattr(collection, "collect", failing)

    paused = exhaust(ada, upload_id)
    exhausted_again = exhaust(ada, upload_id)
    monkeypatch.setattr(collection, "collect", collect)
    ada.start(upload_id)
    finished = ada.run(upload_id)

    assert (paused.status, paused.reason) == (UploadStatus.PAUSED, "processing_failed")
    assert exhausted_again.status == UploadStatus.PAUSED
    assert before[1] > 0
    assert (finished.status, finished.reason, finished.charged) == (UploadStatus.FINISHED, None, 3)
    assert balance(ada) == (sum(before) - 3, 0)


def test_a_canceled_list_that_cannot_be_counted_stays_canceled(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_id = ada.ready(a_list(*people(3)))
    ada.start(upload_id)
    ada.cancel(upload_id)
    monkeypatch.setattr(collection, "collect", failing)

    canceled = exhaust(ada, upload_id)

    assert (canceled.status, ada.due_at(upload_id)) == (UploadStatus.CANCELED, None)


def test_other_lists_of_the_workspace_do_not_wait_behind_a_failing_one(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = read_one(ada), read_one(ada)
    price = pricing.price

    def price_good(turn: Turn, *arguments: Any) -> bool:
        if turn.id == bad:
            failing()
        return price(turn, *arguments)

    monkeypatch.setattr(pricing, "price", price_good)
    attempt(ada, bad)
    with ada.harness.database.transaction() as session:
        published = items.claim_due(session, ADVANCING, now=clock.now())

    ada.turn(good)

    assert published == [good]
    assert ada.get(good).status == UploadStatus.READY


def test_a_database_outage_is_no_fault_of_the_list(ada: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    upload_id = read_one(ada)
    monkeypatch.setattr(pricing, "price", unavailable)

    attempt(ada, upload_id)

    assert ada.get(upload_id).status == UploadStatus.PRICING
    with ada.harness.database.reading() as session:
        item = session.get_one(WorkItem, upload_id)
        assert item.lease_until is not None
        assert item.lease_until > clock.now() + ADVANCING.lease / 2


def test_a_list_with_phones_and_an_erased_person_is_priced(ada: Uploader) -> None:
    with ada.harness.database.transaction() as session:
        suppressions.suppress(session, [ERASED], now=clock.now(), **suppressions.ERASURE)
    rows = [(name, address, "06 12 34 56 78") for name, address, _note in people(3)]

    upload_id = ada.ready(a_list(*rows, header=WITH_PHONES))

    estimate = ada.get(upload_id).estimate
    assert estimate is not None
    assert (estimate["people"], estimate["suppressed"], estimate["invalid"]) == (3, 1, 0)


def test_a_row_at_which_the_program_fails_does_not_cost_the_others(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    person_of = upload_columns.person_of

    def read(row: RowValues, layout: ColumnMapping) -> ParsedPerson:
        if "broken" in row.cells:
            failing()
        return person_of(row, layout)

    monkeypatch.setattr(upload_columns, "person_of", read)

    broken = ("Ruth Person2", "person.2@acme.com", "broken")
    upload_id = ada.ready(a_list(*people(2), broken, *people(1, first=3)))

    assert [row.note for row in ada.results(upload_id)] == [None, None, NOT_READ, None]
    assert ada.get(upload_id).counts["people"] == 3


def test_a_hostile_cell_does_not_hold_a_worker(ada: Uploader) -> None:
    with ada.harness.database.transaction() as session:
        suppressions.suppress(session, [ERASED], now=clock.now(), **suppressions.ERASURE)
    cells = ("/@con_" * 6_000, f"&#{'9' * 5_000};", "\u0301\u0327" * 20_000, "1 " * 20_000)
    rows = [("Ruth Person0", cell, cell) for cell in cells]

    upload_id = ada.ready(a_list(("Ruth Person1", "person.2@acme.com", ""), *rows, header=WITH_PHONES))

    assert ada.get(upload_id).counts["people"] == 1


def test_rows_with_long_cells_are_read_and_priced_in_smaller_batches(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_store, "MAX_CHARACTERS", 50)
    stored = []
    add = row_store.add

    def counted(*arguments: Any, **options: Any) -> None:
        stored.append(len(arguments[4]))
        return add(*arguments, **options)

    monkeypatch.setattr(row_store, "add", counted)

    upload_id = ada.ready(a_list(*people(5)))

    assert stored == [2, 2, 1]
    assert ada.get(upload_id).counts["people"] == 5


def test_a_row_is_searched_for_erased_people_with_no_transaction_open(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ada.harness.database.transaction() as session:
        suppressions.suppress(session, [ERASED], now=clock.now(), **suppressions.ERASURE)
    opened = []
    transaction = ada.harness.database.transaction
    search = erasure.mentioned_in

    @contextmanager
    def counted(**options: Any) -> Iterator[Session]:
        with transaction(**options) as session:
            opened.append(session)
            yield session
            opened.remove(session)

    def searched(rows: Iterable[Sequence[str]]) -> list[erasure.RowMentions]:
        assert not opened
        return search(rows)

    monkeypatch.setattr(ada.harness.database, "transaction", counted)
    monkeypatch.setattr(erasure, "mentioned_in", searched)

    upload_id = ada.ready(a_list(*people(3)))

    assert ada.get(upload_id).counts["suppressed"] == 1
