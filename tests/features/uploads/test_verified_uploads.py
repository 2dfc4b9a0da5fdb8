"""A list whose addresses and numbers are verified: the file comes back with the verdict beside each row."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from fake_providers import MISS, FakeProvider, hit
from fake_providers import email as found_email
from jobs_support import NOW, figures
from openpyxl import Workbook, load_workbook
from sqlalchemy import func, select
from upload_support import Uploader, uploader
from worker_harness import worker_harness

from app.domain.call_registers import Effect
from app.domain.errors import JobExpired
from app.domain.findings import EmailStatus
from app.domain.kinds import Kind, Outcome
from app.domain.purposes import PurposeRule
from app.domain.regional_rules import EVERYWHERE
from app.engine.jobs import sweeper
from app.engine.jobs.jobs import Job, JobItem
from app.features.uploads import chunks, erasure, result_files, results, uploads, work
from app.features.uploads.result_rows import ResultRow
from app.features.uploads.tables import Upload, UploadStatus
from app.features.uploads.turn import pricing
from app.infra import clock
from app.infra.database.db import Database
from app.settings import Settings
from workers.providers.base import ProviderRequest, ProviderResponse

VALID, ACCEPT_ALL, INVALID = EmailStatus.VALID, EmailStatus.ACCEPT_ALL, EmailStatus.INVALID
Reply = Callable[[ProviderRequest], ProviderResponse]


def by_name(**statuses: EmailStatus) -> Reply:
    """Return a reply with the status of the local part, or a miss."""

    def reply(request: ProviderRequest) -> ProviderResponse:
        address = str(request.subject.email)
        status = statuses.get(address.partition("@")[0])
        return hit(replace(found_email(address, status), verified_at=NOW)) if status else MISS

    return reply


class Verifier:
    """An account that uploads lists to verify, and the verifier that is asked."""

    def __init__(self, ada: Uploader) -> None:
        self.ada = ada
        self.fake = self.answers(ada=VALID, bob=INVALID)

    def answers(self, **statuses: EmailStatus) -> FakeProvider:
        self.fake = self.ada.harness.set_providers(one=by_name(**statuses), verifiers=("one",))["one"]
        return self.fake

    def upload(self, content: bytes, *, file_name: str = "people.csv", country: str | None = None) -> str:
        options = {"operation": "verify", "country": country}
        upload_id = self.ada.upload(content, file_name=file_name, table_options=options)
        self.ada.turn(upload_id)
        self.ada.turn(upload_id)
        return upload_id

    def verify(self, content: bytes, **options: str) -> Upload:
        upload_id = self.upload(content, **options)
        self.ada.start(upload_id)
        return self.ada.run(upload_id)

    def fresh(self, upload_id: str) -> None:
        """Ask for new verdicts, and have the upload priced again."""
        with self.ada.harness.database.transaction() as session:
            upload = uploads.locked(session, self.ada.harness.workspace_id, upload_id)
            upload.is_fresh = True
            uploads.map_columns(session, upload, upload.columns, ["email"], now=clock.now())
        self.ada.turn(upload_id)

    def file(self, upload: Upload, file_format: str = "csv") -> bytes:
        batches = results.batches(self.ada.harness.database, upload)
        return b"".join(result_files.parts(upload, file_format, batches))

    def rows(self, upload: Upload) -> list[ResultRow]:
        return self.ada.results(upload.id)

    def balance(self) -> tuple[int, int, int]:
        with self.ada.harness.database.reading() as session:
            return figures(session, self.ada.harness.workspace_id)


@pytest.fixture
def verifier(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Verifier:
    return Verifier(uploader(worker_harness(settings, database, monkeypatch)))


def test_the_file_comes_back_with_the_verdicts_beside_its_own_columns(verifier: Verifier) -> None:
    content = "Name;E-Mail;Telefon;Größe\nÄda;ADA@acme.com;030 901820;007\nBob;bob@acme.com;;=1+1\n"

    upload = verifier.verify(content.encode("cp1252"), country="DE")

    header, ada, bob = verifier.file(upload).decode("cp1252").splitlines()
    receipt = verifier.rows(upload)[0].receipt
    assert header == (
        '"Name";"E-Mail";"Telefon";"Größe";"Verified email";"Email verdict";"Email verdict reasons";'
        '"Verified phone";"Phone verdict";"Phone country";"Phone line type";"Phone do not call";'
        '"Checked on";"Result";"Result credits";"Result receipt";"Result note"'
    )
    assert ada == (
        '"Äda";"ADA@acme.com";"030 901820";"007";"ada@acme.com";"valid";"";'
        f'"\'+4930901820";"valid";"DE";"landline";"";"{NOW.date()}";"valid";"1";"{receipt}";""'
    )
    assert bob.startswith('"Bob";"bob@acme.com";"";"=1+1";"bob@acme.com";"invalid";"";"";"";"";"";"";')
    assert (upload.status, upload.charged, upload.outcomes) == ("finished", 2, {"valid": 1, "invalid": 1})


def test_a_number_in_a_do_not_call_register_is_marked(verifier: Verifier, tmp_path: Path) -> None:
    feature = pytest.importorskip("app.features.call_registers.loading")
    file = tmp_path / "tps.txt"
    file.write_text("07860 338653\n", encoding="ascii")
    source = feature.Source(
        id="uk-tps",
        name="TPS",
        country="GB",
        format=feature.Format.NUMBERS,
        max_age_days=28,
        date=clock.now() - timedelta(days=1),
        files=(file,),
    )
    database = verifier.ada.harness.database
    accepted = feature.Accepted()
    feature.load(database, source, accepted, effect=Effect.HIDE, tick=lambda: None, now=clock.now())

    upload = verifier.verify(b"Phone\n+44 7860 338653\n+44 7860 338654\n")

    marks = [row.phone_do_not_call for row in verifier.rows(upload)]
    assert marks == [f"TPS of {(clock.now() - timedelta(days=1)).date()}", None]
    assert [row.phone for row in verifier.rows(upload)] == ["+447860338653", "+447860338654"]


def test_a_workbook_comes_back_as_a_workbook(verifier: Verifier) -> None:
    book = Workbook()
    for row in (("Email", "Size"), ("ada@acme.com", 12.5), ("nobody", 3)):
        book.active.append(row)  # type: ignore[union-attr]
    file = io.BytesIO()
    book.save(file)

    upload = verifier.verify(file.getvalue(), file_name="list.xlsx")

    sheet = load_workbook(io.BytesIO(verifier.file(upload, result_files.format_of(upload)))).active
    rows = list(sheet.iter_rows(values_only=True))  # type: ignore[union-attr]
    assert [row[:4] for row in rows] == [
        ("Email", "Size", "Verified email", "Email verdict"),
        ("ada@acme.com", 12.5, "ada@acme.com", "valid"),
        ("nobody", 3, None, None),
    ]
    assert str(rows[2][-1]).startswith("This is not an e-mail address")


def test_what_it_costs_at_most_is_said_before(verifier: Verifier) -> None:
    content = b"email,phone\nada@acme.com,+4930901820\nADA@acme.com,\nbob@acme.com,\n,+4930901821\n,\nx,\n"

    upload = verifier.ada.get(verifier.upload(content))

    assert (upload.status, upload.fields) == (UploadStatus.READY, [])
    assert upload.estimate == {
        "credits_min": 0,
        "credits_max": 2,
        "people": 3,
        "emails": 2,
        "phones": 2,
        "known": 0,
        "duplicates": 1,
        "invalid": 1,
        "suppressed": 0,
    }
    assert verifier.balance()[1:] == (0, 0)


def test_a_duplicate_is_verified_and_charged_once_and_has_the_verdict(verifier: Verifier) -> None:
    content = b"email,phone\nada@acme.com,\nAda <ada@acme.com>,+4930901820\n,+4930901820\n,+49 30 901820\n"

    upload = verifier.verify(content)

    rows = verifier.rows(upload)
    assert [(row.outcome, row.credits) for row in rows] == [
        ("valid", 1),
        ("valid", 0),
        ("valid", 0),
        ("valid", 0),
    ]
    assert [row.note for row in rows] == [None, "The same value as row 1.", None, "The same value as row 3."]
    assert [row.phone for row in rows] == [None, *["+4930901820"] * 3]
    assert (upload.charged, upload.outcomes, len(verifier.fake.requests)) == (1, {"valid": 2}, 1)
    with verifier.ada.harness.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(JobItem)) == 2


def test_each_row_without_a_verdict_says_why_and_costs_nothing(verifier: Verifier) -> None:
    content = (
        b"email,phone,name\n,,Eve\nnobody,030 1,\nx@y,+4930901820,\n"
        b"dan@acme.com;ada@acme.com,,\ncat@acme.com,,\none,two,three,four\n"
    )

    upload = verifier.verify(content)

    empty, neither, phone, several, unknown, broken = verifier.rows(upload)
    assert (empty.outcome, empty.note) == (
        "unreadable",
        "The row has nothing to verify: its cells are empty.",
    )
    assert neither.note is not None
    assert "not an e-mail address" in neither.note
    assert "phone number" in neither.note
    assert (phone.outcome, phone.phone, phone.phone_country) == ("valid", "+4930901820", "DE")
    assert phone.note == "This is not an e-mail address such as ada@acme.com."
    assert several.note is not None
    assert several.note.startswith("The cell has several addresses")
    assert (unknown.outcome, unknown.note) == ("unknown", "No verifier could tell. Nothing was charged.")
    assert broken.outcome == "unreadable"
    assert (upload.charged, sum(row.credits or 0 for row in verifier.rows(upload))) == (0, 0)


def test_no_address_is_valid_where_a_later_job_finds_that_the_domain_accepts_all_mail(
    verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "SIZE", 1)
    verifier.answers(ada=VALID, bob=ACCEPT_ALL, cat=VALID)

    upload = verifier.verify(b"ada@acme.com\nbob@acme.com\ncat@acme.com\nada@globex.com\n")

    assert [row.email_status for row in verifier.rows(upload)] == [*["accept_all"] * 3, "valid"]
    assert upload.outcomes == {"accept_all": 3, "valid": 1}


def test_a_verdict_that_the_workspace_has_is_free_unless_a_fresh_one_is_wanted(verifier: Verifier) -> None:
    content = b"email\nada@acme.com\nbob@acme.com\n"
    verifier.verify(b"email\nada@acme.com\n")

    again = verifier.upload(content)
    known = verifier.ada.get(again).estimate or {}
    verifier.ada.start(again)
    done = verifier.ada.run(again)
    fresh = verifier.upload(content)
    verifier.fresh(fresh)
    verifier.ada.start(fresh)
    verified = verifier.ada.run(fresh)

    assert (known["known"], known["credits_max"], done.charged) == (1, 1, 1)
    assert [row.credits for row in verifier.rows(done)] == [0, 1]
    assert ((verified.estimate or {})["credits_max"], verified.charged) == (2, 2)


def test_a_list_pauses_when_the_allowed_credits_are_spent_and_goes_on_with_more(verifier: Verifier) -> None:
    upload_id = verifier.upload(b"ada@acme.com\nbob@acme.com\n")
    verifier.ada.start(upload_id, max_credits=1)
    paused = verifier.ada.run(upload_id)
    before = [row.outcome for row in verifier.rows(paused)]
    verifier.ada.start(upload_id)

    done = verifier.ada.run(upload_id)

    assert (paused.status, paused.reason, paused.charged, before) == (
        "paused",
        "max_credits",
        1,
        ["valid", "pending"],
    )
    assert (done.status, done.charged) == ("finished", 2)


def test_a_job_that_ends_without_a_verdict_is_repeated_and_an_address_is_charged_once(
    verifier: Verifier,
) -> None:
    upload_id = verifier.upload(b"ada@acme.com\nbob@acme.com\n")
    verifier.ada.start(upload_id)
    verifier.ada.turn(upload_id)
    [job_id] = verifier.ada.open_jobs()
    with verifier.ada.harness.database.transaction() as session:
        sweeper.cancel(session, job_id, now=clock.now())

    done = verifier.ada.run(upload_id)

    assert (done.status, done.charged, verifier.balance()[1]) == ("finished", 2, 0)
    assert len(verifier.fake.requests) == 2


def test_the_job_of_a_list_waits_a_day_for_its_verdicts(verifier: Verifier) -> None:
    upload_id = verifier.upload(b"ada@acme.com\n")
    verifier.ada.start(upload_id)
    verifier.ada.turn(upload_id)

    with verifier.ada.harness.database.reading() as session:
        job = session.get_one(Job, verifier.ada.open_jobs()[0])
    assert (job.kind, job.request["upload_id"]) == (Kind.VERIFICATION, upload_id)
    assert job.deadline_at - job.created_at == timedelta(days=1)
    assert [row.outcome for row in verifier.ada.results(upload_id)] == ["pending"]


def test_a_canceled_list_says_so_in_its_rows(verifier: Verifier) -> None:
    upload_id = verifier.upload(b"ada@acme.com\n")
    verifier.ada.cancel(upload_id)

    [row] = verifier.ada.results(upload_id)

    assert (row.outcome, row.note) == ("pending", "The upload was canceled before this row was finished.")


def test_nothing_is_said_of_an_address_that_is_suppressed(verifier: Verifier) -> None:
    verifier.ada.harness.suppress("email", "ada@acme.com")

    upload = verifier.verify(b"email,phone\nada@acme.com,+4930901820\n")

    [row] = verifier.rows(upload)
    assert (row.outcome, row.email, row.phone, row.credits) == (Outcome.SUPPRESSED, None, None, 0)
    assert upload.outcomes == {"suppressed": 1}


def test_a_list_without_a_known_column_waits_for_a_mapping(verifier: Verifier) -> None:
    upload = verifier.ada.get(verifier.upload(b"a,b\nx,y\nz,1\n"))

    assert (upload.status, upload.columns) == (UploadStatus.MAPPING, [None, None])


def test_a_list_to_verify_needs_no_purpose(verifier: Verifier, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = PurposeRule(frozenset({EVERYWHERE}))
    monkeypatch.setattr(
        type(verifier.ada.harness.services.settings), "purpose_rule", property(lambda _self: rule)
    )

    assert verifier.verify(b"ada@acme.com\n").status == UploadStatus.FINISHED


def test_pricing_goes_on_where_a_turn_ended(verifier: Verifier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pricing, "BATCH", 1)
    monkeypatch.setattr(pricing, "TURN_SECONDS", -1.0)
    upload_id = verifier.upload(b"email\nada@acme.com\nada@acme.com\nbob@acme.com\n")
    while verifier.ada.get(upload_id).status == UploadStatus.PRICING:
        work.advance_upload(upload_id, verifier.ada.harness.services)

    estimate = verifier.ada.get(upload_id).estimate or {}
    assert (estimate["emails"], estimate["duplicates"]) == (2, 1)


def test_a_row_whose_job_ended_without_a_verdict_says_so_until_it_is_tried_again(verifier: Verifier) -> None:
    upload_id = verifier.upload(b"ada@acme.com\nbob@acme.com\n")
    verifier.ada.start(upload_id, max_credits=1)
    verifier.ada.turn(upload_id)
    verifier.ada.run_jobs()
    refused = verifier.ada.results(upload_id)[1]
    canceled_id = verifier.upload(b"cat@acme.com\n")
    verifier.ada.start(canceled_id)
    verifier.ada.turn(canceled_id)
    with verifier.ada.harness.database.transaction() as session:
        sweeper.cancel(session, verifier.ada.open_jobs()[0], now=clock.now())

    [canceled] = verifier.ada.results(canceled_id)

    assert (refused.outcome, refused.note) == ("failed", "max_credits was used up before this address.")
    assert (canceled.outcome, canceled.note) == ("failed", JobExpired.title)


def test_an_erased_row_stays_empty_and_costs_nothing(verifier: Verifier) -> None:
    upload_id = verifier.upload(b"email\nada@acme.com\nbob@acme.com\n")
    with verifier.ada.harness.database.transaction() as session:
        erasure.clear(session, [(upload_id, 0)])
    verifier.fresh(upload_id)

    verifier.ada.start(upload_id)
    done = verifier.ada.run(upload_id)

    estimate = done.estimate or {}
    erased, bob = verifier.rows(done)
    assert (estimate["suppressed"], estimate["emails"], done.charged) == (1, 1, 1)
    assert (erased.cells, erased.outcome, erased.credits) == ((), "suppressed", 0)
    assert (bob.outcome, done.outcomes) == ("invalid", {"invalid": 1})
