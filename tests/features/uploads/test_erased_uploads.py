"""Erasure of a person while the file that names them is being read or priced."""

from __future__ import annotations

import pytest
from address_book_support import a_book
from jobs_support import NOW
from sqlalchemy import select, update
from stored_support import a_company, a_contact
from upload_support import Uploader, a_list, own_rows, people, uploader
from worker_harness import worker_harness

from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.enrichments import own_record_counts
from app.engine.privacy import erasure, erasure_run
from app.engine.privacy.erasure import ErasurePlan
from app.features.uploads import pricing
from app.features.uploads.tables import Upload, UploadRow, UploadStatus
from app.features.uploads.turn import reading
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings

ADA = Identifier("email", "person.1@acme.com")


@pytest.fixture
def ada(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    return uploader(worker_harness(settings, database, monkeypatch))


def erase(ada: Uploader, *contact_ids: str, identifiers: tuple[Identifier, ...] = ()) -> ErasurePlan:
    def plan(session: Session) -> ErasurePlan:
        contacts = erasure.find_contacts(session, identifiers, contact_ids)
        return erasure.plan(session, contacts, identifiers)

    return erasure_run.erase(ada.harness.database, plan)


def cells(ada: Uploader, upload_id: str) -> list[list[str]]:
    with ada.harness.database.reading() as session:
        query = select(UploadRow.cells).where(UploadRow.upload_id == upload_id)
        return list(session.scalars(query.order_by(UploadRow.number)))


def test_a_row_that_is_read_after_the_erasure_is_stored_empty(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH", 1)
    monkeypatch.setattr(reading.shutdown_flag, "has_begun", lambda: True)
    upload_id = ada.upload(a_list(*people(3)))
    ada.turn(upload_id)
    monkeypatch.setattr(reading.shutdown_flag, "has_begun", lambda: False)

    planned = erase(ada, identifiers=(ADA,))
    ada.turn(upload_id)
    ada.turn(upload_id)

    assert own_rows(planned) == ()
    assert [row[:2] for row in cells(ada, upload_id)] == [
        ["Ruth Person0", "person.0@acme.com"],
        [],
        ["Ruth Person2", "person.2@acme.com"],
    ]
    upload = ada.get(upload_id)
    assert upload.estimate is not None
    assert (upload.estimate["people"], upload.estimate["suppressed"], upload.estimate["invalid"]) == (3, 1, 0)
    assert [(row.outcome, row.note) for row in ada.results(upload_id)][1] == (
        "suppressed",
        "The person was erased.",
    )


def test_a_row_about_the_person_is_erased_as_a_whole_while_its_file_is_being_read(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH", 2)
    monkeypatch.setattr(reading.shutdown_flag, "has_begun", lambda: True)
    upload_id = ada.upload(a_list(*people(2), ("Cy", "cy@acme.com", "with person.1@acme.com")))
    ada.turn(upload_id)

    planned = erase(ada, identifiers=(ADA,))

    assert ada.get(upload_id).status == UploadStatus.READING
    assert own_rows(planned) == ((upload_id, 1),)
    assert cells(ada, upload_id) == [["Ruth Person0", "person.0@acme.com", "note 0"], []]


def test_a_person_known_by_name_only_is_erased_from_a_list_that_is_being_priced(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ada.harness.database.transaction() as session:
        contact_id = a_contact(session, a_company(session), "Ada Lovelace").id
    rows = [("Ada Lovelace", "acme.com"), ("Bob Ray", "acme.com")]
    upload_id = ada.upload(a_list(*rows, header=("Name", "Company domain")))
    ada.turn(upload_id)
    price = pricing.price

    def price_and_erase(*arguments: object, **options: object) -> pricing.PricedBatch:
        """Erase the person between the reading of the rows and the storing of their prices."""
        batch = price(*arguments, **options)  # type: ignore[arg-type]
        monkeypatch.setattr(pricing, "price", price)
        erase(ada, contact_id)
        return batch

    monkeypatch.setattr(pricing, "price", price_and_erase)

    ada.turn(upload_id)

    assert ada.get(upload_id).status == UploadStatus.READY
    assert cells(ada, upload_id) == [[], ["Bob Ray", "acme.com"]]
    assert [row.outcome for row in ada.results(upload_id)] == ["suppressed", "pending"]


def test_rows_of_a_person_suppressed_for_another_reason_are_stored(ada: Uploader) -> None:
    with ada.harness.database.transaction() as session:
        suppressions.suppress(session, [Identifier("email", "x@acme.com")], now=NOW, **suppressions.ERASURE)
        suppressions.suppress(session, [ADA], reason="asked", now=NOW)

    upload_id = ada.ready(a_list(*people(2)))

    assert [row[0] for row in cells(ada, upload_id)] == ["Ruth Person0", "Ruth Person1"]
    with ada.harness.database.reading() as session:
        [estimate] = session.scalars(select(Upload.estimate))
    assert estimate is not None
    assert (estimate["people"], estimate["suppressed"]) == (2, 0)  # an address does not tell it


@pytest.mark.parametrize("is_priced", [True, False])
def test_the_title_of_an_address_book_that_names_the_person_is_erased_in_the_price(
    ada: Uploader, *, is_priced: bool
) -> None:
    with ada.harness.database.transaction() as session:
        titles = (f"From {ADA.value}", "Fair")
        books = [
            a_book(session, ada.harness.workspace_id, {"emails": ["person.2@acme.com"]}, title=title)
            for title in titles
        ]
        named = books[0].id
    upload_id = ada.ready(a_list(*people(3)))
    if not is_priced:
        with ada.harness.database.transaction() as session:
            session.execute(update(Upload).values(estimate=None))

    planned = erase(ada, identifiers=(ADA,))

    upload = ada.get(upload_id)
    counted = own_record_counts.listed(upload.counts)
    assert planned.of_features["upload_rows"].notes == 1
    assert sorted(one.title for one in counted) == sorted(["Fair", named])
    assert {one.people for one in counted} == {1}
    assert (upload.estimate is not None, ADA.value in str(upload.estimate)) == (is_priced, False)
