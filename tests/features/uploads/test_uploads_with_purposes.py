"""Uploads of people for whom a purpose must be stated."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from jobs_support import figures
from sqlalchemy import func, select, update
from stored_support import own
from upload_support import Uploader, a_list, addresses, people, uploader
from worker_harness import worker_harness

from app.domain.errors import PurposeRequired
from app.engine.contacts.contacts import Contact
from app.engine.jobs.jobs import Job
from app.engine.ledger.reveals import Reveal
from app.features.uploads import chunks
from app.features.uploads.tables import Upload, UploadStatus
from app.infra.database.db import Database
from app.settings import Settings

PAUSED = (UploadStatus.PAUSED, "purpose_required")


@pytest.fixture
def ada(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    """An account that uploads people, two of whom are in Germany and one in France."""
    ada = uploader(worker_harness(settings, database, monkeypatch))
    ada.know(*addresses(3))
    with database.transaction() as session:
        session.execute(update(Contact).values(country="DE"))
        session.execute(update(Contact).where(Contact.full_name == "Ruth Person2").values(country="FR"))
    return ada


def state(upload: Upload) -> tuple[str, str | None]:
    return upload.status, upload.reason


def spent(ada: Uploader) -> int:
    with ada.harness.database.reading() as session:
        _available, held, spent = figures(session, ada.harness.workspace_id)
    assert held == 0
    return spent


def purposes(ada: Uploader) -> list[str | None]:
    with ada.harness.database.reading() as session:
        return list(session.scalars(select(Reveal.purpose).order_by(Reveal.created_at)))


def jobs(ada: Uploader) -> int:
    with ada.harness.database.reading() as session:
        return session.scalar(select(func.count()).select_from(Job)) or 0


def test_it_pauses_for_the_people_who_need_a_purpose_and_continues_with_one(ada: Uploader) -> None:
    ada.harness.require_purpose("DE")
    upload_id = ada.ready(a_list(*people(3)))
    ada.start(upload_id)
    paused = ada.run(upload_id)
    before = (spent(ada), [row.outcome for row in ada.results(upload_id)])

    ada.start(upload_id, purpose="recruiting")
    finished = ada.run(upload_id)

    assert (state(paused), before) == (PAUSED, (1, ["pending", "pending", "found"]))
    assert (state(finished), finished.charged) == ((UploadStatus.FINISHED, None), 3)
    assert finished.outcomes == {"found": 3}
    assert purposes(ada) == [None, "recruiting", "recruiting"]


def test_with_a_purpose_it_is_enriched_like_any_other(ada: Uploader) -> None:
    ada.harness.require_purpose("EU", "unknown")
    upload_id = ada.ready(a_list(*people(4)))

    ada.start(upload_id, purpose="recruiting")
    finished = ada.run(upload_id)

    assert (state(finished), finished.outcomes) == (
        (UploadStatus.FINISHED, None),
        {"found": 3, "not_found": 1},
    )
    assert purposes(ada) == ["recruiting"] * 3


def test_continued_without_a_purpose_it_pauses_again_and_submits_one_job_more(ada: Uploader) -> None:
    ada.harness.require_purpose("DE")
    upload_id = ada.ready(a_list(*people(2)))
    ada.start(upload_id)
    ada.run(upload_id)

    ada.start(upload_id)
    again = ada.run(upload_id)

    assert (state(again), jobs(ada), spent(ada)) == (PAUSED, 2, 0)


def test_the_purpose_remains_if_it_is_continued_without_one(ada: Uploader) -> None:
    ada.harness.require_purpose("DE")
    upload_id = ada.ready(a_list(*people(3)))
    ada.start(upload_id, max_credits=1, purpose="recruiting")
    paused = ada.run(upload_id)

    ada.start(upload_id)
    finished = ada.run(upload_id)

    assert (state(paused), paused.purpose) == ((UploadStatus.PAUSED, "max_credits"), "recruiting")
    assert (finished.status, purposes(ada)) == (UploadStatus.FINISHED, ["recruiting"] * 3)


def test_jobs_from_before_the_purpose_was_stated_do_not_pause_it_again(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "SIZE", 1)
    ada.harness.require_purpose("DE")
    upload_id = ada.ready(a_list(*people(2)))
    ada.start(upload_id)
    ada.turn(upload_id)  # submits a job for each
    first, second = ada.open_jobs()
    ada.run_job(first)
    ada.turn(upload_id)
    paused = ada.get(upload_id)

    ada.start(upload_id, purpose="recruiting")
    ada.run_job(second)
    finished = ada.run(upload_id)

    assert state(paused) == PAUSED
    assert (state(finished), finished.outcomes) == ((UploadStatus.FINISHED, None), {"found": 2})


def own_everybody(ada: Uploader) -> None:
    with ada.harness.database.transaction() as session:
        for contact in session.scalars(select(Contact)):
            own(session, ada.harness.workspace_id, contact, "email")


@pytest.mark.parametrize(("prepare", "is_refused"), [(None, True), (own_everybody, False)])
def test_a_rule_for_everybody_refuses_the_start_without_a_purpose_unless_all_is_owned(
    ada: Uploader, prepare: Callable[[Uploader], None] | None, *, is_refused: bool
) -> None:
    if prepare:
        prepare(ada)
    ada.harness.require_purpose("*")
    upload_id = ada.ready(a_list(*people(3)))

    if is_refused:
        with pytest.raises(PurposeRequired):
            ada.start(upload_id)
        assert ada.get(upload_id).status == UploadStatus.READY
        ada.start(upload_id, purpose="recruiting")
    else:
        ada.start(upload_id)

    assert ada.run(upload_id).outcomes == {"found": 3}
