"""Deletion of uploaded lists: at once, after their retention, and of one person."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select
from upload_support import Uploader, a_list, addresses, people, uploader
from worker_harness import worker_harness

from app.core.contacts.suppression_digests import Identifier
from app.core.privacy import erasure
from app.core.uploads import uploads
from app.core.uploads.upload_tables import Upload, UploadRow
from app.infra import clock
from app.infra.db import Database
from app.settings import Settings


@pytest.fixture
def ada(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    return uploader(worker_harness(settings, database, monkeypatch))


def count(ada: Uploader, table: type[Upload | UploadRow]) -> int:
    with ada.harness.database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def purge(ada: Uploader, age: timedelta) -> None:
    with ada.harness.database.transaction() as session:
        uploads.purge_expired(session, before=clock.now() - age)


def erase(ada: Uploader, address: str) -> erasure.ErasurePlan:
    identifiers = [Identifier("email", address)]
    with ada.harness.database.transaction() as session:
        contacts = erasure.find_contacts(session, identifiers, ())
        plan = erasure.plan(session, contacts, identifiers)
        erasure.erase(session, plan, now=clock.now())
    return plan


def test_an_upload_is_deleted_with_its_rows_after_its_retention(ada: Uploader) -> None:
    ada.ready(a_list(*people(3)))
    ada.harness.clock.now += timedelta(days=30)
    purge(ada, timedelta(days=31))
    kept = count(ada, Upload)

    purge(ada, timedelta(days=29))

    assert kept == 1
    assert (count(ada, Upload), count(ada, UploadRow)) == (0, 0)


def test_an_upload_with_open_jobs_is_kept(ada: Uploader) -> None:
    upload_id = ada.ready(a_list(*people(3)))
    ada.start(upload_id)
    ada.turn(upload_id)

    ada.harness.clock.now += timedelta(days=31)
    purge(ada, timedelta(days=30))

    assert count(ada, Upload) == 1


def test_lists_are_not_kept_longer_than_the_jobs_that_hold_their_results() -> None:
    assert uploads.retention(30, 8) == timedelta(days=8)


def test_an_erased_person_leaves_an_empty_row_and_is_not_submitted(ada: Uploader) -> None:
    ada.know(*addresses(2))
    upload_id = ada.ready(a_list(*people(2), ("Cy", "cy@acme.com", "knows PERSON.0@ACME.com")))
    plan = erase(ada, "person.0@acme.com")
    ada.start(upload_id)

    ada.run(upload_id)

    rows = ada.results(upload_id)
    assert plan.counts["upload_rows"] == 2
    assert [(row.cells, row.outcome) for row in rows] == [
        ((), "suppressed"),
        (("Person 1", "person.1@acme.com", "note 1"), "found"),
        ((), "suppressed"),
    ]
    assert len(ada.csv(upload_id)[1]) == len(ada.csv(upload_id)[0])


def test_an_erased_person_is_removed_from_a_finished_result(ada: Uploader) -> None:
    ada.know(*addresses(2))
    upload_id = ada.ready(a_list(*people(2)))
    ada.start(upload_id)
    ada.run(upload_id)

    erase(ada, "person.0@acme.com")

    assert "person.0" not in str(ada.csv(upload_id)).lower()
    assert [row.email for row in ada.results(upload_id)] == [None, "person.1@acme.com"]


def test_nothing_from_which_an_erased_person_could_be_guessed_stays_in_the_upload(ada: Uploader) -> None:
    upload_id = ada.upload(a_list(*people(1)), file_name="person.0@acme.com.csv")
    ada.turn(upload_id)
    ada.turn(upload_id)

    erase(ada, "person.0@acme.com")

    with ada.harness.database.reading() as session:
        row = session.scalars(select(UploadRow)).one()
    assert (row.cells, row.subject, row.person) == ([], None, None)
    assert ada.get(upload_id).file_name == upload_id


def test_a_person_who_is_erased_while_their_row_is_resolved_is_not_asked_for_again(ada: Uploader) -> None:
    upload_id = ada.ready(a_list(*people(2)))
    ada.start(upload_id)
    ada.turn(upload_id)
    erase(ada, addresses(1)[0])

    upload = ada.run(upload_id)

    assert upload.status == "finished"
    assert ada.results(upload_id)[0].outcome == "suppressed"
