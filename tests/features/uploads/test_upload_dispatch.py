"""Turns of workers with uploaded lists: which are due, and which come too late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from jobs_support import a_workspace
from sqlalchemy import Text, cast, select
from upload_support import Uploader, a_list, people, uploader
from worker_harness import worker_harness

from app.domain.errors import JobExpired, UploadNotReady
from app.domain.ids import new_id
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.engine.jobs.jobs import JobItem
from app.engine.work import items, turns
from app.engine.work.turns import LeaseLost, Turn
from app.features.uploads import collection, erasure, failures, pricing, row_store, uploads
from app.features.uploads.dispatch import ADVANCING
from app.features.uploads.pricing import PricedBatch
from app.features.uploads.row_store import ReadTable
from app.features.uploads.tables import Upload, UploadRow
from app.infra import clock
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings


@pytest.fixture
def ada(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    return uploader(worker_harness(settings, database, monkeypatch))


def claimed(ada: Uploader) -> list[str]:
    with ada.harness.database.transaction() as session:
        return items.claim_due(session, ADVANCING, now=clock.now())


def late(upload: Upload) -> Turn:
    """Return the turn of a worker that has lost the upload to another one."""
    return Turn(ADVANCING, upload.id, "its lease")


def test_of_many_uploads_of_a_workspace_one_is_read_or_priced_at_a_time(ada: Uploader) -> None:
    first, second, third = (ada.upload(a_list(*people(1))) for _ in range(3))
    ada.harness.clock.now += timedelta(seconds=2)
    with ada.harness.database.transaction() as session:
        other = uploads.create(
            session,
            workspace_id=a_workspace(session),
            account_id=ada.account_id,
            api_key_id=None,
            file_name="people.csv",
            content=b"email",
            now=clock.now(),
        ).id

    published = claimed(ada)
    with ada.harness.database.transaction() as session:
        turn = turns.begin(session, ADVANCING, first, now=clock.now())
    assert turn is not None
    during_the_turn = claimed(ada)
    with ada.harness.database.transaction() as session:
        assert turns.begin(session, ADVANCING, second, now=clock.now()) is None  # a message that the API sent
    with ada.harness.database.transaction() as session:
        turns.end(session, turn)
    ada.harness.clock.now += ADVANCING.republish_after
    after_the_turn = claimed(ada)

    assert (published, during_the_turn) == ([first, other], [])
    assert after_the_turn == [second, other]
    assert third not in after_the_turn


def test_the_started_uploads_of_a_workspace_do_not_wait_for_each_other(ada: Uploader) -> None:
    ready = [ada.ready(a_list(*people(1))) for _ in range(2)]
    for upload_id in ready:
        ada.start(upload_id)
    ada.harness.clock.now += ADVANCING.republish_after

    assert sorted(claimed(ada)) == sorted(ready)


def test_a_worker_that_has_lost_its_turn_changes_nothing(ada: Uploader) -> None:
    upload_id = ada.ready(a_list(*people(2)))
    turn = late(ada.get(upload_id))

    table, batch = ReadTable([], [], ",", {}), PricedBatch([{"number": 0}], {}, Counter())
    attempts: list[Callable[[Session], object]] = [
        lambda session: row_store.add(session, turn, table, 0, [], now=clock.now()),
        lambda session: row_store.finish_reading(session, turn, table, 0, now=clock.now()),
        lambda session: pricing.store(session, turn, batch, Counter(), CellWarnings(), now=clock.now()),
        lambda session: pricing.finish(session, turn, {}, None),
        lambda session: failures.end(session, turn, now=clock.now()),
    ]

    for attempt in attempts:
        with pytest.raises(LeaseLost), ada.harness.database.transaction() as session:
            attempt(session)

    assert ada.get(upload_id).status == "ready"
    assert len(ada.results(upload_id)) == 2


def test_a_person_who_is_erased_while_a_row_is_priced_is_not_stored_again(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    price = pricing.price

    def erase_first(session: Session, turn: Turn, *arguments: Any, **options: Any) -> PricedBatch:
        batch = price(session, turn, *arguments, **options)
        with ada.harness.database.transaction() as erasing:
            erasure.clear(erasing, [(turn.id, 0)])
        return batch

    monkeypatch.setattr(pricing, "price", erase_first)

    upload_id = ada.ready(a_list(*people(2)))

    with ada.harness.database.reading() as session:
        columns = UploadRow.cells, UploadRow.subject, UploadRow.person_digest, UploadRow.is_pending
        first, second = session.execute(select(*columns).order_by(UploadRow.number)).all()
    assert tuple(first) == ([], None, None, False)
    assert second.subject is not None
    assert second.is_pending
    assert ada.get(upload_id).status == "ready"


def test_a_deleted_upload_is_not_ended_as_failed(ada: Uploader) -> None:
    turn = Turn(ADVANCING, new_id("upl"), "its lease")

    with pytest.raises(LeaseLost), ada.harness.database.transaction() as session:
        failures.end(session, turn, now=clock.now())


def test_a_deleted_upload_has_no_jobs_to_wait_for(ada: Uploader) -> None:
    with ada.harness.database.transaction() as session:
        are_open = collection.collect(
            session, new_id("upl"), settings=ada.harness.services.settings, now=clock.now()
        )

    assert not are_open


def test_a_started_upload_keeps_its_mapping(ada: Uploader) -> None:
    upload_id = ada.ready(a_list(*people(1)))
    ada.start(upload_id)

    with ada.harness.database.transaction() as session:
        upload = uploads.locked(session, ada.harness.workspace_id, upload_id)
        with pytest.raises(UploadNotReady):
            uploads.map_columns(session, upload, ["email"], ["email"], now=clock.now())


def test_a_finished_upload_cannot_be_canceled(ada: Uploader) -> None:
    upload_id = ada.ready(a_list(*people(1)))
    ada.start(upload_id)
    ada.run(upload_id)

    ada.cancel(upload_id)

    assert ada.get(upload_id).status == "finished"


def test_a_workspace_has_a_limited_number_of_unfinished_uploads(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_OPEN", 1)
    ada.upload(a_list(*people(1)))

    with pytest.raises(UploadNotReady):
        ada.upload(a_list(*people(1)))


def test_the_uploads_of_a_workspace_take_limited_room_until_they_are_deleted(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_id = ada.ready(a_list(*people(3)))
    ada.cancel(upload_id)
    with ada.harness.database.reading() as session:
        stored = session.scalars(select(cast(UploadRow.cells, Text))).all()
    monkeypatch.setattr(uploads, "MAX_SIZE", ada.get(upload_id).size)

    with pytest.raises(UploadNotReady, check=lambda error: error.detail == uploads.NO_ROOM):
        ada.upload(a_list(*people(1)))

    assert ada.get(upload_id).size == sum(map(len, stored))
    with ada.harness.database.transaction() as session:
        uploads.remove(session, uploads.locked(session, ada.harness.workspace_id, upload_id))
    assert ada.upload(a_list(*people(1)))


def test_a_file_is_not_read_if_the_rows_of_others_take_all_room(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (ada.upload(a_list(*people(3))) for _ in range(2))
    monkeypatch.setattr(uploads, "MAX_SIZE", 500)
    ada.turn(first)

    ada.turn(second)

    failed = ada.get(second)
    assert ada.get(first).status == "pricing"
    assert (failed.status, failed.detail, failed.size) == ("failed", uploads.NO_ROOM, 0)


@pytest.mark.parametrize(
    ("error", "note"),
    [
        ({"code": "provider_failed", "title": "Down", "detail": "It is down."}, "It is down."),
        (None, JobExpired.title),
    ],
)
def test_a_row_without_an_outcome_has_failed(ada: Uploader, error: dict[str, str] | None, note: str) -> None:
    upload_id = ada.ready(a_list(*people(1)))
    ada.start(upload_id)
    ada.run(upload_id)
    with ada.harness.database.transaction() as session:
        item = session.scalars(select(JobItem)).one()
        item.outcome = item.result = None
        item.error = error

    [row] = ada.results(upload_id)

    assert (row.outcome, row.note) == ("failed", note)


def test_a_batch_whose_people_were_all_erased_changes_no_row(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pricing, "_without_erased", lambda *_arguments: [])

    upload_id = ada.ready(a_list(*people(2)))

    with ada.harness.database.reading() as session:
        assert set(session.scalars(select(UploadRow.is_pending))) == {False}
    assert ada.get(upload_id).status == "ready"
