"""Deletion of uploaded lists: at once, after their retention, and of one person."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update
from stored_support import a_company
from upload_support import Uploader, a_list, addresses, own_rows, people, uploader
from worker_harness import worker_harness

from app.domain.records.person_matcher import PersonMatcher
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.privacy import erasure, person_data
from app.features.uploads import personal_data, uploads
from app.features.uploads.tables import Upload, UploadRow
from app.infra import clock
from app.infra.database.db import Database
from app.settings import Settings
from workers.jobs import upkeep


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


def erase_and_suppress(ada: Uploader, address: str) -> None:
    with ada.harness.database.transaction() as session:
        suppressions.suppress(
            session, [Identifier("email", address)], now=clock.now(), **suppressions.ERASURE
        )
    erase(ada, address)


def test_an_upload_is_deleted_with_its_rows_after_its_retention(ada: Uploader) -> None:
    ada.ready(a_list(*people(3)))
    ada.harness.clock.now += timedelta(days=30)
    purge(ada, timedelta(days=31))
    kept = count(ada, Upload)

    purge(ada, timedelta(days=29))

    assert kept == 1
    assert (count(ada, Upload), count(ada, UploadRow)) == (0, 0)


def test_all_uploads_past_their_retention_are_deleted_in_one_run(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "EXPIRED_UPLOADS", 1)
    for _ in range(3):
        ada.upload(a_list(*people(1)))
    ada.harness.clock.now += timedelta(days=31)

    upkeep.purge_once(ada.harness.services)

    assert count(ada, Upload) == 0


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
    ada.know(*addresses(2), "cy@acme.com")
    upload_id = ada.ready(a_list(*people(2), ("Cy", "cy@acme.com", "knows PERSON.0@ACME.com")))
    plan = erase(ada, "person.0@acme.com")
    ada.start(upload_id)

    ada.run(upload_id)

    rows = ada.results(upload_id)
    assert (plan.counts["upload_rows"], plan.counts["notes"]) == (1, 1)
    assert [(row.cells, row.outcome) for row in rows] == [
        ((), "suppressed"),
        (("Ruth Person1", "person.1@acme.com", "note 1"), "found"),
        (("Cy", "cy@acme.com", ""), "found"),
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
    assert (row.cells, row.subject, row.person_digest) == ([], None, None)
    assert ada.get(upload_id).file_name == upload_id


def test_a_person_who_is_erased_while_their_row_is_resolved_is_not_asked_for_again(ada: Uploader) -> None:
    upload_id = ada.ready(a_list(*people(2)))
    ada.start(upload_id)
    ada.turn(upload_id)
    erase(ada, addresses(1)[0])

    upload = ada.run(upload_id)

    assert upload.status == "finished"
    assert ada.results(upload_id)[0].outcome == "suppressed"


def test_an_owner_named_on_every_row_sees_and_erases_only_the_cells_about_them(ada: Uploader) -> None:
    """A list of a CRM names the owner of each account, who has no right to the data of the people in it."""
    header = ("Name", "Work email", "Mobile phone", "Owner", "Owner email", "Notes")
    owned = ("Ruth Person9", "Person.9@acme.com", "Ask bob@acme.com or person.9@acme.com")
    rows = [(f"Lead {n}", f"lead.{n}@other.com", f"+4915112345{n:03}", *owned) for n in range(3)]
    ada.know("person.9@acme.com")
    with ada.harness.database.transaction() as session:
        session.execute(update(Contact).values(company_id=a_company(session).id))
    upload_id = ada.ready(a_list(*rows, header=header))

    with ada.harness.database.reading() as session:
        contacts = erasure.find_contacts(session, [Identifier("email", "person.9@acme.com")], ())
        plan = erasure.plan(session, contacts, [])
        shown = person_data.collect(session, contacts, plan)["uploaded_rows"]
    erase(ada, "person.9@acme.com")

    assert [{cell["column"]: cell["value"] for cell in row["cells"]} for row in shown] == [
        {"Owner": "Ruth Person9", "Owner email": "person.9@acme.com", "Notes": "person.9@acme.com"}
    ]
    assert [row.cells for row in ada.results(upload_id)] == [(*row[:3], "", "", "") for row in rows]
    assert "person.9" not in str(ada.csv(upload_id)).lower()


def test_a_row_about_the_person_is_shown_and_erased_as_a_whole_also_before_its_price(ada: Uploader) -> None:
    row = ("Ruth Person0", "other@acme.com, person.0@acme.com", "a note")
    upload_id = ada.upload(a_list(row, *people(1, first=1)))
    ada.turn(upload_id)

    plan = erase(ada, "person.0@acme.com")
    ada.turn(upload_id)

    assert own_rows(plan) == ((upload_id, 0),)
    assert [row.cells for row in ada.results(upload_id)] == [(), people(1, first=1)[0]]


def test_a_later_upload_that_mentions_an_erased_person_keeps_its_other_cells(ada: Uploader) -> None:
    erase_and_suppress(ada, "owner@acme.com")
    header = ("Name", "Work email", "Owner email")
    rows = [("Lead", "lead@other.com", "Owner@acme.com"), ("The owner", "owner@acme.com", "x@acme.com")]

    upload_id = ada.ready(a_list(*rows, header=header))

    assert [row.cells for row in ada.results(upload_id)] == [("Lead", "lead@other.com", ""), ()]


def test_rows_that_are_deleted_while_a_person_is_erased_are_left_out(ada: Uploader) -> None:
    with ada.harness.database.transaction() as session:
        personal_data.blank(session, [("upl_deleted", 1)], PersonMatcher(emails=frozenset({"ada@acme.com"})))

    assert count(ada, UploadRow) == 0
