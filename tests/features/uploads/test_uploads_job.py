"""Uploads from the file to the result, with a worker that reads, prices and enriches them."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from fake_providers import email, hit
from jobs_support import figures
from openpyxl import Workbook
from sqlalchemy import func, select
from stored_support import ADA_URL, a_contact, a_phone, an_email
from upload_support import HEADER, MAX_TURNS, Uploader, a_list, addresses, people, uploader
from worker_harness import FakeClock, worker_harness

from app.domain.callers import Scope
from app.domain.kinds import TraceOutcome
from app.domain.permissions import Permission
from app.domain.spending import Period
from app.engine.accounts import accounts, api_keys, permissions
from app.engine.jobs import job_history, jobs, sweeper
from app.engine.jobs.jobs import Job
from app.engine.ledger import limit_settings
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records.own_records import OwnRecord
from app.engine.providers import provider_throttles
from app.features.uploads import chunks, uploads, work
from app.features.uploads.collection import MAX_TRIES
from app.features.uploads.result_rows import COLUMNS
from app.features.uploads.tables import Upload, UploadFile, UploadRow, UploadStatus
from app.features.uploads.turn import pricing, reading, workbook_reader
from app.infra import clock
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers.providers.base import ProviderRequest, ProviderResponse


@pytest.fixture
def ada(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    return uploader(worker_harness(settings, database, monkeypatch))


def a_workbook(cells_of_first_row: bytes = b"") -> bytes:
    book = Workbook()
    for row in (HEADER, *people(2)):
        book.active.append(row)  # type: ignore[union-attr]
    whole, changed = io.BytesIO(), io.BytesIO()
    book.save(whole)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"</row>", cells_of_first_row + b"</row>", 1))
    return changed.getvalue()


def balances(ada: Uploader) -> tuple[int, int, int]:
    with ada.harness.database.reading() as session:
        return figures(session, ada.harness.workspace_id)


def count(ada: Uploader, table: type[Job | UploadRow | UploadFile]) -> int:
    with ada.harness.database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_a_list_is_read_with_a_proposed_mapping_and_priced(ada: Uploader) -> None:
    ada.know("person.0@acme.com")

    again = ("Ruth Person0", "person.0@acme.com", "again")
    upload = ada.get(ada.ready(a_list(*people(3), again, ("", "", "x"))))

    assert upload.header == list(HEADER)
    assert upload.columns == ["full_name", "work_email", None]
    assert upload.estimate is not None
    del upload.estimate["choices"]
    assert upload.estimate == {
        "credits_min": 0,  # whose the addresses are is told by the result only
        "credits_max": 3,
        "to_buy": 3,
        "own_records": [],
        "owned": 0,
        "suppressed": 0,
        "excluded": 0,
        "people": 3,
        "duplicates": 1,
        "invalid": 1,
    }
    assert count(ada, UploadFile) == 0


def test_the_price_of_a_list_does_not_tell_whose_addresses_are_stored_or_suppressed(ada: Uploader) -> None:
    ada.know(*addresses(2))
    ada.harness.suppress("email", "person.1@acme.com")

    prices = [ada.get(ada.ready(a_list(*people(1, first=number)))).estimate for number in range(3)]

    assert prices == [prices[0]] * 3
    assert prices[0]["credits_max"] == 1


def test_a_row_that_the_workspace_has_itself_costs_nothing_and_its_result_says_so(ada: Uploader) -> None:
    number = "+447400123456"

    def find(_session: Session, people: Sequence[LookedUp]) -> list[list[OwnRecord]]:
        return [[a_record] if one.profiles == [ADA_URL] else [] for one in people]

    a_record = OwnRecord(
        source="crm",
        system="hubspot",
        title="HubSpot",
        phones=[number],
        changed_at=clock.now(),
        is_certain=True,
    )
    ada.harness.services = replace(ada.harness.services, own_records={"crm": find})
    upload_id = ada.upload(f"Profile\n{ADA_URL}\n".encode())
    ada.turn(upload_id)
    ada.find(upload_id, "phone")
    ada.start(upload_id)

    upload = ada.run(upload_id)

    _header, row = ada.csv(upload_id)
    found = dict(zip(COLUMNS, row[1:], strict=True))
    assert (found["Found phone"], found["Result"], found["Result credits"]) == (f"'{number}", "found", "0")
    assert (found["Result sources"], upload.charged) == ("crm: hubspot", 0)


def test_every_row_is_in_the_result_once_and_only_what_is_found_costs_a_credit(ada: Uploader) -> None:
    ada.know(*addresses(2))
    ada.harness.suppress("email", "person.1@acme.com")
    rows = [*people(3), ("Ruth Person0", "PERSON.0@acme.com", "=1+1"), ("", "", "nobody")]
    upload_id = ada.ready(a_list(*rows))
    ada.start(upload_id)

    upload = ada.run(upload_id)

    header, *result = ada.csv(upload_id)
    assert header == [*HEADER, *COLUMNS]
    assert [row[:3] for row in result] == [list(row) for row in rows[:3]] + [
        ["Ruth Person0", "PERSON.0@acme.com", "=1+1"],
        ["", "", "nobody"],
    ]
    found = [(row[3], row[6], row[7]) for row in result]
    assert found == [
        ("person.0@acme.com", "found", "1"),
        ("", "not_found", "0"),  # is suppressed, which the address does not tell
        ("", "not_found", "0"),
        ("person.0@acme.com", "found", "0"),
        ("", "invalid", "0"),
    ]
    assert (upload.status, upload.charged) == (UploadStatus.FINISHED, 1)
    assert upload.outcomes == {"found": 1, "not_found": 2}
    assert balances(ada) == (999, 0, 1)


def test_the_history_names_the_upload_of_a_job(ada: Uploader) -> None:
    ada.know(*addresses(2))
    upload_id = ada.ready(a_list(*people(2)))
    ada.start(upload_id)
    ada.run(upload_id)

    with ada.harness.database.reading() as session:
        stored = jobs.latest(session, ada.harness.workspace_id, status=None, before=None, limit=5)
        described = job_history.describe(session, ada.harness.workspace_id, stored)

    assert [job["upload_id"] for job in described] == [upload_id]


def test_the_rows_of_excluded_people_cost_nothing_and_say_why(ada: Uploader) -> None:
    ada.know(*addresses(2))
    ada.harness.exclude("email", "person.1@acme.com")
    upload_id = ada.ready(a_list(*people(2)))
    estimate = ada.get(upload_id).estimate
    ada.start(upload_id)

    upload = ada.run(upload_id)

    _, found, excluded = ada.csv(upload_id)
    assert (estimate["excluded"], estimate["credits_max"], upload.charged) == (1, 1, 1)
    assert (found[6], excluded[3], excluded[6], excluded[7]) == ("found", "", "excluded", "0")
    assert "Your workspace excludes this person (customer)" in excluded[-1]
    assert upload.outcomes == {"found": 1, "excluded": 1}


def test_a_list_with_a_broken_row_is_enriched_without_it(ada: Uploader) -> None:
    ada.know(*addresses(2))
    content = a_list(*people(1)) + b'"Broken,x\r\n' + a_list(*people(1, first=1)).split(b"\r\n", 1)[1]
    upload_id = ada.ready(content)
    ada.start(upload_id)

    ada.run(upload_id)

    assert [row.outcome for row in ada.results(upload_id)] == ["found", "invalid", "found"]


def test_a_workbook_is_read_like_a_csv_file(ada: Uploader) -> None:
    upload = ada.get(ada.ready(a_workbook()))

    assert (upload.row_count, upload.columns) == (2, ["full_name", "work_email", None])


@pytest.mark.parametrize(("has_header", "rows"), [(True, 2), (False, 3)])
def test_whether_a_workbook_has_a_header_can_be_said(ada: Uploader, *, has_header: bool, rows: int) -> None:
    upload_id = ada.upload(a_workbook(), table_options={"has_header": has_header})
    ada.turn(upload_id)
    upload = ada.get(upload_id)

    assert upload.row_count == rows
    assert upload.table_format == {
        "encoding": "xlsx",
        "is_guessed": False,
        "other_encoding": None,
        "delimiter": None,
        "has_header": has_header,
        "sheet": "Sheet",
        "unread_sheets": [],
        "unsolved_formulas": 0,
        "cell_kinds": ["text", "text", "text"],
    }


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_a_small_workbook_that_takes_much_memory_fails_without_the_worker(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook_reader, "MAX_MEMORY", 120 << 20)
    upload_id = ada.upload(a_workbook(b'<c r="A1"/>' * 500_000))

    ada.turn(upload_id)

    upload = ada.get(upload_id)
    assert (upload.status, upload.detail) == (UploadStatus.FAILED, workbook_reader.TOO_COMPLEX)


def test_a_workbook_whose_reader_is_stopped_is_read_by_another_turn(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_arguments: object, **_options: object) -> None:
        raise workbook_reader.ReadingStopped

    upload_id = ada.upload(a_workbook())
    monkeypatch.setattr(workbook_reader, "read_workbook", stop)
    ada.turn(upload_id)
    interrupted = ada.get(upload_id).status
    monkeypatch.undo()

    ada.turn(upload_id)

    assert (interrupted, ada.get(upload_id).row_count) == (UploadStatus.READING, 2)


def test_a_list_without_known_columns_waits_for_a_mapping(ada: Uploader) -> None:
    upload_id = ada.upload(a_list(("a", "person.0@acme.com"), header=("x", "y")))
    ada.turn(upload_id)
    before = ada.get(upload_id)

    with ada.harness.database.transaction() as session:
        upload = uploads.locked(session, ada.harness.workspace_id, upload_id)
        uploads.map_columns(session, upload, [None, "email"], ["email"], now=clock.now())
    ada.turn(upload_id)

    assert (before.status, ada.due_at(upload_id)) == (UploadStatus.MAPPING, None)
    after = ada.get(upload_id)
    assert (after.status, (after.estimate or {})["people"]) == (UploadStatus.READY, 1)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"%PDF-1.7", "This is a PDF"),
        (b" ", "The file is empty"),
        (b"Name,Email\r\n", "The file has a header but no rows"),
        (a_list(*people(4)), "more than 3 rows"),
    ],
)
def test_a_file_that_cannot_be_read_fails_with_what_to_do(ada: Uploader, content: bytes, reason: str) -> None:
    ada.harness.change_settings(upload_max_rows=3)
    upload_id = ada.upload(content)

    ada.turn(upload_id)

    upload = ada.get(upload_id)
    assert (upload.status, upload.reason, ada.due_at(upload_id)) == (UploadStatus.FAILED, "unreadable", None)
    assert reason in (upload.detail or "")
    assert (count(ada, UploadFile), count(ada, UploadRow)) == (0, 0)


def test_only_a_window_of_jobs_is_open_and_holds_credits(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "SIZE", 2)
    upload_id = ada.ready(a_list(*people(20)))
    ada.start(upload_id)

    ada.turn(upload_id)

    assert len(ada.open_jobs()) == chunks.WINDOW
    assert balances(ada) == (1000 - 2 * chunks.WINDOW, 2 * chunks.WINDOW, 0)


def test_credits_that_open_jobs_hold_are_awaited(ada: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "SIZE", 2)
    poor = uploader(ada.harness, balance=2)
    upload_id = poor.ready(a_list(*people(4)))  # of whom nothing is known
    poor.start(upload_id)

    poor.turn(upload_id)
    poor.turn(upload_id)

    assert len(poor.open_jobs()) == 1
    assert poor.get(upload_id).status == UploadStatus.RUNNING
    assert poor.run(upload_id).status == UploadStatus.FINISHED
    assert balances(poor) == (2, 0, 0)


def test_a_turn_that_is_repeated_submits_no_job_twice(ada: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "SIZE", 2)
    ada.know(*addresses(5))
    upload_id = ada.ready(a_list(*people(5)))
    ada.start(upload_id)
    with ada.harness.database.reading() as session:
        upload = uploads.get(session, ada.harness.workspace_id, upload_id)
        services = ada.harness.services
        planned = chunks.plan(session, upload, settings=services.settings, finds=services.own_records)
    assert planned is not None

    submitted = [_submit(ada, upload_id, planned) for _ in range(2)]
    ada.run(upload_id)

    assert submitted[0] is not None
    assert submitted[1] is None
    assert count(ada, Job) == 3
    assert balances(ada) == (995, 0, 5)


def _submit(ada: Uploader, upload_id: str, chunk: chunks.NextChunk) -> str | None:
    with ada.harness.database.transaction() as session:
        settings = ada.harness.services.settings
        return chunks.submit(session, upload_id, chunk, settings=settings, now=clock.now())


def test_without_credits_it_pauses_and_continues_after_a_top_up(ada: Uploader) -> None:
    poor = uploader(ada.harness, balance=2)
    poor.know(*addresses(5))
    upload_id = poor.ready(a_list(*people(5)))
    poor.start(upload_id)

    paused = poor.run(upload_id)
    poor.grant(10)
    poor.start(upload_id)
    finished = poor.run(upload_id)

    assert (paused.status, paused.reason, paused.charged) == (
        UploadStatus.PAUSED,
        "insufficient_credits",
        2,
    )
    assert (finished.status, finished.charged) == (UploadStatus.FINISHED, 5)
    assert [row.credits for row in poor.results(upload_id)] == [1] * 5
    assert balances(poor) == (7, 0, 5)


def test_what_was_found_of_a_person_before_the_credits_ran_out_is_in_the_result(ada: Uploader) -> None:
    poor = uploader(ada.harness, balance=1)
    with ada.harness.database.transaction() as session:
        contact = a_contact(session, None, "Ruth Person0")
        an_email(session, contact, "person.0@acme.com")
        a_phone(session, contact, "+12025550143", verified_at=clock.now())
    upload_id = poor.ready(a_list(*people(1)))
    poor.find(upload_id, "email", "phone")
    poor.start(upload_id)

    paused, [first] = poor.run(upload_id), poor.results(upload_id)
    poor.grant(1)
    poor.start(upload_id)
    finished, [second] = poor.run(upload_id), poor.results(upload_id)

    assert (paused.reason, paused.charged) == ("insufficient_credits", 1)
    assert (first.outcome, first.email, first.phone, first.credits) == (
        "partial",
        "person.0@acme.com",
        None,
        1,
    )
    assert (finished.status, finished.charged) == (UploadStatus.FINISHED, 2)
    assert (second.outcome, second.email, second.phone, second.credits) == (
        "found",
        "person.0@acme.com",
        "+12025550143",
        2,
    )
    assert balances(poor) == (0, 0, 2)


def test_the_maximum_of_credits_holds_for_the_whole_upload(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "SIZE", 2)
    ada.know(*addresses(9))
    upload_id = ada.ready(a_list(*people(9)))
    ada.start(upload_id, max_credits=5)

    upload = ada.run(upload_id)

    assert (upload.status, upload.reason, upload.charged) == (UploadStatus.PAUSED, "max_credits", 5)
    assert balances(ada) == (995, 0, 5)


@dataclass
class Outage:
    """A provider that finds everybody, and does nothing but fail until a time; it counts the failed calls."""

    clock: FakeClock
    until: datetime
    failure: TraceOutcome = TraceOutcome.ERROR
    failed: int = 0

    def __call__(self, request: ProviderRequest) -> ProviderResponse:
        if self.clock.now < self.until:
            self.failed += 1
            return ProviderResponse(outcome=self.failure)
        return hit(email(str(request.subject.email)))


def an_outage(ada: Uploader, seconds: int, failure: TraceOutcome = TraceOutcome.ERROR) -> Outage:
    clock_of_worker = ada.harness.clock
    outage = Outage(clock_of_worker, clock_of_worker.now + timedelta(seconds=seconds), failure)
    ada.harness.set_providers(one=outage)
    return outage


def run_slowly(ada: Uploader, upload_id: str, *, step: int = 15) -> Upload:
    """Continue a started upload as `run` does, with this many seconds between two turns."""
    for _ in range(MAX_TURNS):
        ada.harness.clock.now += timedelta(seconds=step)
        ada.turn(upload_id)
        ada.run_jobs()
        upload = ada.get(upload_id)
        if ada.due_at(upload_id) is None:
            return upload
    raise AssertionError(f"the upload is {upload.status}")


@pytest.mark.release
def test_the_rows_of_a_short_outage_are_resolved_after_it(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "SIZE", 4)
    upload_id = ada.ready(a_list(*people(20)))
    outage = an_outage(ada, 300)
    ada.start(upload_id)

    upload = run_slowly(ada, upload_id)

    assert (upload.status, upload.outcomes) == (UploadStatus.FINISHED, {"found": 20})
    assert outage.failed < 300 / 15  # a probe per half minute, and the calls that opened the circuit
    assert balances(ada) == (980, 0, 20)


@pytest.mark.release
def test_an_upload_pauses_if_its_provider_has_no_credits_and_continues_when_it_has(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "SIZE", 4)
    upload_id = ada.ready(a_list(*people(20)))
    outage = an_outage(ada, 3_600, TraceOutcome.NO_CREDITS)
    ada.start(upload_id)

    pauses = []
    for _ in range(MAX_TRIES + 1):  # the member is impatient
        paused = run_slowly(ada, upload_id)
        pauses.append((paused.status, paused.reason, paused.outcomes))
        ada.start(upload_id)
    ada.harness.clock.now = outage.until
    finished = run_slowly(ada, upload_id)

    assert pauses == [(UploadStatus.PAUSED, "provider_failed", {})] * (MAX_TRIES + 1)
    assert (finished.status, finished.outcomes) == (UploadStatus.FINISHED, {"found": 20})


def test_an_upload_pauses_if_an_outage_outlasts_its_jobs(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "SIZE", 3)
    ada.harness.change_settings(job_deadline_seconds=120)
    upload_id = ada.ready(a_list(*people(3)))
    an_outage(ada, 3_600)
    with ada.harness.database.transaction() as session:
        now = ada.harness.clock.now
        provider_throttles.report(session, "one", TraceOutcome.RATE_LIMITED, retry_after=3_600, now=now)
    ada.start(upload_id)
    ada.turn(upload_id)
    ada.run_jobs()
    expire_jobs(ada)

    upload = run_slowly(ada, upload_id)

    assert (upload.status, upload.reason, upload.outcomes) == (UploadStatus.PAUSED, "provider_failed", {})
    assert balances(ada) == (1000, 0, 0)


def expire_jobs(ada: Uploader) -> None:
    ada.harness.clock.now += timedelta(seconds=ada.harness.services.settings.job_deadline_seconds)
    with ada.harness.database.transaction() as session:
        error = {"code": "job_expired"}
        sweeper.finish_orphaned(session, max_crashes=2, expired=error, crashed=error, now=clock.now())


def test_rows_whose_jobs_expire_while_no_worker_runs_them_are_resolved_later(ada: Uploader) -> None:
    ada.know(*addresses(2))
    upload_id = ada.ready(a_list(*people(2)))
    ada.start(upload_id)

    for _ in range(MAX_TRIES + 1):
        ada.turn(upload_id)
        expire_jobs(ada)
    upload = ada.run(upload_id)

    assert (upload.status, upload.outcomes) == (UploadStatus.FINISHED, {"found": 2})
    assert balances(ada) == (998, 0, 2)


def test_people_for_whom_the_providers_always_fail_do_not_keep_an_upload_from_finishing(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "SIZE", 10)
    upload_id = ada.ready(a_list(*people(10)))
    known = an_outage(ada, 0)
    bad = {"person.1@acme.com", "person.2@acme.com"}
    ada.harness.set_providers(
        one=lambda request: (
            ProviderResponse(outcome=TraceOutcome.NO_CREDITS)
            if request.subject.email in bad
            else known(request)
        )
    )
    ada.start(upload_id)

    paused = run_slowly(ada, upload_id)
    ada.start(upload_id)
    finished = run_slowly(ada, upload_id)

    assert (paused.status, paused.reason) == (UploadStatus.PAUSED, "provider_failed")
    assert (finished.status, finished.outcomes) == (UploadStatus.FINISHED, {"found": 8, "failed": 2})


def test_cancelling_stops_what_was_not_submitted(ada: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "SIZE", 1)
    ada.know(*addresses(9))
    upload_id = ada.ready(a_list(*people(9)))
    ada.start(upload_id)
    ada.turn(upload_id)

    ada.cancel(upload_id)
    upload = ada.run(upload_id)

    assert (upload.status, upload.charged) == (UploadStatus.CANCELED, chunks.WINDOW)
    assert [row.outcome for row in ada.results(upload_id)] == ["found"] * 4 + ["pending"] * 5


def test_a_disabled_account_submits_no_further_job(ada: Uploader) -> None:
    upload_id = ada.ready(a_list(*people(1)))
    ada.start(upload_id)
    with ada.harness.database.transaction() as session:
        accounts.disable(session, ada.account_id, now=clock.now())

    upload = ada.run(upload_id)

    assert (upload.status, upload.reason) == (UploadStatus.PAUSED, "account_disabled")
    assert count(ada, Job) == 0


def test_a_starter_who_may_no_longer_reveal_phones_submits_no_further_job(ada: Uploader) -> None:
    upload_id = ada.ready(a_list(*people(1)))
    ada.find(upload_id, "email", "phone")
    ada.turn(upload_id)
    ada.start(upload_id)
    with ada.harness.database.transaction() as session:
        permissions.set_of_account(session, ada.account_id, {Permission.REVEAL_PHONES: False})

    upload = ada.run(upload_id)

    assert (upload.status, upload.reason) == (UploadStatus.PAUSED, "phones_not_allowed")
    assert count(ada, Job) == 0


def test_a_revoked_key_submits_no_further_job(ada: Uploader) -> None:
    upload_id = ada.ready(a_list(*people(1)))
    with ada.harness.database.transaction() as session:
        key, _ = api_keys.create(
            session, ada.account_id, name="k", scopes=Scope, expires_at=None, now=clock.now()
        )
    ada.start(upload_id, api_key_id=key.id)
    with ada.harness.database.transaction() as session:
        api_keys.revoke(session, ada.account_id, key.id, now=clock.now())

    upload = ada.run(upload_id)

    assert (upload.status, upload.reason) == (UploadStatus.PAUSED, "key_ended")


def test_a_spending_limit_of_the_account_pauses_the_upload(ada: Uploader) -> None:
    ada.know(*addresses(3))
    upload_id = ada.ready(a_list(*people(3)))
    with ada.harness.database.transaction() as session:
        subject = limit_settings.subject(session, ada.harness.workspace_id, ada.account_id)
        limit_settings.put(session, ada.harness.workspace_id, subject, Period.MONTH, 2, now=clock.now())
    ada.start(upload_id)

    upload = ada.run(upload_id)

    assert (upload.status, upload.reason) == (UploadStatus.PAUSED, "spending_limit_reached")
    assert upload.charged == 2
    assert balances(ada) == (998, 0, 2)


def test_a_reader_that_continues_after_a_lost_one_stores_each_row_once(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH", 2)
    upload_id = ada.upload(a_list(*people(5)))
    monkeypatch.setattr(reading.shutdown_flag, "has_begun", lambda: True)
    ada.turn(upload_id)
    interrupted = count(ada, UploadRow)
    monkeypatch.setattr(reading.shutdown_flag, "has_begun", lambda: False)

    ada.turn(upload_id)

    assert interrupted == 2
    assert count(ada, UploadRow) == 5


def test_pricing_is_continued_by_another_turn_and_finds_duplicates_in_it(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pricing, "BATCH", 2)
    monkeypatch.setattr(pricing, "TURN_SECONDS", -1.0)
    upload_id = ada.upload(a_list(*people(3), *people(3)))
    ada.turn(upload_id)
    ada.turn(upload_id)
    between = ada.get(upload_id)

    ada.turn(upload_id)
    ada.turn(upload_id)

    upload = ada.get(upload_id)
    assert (between.status, between.priced) == (UploadStatus.PRICING, 2)
    assert upload.status == UploadStatus.READY
    assert upload.estimate is not None
    assert (upload.estimate["people"], upload.estimate["duplicates"]) == (3, 3)


def test_rows_that_name_one_stored_person_differently_are_duplicates(ada: Uploader) -> None:
    with ada.harness.database.transaction() as session:
        contact = a_contact(session, None, "Ada Lovelace", linkedin_url=ADA_URL)
        an_email(session, contact, "ada@acme.com")
    rows = [("Ada Lovelace", "ada@acme.com", ""), ("Ada Lovelace", "", ADA_URL)]
    upload_id = ada.ready(a_list(*rows, header=("Name", "Email", "LinkedIn")))
    ada.start(upload_id)

    ada.run(upload_id)

    assert [(row.outcome, row.credits) for row in ada.results(upload_id)] == [("found", 1), ("found", 0)]


def test_an_upload_that_no_worker_may_continue_yet_is_left_alone(ada: Uploader) -> None:
    upload_id = ada.upload(a_list(*people(1)))
    ada.turn(upload_id)
    work.advance_upload(upload_id, ada.harness.services)

    work.advance_upload(upload_id, ada.harness.services)

    assert ada.get(upload_id).status == UploadStatus.READY
