"""What a verification stores and charges, whatever fails."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from audit_support import STUCK_AFTER
from fake_providers import ERROR, MISS, FakeProvider, Reply, hit
from fake_providers import email as found_email
from jobs_support import NOW, a_job, a_workspace, at_once
from sqlalchemy import event
from worker_harness import WorkerHarness, worker_harness

from app.domain.findings import EmailStatus
from app.domain.ids import new_id
from app.domain.kinds import Kind, Outcome, Status
from app.engine.audit import rule_checks
from app.engine.jobs import jobs
from app.engine.jobs.jobs import Job, JobItem
from app.engine.own_records import known_verdicts
from app.engine.own_records.own_verifications import Verdict
from app.features.verifications import work
from app.infra import clock
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import job_runner, shutdown_flag
from workers.providers.base import Pending, ProviderRequest, ProviderResponse
from workers.resolve.waterfall import WaterfallResult

VALID, ACCEPT_ALL, INVALID = EmailStatus.VALID, EmailStatus.ACCEPT_ALL, EmailStatus.INVALID


@dataclass
class Verifications:
    """A workspace with 10 credits that verifies addresses, and the worker that runs its jobs."""

    harness: WorkerHarness

    def verifier(self, reply: Reply) -> FakeProvider:
        return self.harness.set_providers(one=reply, verifiers=("one",))["one"]

    def submit(self, *values: str, held: int | None = None, fresh: bool = False) -> str:
        items = tuple({"email" if "@" in value else "phone": value} for value in values)
        held = sum("email" in item for item in items) if held is None else held
        with self.harness.database.transaction() as session:
            job_id = a_job(
                session,
                self.harness.workspace_id,
                new_id("job"),
                kind=Kind.VERIFICATION,
                request={"max_credits": None, "fresh": fresh},
                price=held,
            )
            session.add_all(
                JobItem(job_id=job_id, index=index, request=request, charged=0)
                for index, request in enumerate(items)
            )
            session.get_one(Job, job_id).progress_total = len(items)
        return job_id

    def run(self, job_id: str) -> Job:
        self.harness._make_due(job_id)  # noqa: SLF001 -- a harness of the same tests
        job_runner.run(job_id, work.verification, self.harness.services)
        with self.harness.database.reading() as session:
            return session.get_one(Job, job_id)

    def items(self, job_id: str) -> list[JobItem]:
        with self.harness.database.reading() as session:
            return jobs.items(session, job_id)

    def statuses(self, job_id: str) -> list[str]:
        return [item.result["emails"][0]["status"] for item in self.items(job_id) if item.result]

    def violations(self) -> list[str]:
        with self.harness.database.reading() as session:
            found = rule_checks.check(session, stuck_after=STUCK_AFTER, now=clock.now())
            return [fault.rule for result in found for fault in result.faults]


@pytest.fixture
def verifications(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Verifications:
    return Verifications(worker_harness(settings, database, monkeypatch))


def by_name(**statuses: EmailStatus) -> Callable[[ProviderRequest], ProviderResponse]:
    """Return a reply with the status of the local part, or a miss."""

    def reply(request: ProviderRequest) -> ProviderResponse:
        address = str(request.subject.email)
        status = statuses.get(address.partition("@")[0])
        if status is None:
            return MISS
        return hit(replace(found_email(address, status), verified_at=NOW))

    return reply


def test_each_verdict_is_charged_and_an_unknown_address_is_not(verifications: Verifications) -> None:
    verifications.verifier(by_name(ada=VALID, bob=INVALID))
    job_id = verifications.submit("ada@acme.com", "bob@acme.com", "cat@acme.com")

    job = verifications.run(job_id)

    assert (job.status, job.outcome, job.charged) == (Status.SUCCEEDED, Outcome.PARTIAL, 2)
    assert verifications.statuses(job_id) == ["valid", "invalid", "unknown"]
    assert [item.charged for item in verifications.items(job_id)] == [1, 1, 0]
    assert verifications.violations() == []


def test_an_address_is_never_valid_at_a_domain_that_accepts_all_mail(verifications: Verifications) -> None:
    verifications.verifier(by_name(ada=VALID, bob=ACCEPT_ALL))
    job_id = verifications.submit("ada@acme.com", "bob@acme.com", "ada@globex.com")

    job = verifications.run(job_id)

    assert verifications.statuses(job_id) == ["accept_all", "accept_all", "valid"]
    assert (job.outcome, job.charged) == (Outcome.FOUND, 3)


def test_a_number_is_described_by_its_numbering_plan_and_free(verifications: Verifications) -> None:
    verifier = verifications.verifier(MISS)
    job_id = verifications.submit("+4915112345678", "+12005550143")

    job = verifications.run(job_id)

    mobile, reserved = [item.result["phones"][0] for item in verifications.items(job_id) if item.result]
    assert (mobile["status"], mobile["line_type"], mobile["country"]) == ("valid", "mobile", "DE")
    assert (reserved["status"], reserved["verified_at"]) == ("invalid", None)
    assert (job.outcome, job.charged, verifier.requests) == (Outcome.FOUND, 0, [])


def test_nothing_is_asked_about_an_address_that_is_suppressed(verifications: Verifications) -> None:
    verifier = verifications.verifier(by_name(ada=VALID))
    verifications.harness.suppress("email", "ada@acme.com")
    job_id = verifications.submit("ada@acme.com")

    job = verifications.run(job_id)

    [item] = verifications.items(job_id)
    assert (job.outcome, job.charged, verifier.requests) == (Outcome.SUPPRESSED, 0, [])
    assert (item.request, item.result) == ({}, None)


def test_addresses_beyond_the_hold_are_not_verified(verifications: Verifications) -> None:
    verifier = verifications.verifier(by_name(ada=VALID, bob=VALID))
    job_id = verifications.submit("ada@acme.com", "bob@acme.com", held=1)

    job = verifications.run(job_id)

    errors = [item.error and item.error["code"] for item in verifications.items(job_id)]
    assert (job.outcome, job.charged, errors) == (Outcome.PARTIAL, 1, [None, "insufficient_credits"])
    assert len(verifier.requests) == 1
    assert verifications.violations() == []


def test_a_price_of_0_verifies_all(verifications: Verifications) -> None:
    verifications.verifier(by_name(ada=VALID))
    prices = {**verifications.harness.services.settings.prices, Kind.VERIFICATION: 0}
    verifications.harness.change_settings(prices=prices)
    job_id = verifications.submit("ada@acme.com", held=0)

    job = verifications.run(job_id)

    assert (job.outcome, job.charged) == (Outcome.FOUND, 0)


def test_a_verdict_that_takes_time_is_awaited_and_others_are_stored(verifications: Verifications) -> None:
    ready = False

    def reply(request: ProviderRequest) -> ProviderResponse | Pending:
        if request.subject.email == "ada@acme.com" and not ready:
            return Pending("token", after=300.0)
        return by_name(ada=VALID, bob=VALID)(request)

    verifier = verifications.verifier(reply)
    job_id = verifications.submit("ada@acme.com", "bob@acme.com")
    waiting = verifications.run(job_id)
    ready = True

    job = verifications.run(job_id)

    assert (waiting.status, waiting.charged, waiting.attempts) == (Status.QUEUED, 1, 0)
    assert (job.outcome, job.charged) == (Outcome.FOUND, 2)
    assert sum(request.subject.email == "bob@acme.com" for request in verifier.requests) == 1


def test_failed_verifiers_are_asked_again_and_then_the_address_is_unknown(
    verifications: Verifications,
) -> None:
    verifications.verifier(ERROR)
    job_id = verifications.submit("ada@acme.com")
    attempts = verifications.harness.services.settings.max_attempts

    states = [verifications.run(job_id) for _ in range(attempts)]

    assert [job.status for job in states[:-1]] == [Status.QUEUED] * (attempts - 1)
    assert (states[-1].outcome, states[-1].charged) == (Outcome.NOT_FOUND, 0)


def test_a_failure_beside_a_verdict_that_is_awaited_counts_as_an_attempt(
    verifications: Verifications,
) -> None:
    def reply(request: ProviderRequest) -> ProviderResponse | Pending:
        return Pending("token", after=300.0) if request.subject.email == "ada@acme.com" else ERROR

    verifications.verifier(reply)
    job_id = verifications.submit("ada@acme.com", "bob@acme.com")

    job = verifications.run(job_id)

    assert (job.status, job.attempts) == (Status.QUEUED, 1)


def test_a_job_goes_on_where_a_worker_that_shut_down_left_it(
    verifications: Verifications, monkeypatch: pytest.MonkeyPatch
) -> None:
    verifier = verifications.verifier(by_name(ada=VALID))
    monkeypatch.setattr(work, "AT_A_TIME", 1)
    stops = iter([False, True, False])
    monkeypatch.setattr(shutdown_flag, "has_begun", lambda: next(stops))
    job_id = verifications.submit("ada@acme.com", "ada@globex.com")
    stopped = verifications.run(job_id)

    job = verifications.run(job_id)

    assert (stopped.status, stopped.charged) == (Status.QUEUED, 1)
    assert (job.outcome, job.charged, len(verifier.requests)) == (Outcome.FOUND, 2, 2)
    assert verifications.violations() == []


@pytest.mark.parametrize("is_awaited", [True, False])
def test_a_job_yields_to_the_jobs_of_other_workspaces(
    verifications: Verifications, monkeypatch: pytest.MonkeyPatch, *, is_awaited: bool
) -> None:
    verifications.verifier(by_name(ada=VALID))
    monkeypatch.setattr(work, "AT_A_TIME", 1)
    monkeypatch.setattr(work, "SLICE_SECONDS", -1.0)
    monkeypatch.setattr(work.scheduling, "must_yield", lambda *_arguments, **_options: is_awaited)
    job_id = verifications.submit("ada@acme.com", "ada@globex.com")

    job = verifications.run(job_id)

    assert (job.status, job.charged) == ((Status.QUEUED, 1) if is_awaited else (Status.SUCCEEDED, 2))


def test_an_item_that_is_completed_already_is_not_charged_again(verifications: Verifications) -> None:
    verifications.verifier(by_name(ada=VALID))
    job_id = verifications.submit("ada@acme.com")
    with verifications.harness.database.reading() as session:
        [stale] = jobs.items(session, job_id)

    def twice(write: Callable[[], Any]) -> Any:
        write()
        return write()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "persist", twice)
        job = verifications.run(job_id)

    assert (stale.outcome, job.charged) == (None, 1)
    assert verifications.violations() == []


def test_a_verdict_that_has_not_expired_is_repeated_and_not_charged(verifications: Verifications) -> None:
    verifier = verifications.verifier(by_name(ada=VALID, bob=INVALID))
    verifications.run(verifications.submit("ada@acme.com"))

    again = verifications.submit("ada@acme.com", "bob@acme.com", held=1)
    job = verifications.run(again)

    assert (job.outcome, job.charged, len(verifier.requests)) == (Outcome.FOUND, 1, 2)
    assert verifications.statuses(again) == ["valid", "invalid"]
    assert verifications.violations() == []


def test_a_verdict_that_another_job_found_meanwhile_is_repeated(
    verifications: Verifications, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "SLICE_SECONDS", -1.0)
    bobs: list[str] = []

    def reply(request: ProviderRequest) -> ProviderResponse:
        if request.subject.email == "ada@acme.com":
            bobs.append(verifications.submit("bob@acme.com"))
            verifications.run(bobs[0])
        return by_name(ada=VALID, bob=VALID)(request)

    verifier = verifications.verifier(reply)
    others = [f"nobody{number}@acme.com" for number in range(work.AT_A_TIME - 1)]

    job = verifications.run(verifications.submit("ada@acme.com", *others, "bob@acme.com"))

    assert job.charged == 1
    assert [request.subject.email for request in verifier.requests].count("bob@acme.com") == 1
    assert verifications.violations() == []


def test_the_known_verdicts_of_a_job_are_read_together(
    verifications: Verifications, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "SLICE_SECONDS", 3600.0)
    verifications.verifier(MISS)
    known = [f"known{number}@acme.com" for number in range(2 * work.AT_A_TIME + 1)]
    verdict = Verdict("valid", clock.now())
    with verifications.harness.database.transaction() as session:
        known_verdicts.store(session, verifications.harness.workspace_id, dict.fromkeys(known, verdict))
    job_id = verifications.submit(*known, held=0)
    seen = Counter[str]()

    def note(*arguments: Any) -> None:
        seen[arguments[2]] += 1

    for engine in verifications.harness.database.engines:
        event.listen(engine, "before_cursor_execute", note)
    verifications.run(job_id)

    reads = [count for statement, count in seen.items() if "FROM own_verifications" in statement]
    assert verifications.statuses(job_id) == ["valid"] * len(known)
    assert max(reads) <= 2  # before the verdicts, and when the job settles


@pytest.mark.parametrize(("fresh", "charged"), [(False, [0, 0, 0, 1]), (True, [1, 1, 1, 1])])
def test_of_jobs_that_find_a_verdict_at_the_same_time_one_is_charged(
    verifications: Verifications, monkeypatch: pytest.MonkeyPatch, *, fresh: bool, charged: list[int]
) -> None:
    everybody = threading.Barrier(len(charged))
    found = replace(found_email("ada@acme.com", VALID), verified_at=clock.now())

    def find(*_arguments: Any, **_options: Any) -> WaterfallResult:
        everybody.wait(timeout=30)
        return WaterfallResult(emails=(found,))

    monkeypatch.setattr(work.configured_waterfall, "verify_privately", find)
    ids = [verifications.submit("ada@acme.com", fresh=fresh) for _job in charged]

    at_once(len(ids), lambda number: verifications.run(ids[number]))

    assert sorted(verifications.items(job_id)[0].charged for job_id in ids) == charged
    assert verifications.violations() == []


def test_a_verdict_that_has_expired_meanwhile_is_charged(verifications: Verifications) -> None:
    verifications.verifier(by_name(ada=VALID))
    with verifications.harness.database.transaction() as session:
        old = Verdict("valid", clock.now() - verifications.harness.services.settings.default_max_age)
        known_verdicts.store(session, verifications.harness.workspace_id, {"ada@acme.com": old})

    job = verifications.run(verifications.submit("ada@acme.com"))

    assert job.charged == 1


def test_a_fresh_verification_repeats_no_verdict(verifications: Verifications) -> None:
    verifier = verifications.verifier(by_name(ada=VALID))
    verifications.run(verifications.submit("ada@acme.com"))

    job = verifications.run(verifications.submit("ada@acme.com", fresh=True))

    assert (job.charged, len(verifier.requests)) == (1, 2)


def test_an_unknown_address_is_verified_again(verifications: Verifications) -> None:
    verifications.verifier(MISS)
    verifications.run(verifications.submit("ada@acme.com"))
    verifications.verifier(by_name(ada=VALID))

    job = verifications.run(verifications.submit("ada@acme.com"))

    assert (job.outcome, job.charged) == (Outcome.FOUND, 1)


def test_a_verdict_of_another_workspace_is_not_repeated(verifications: Verifications) -> None:
    verifications.verifier(by_name(ada=VALID))
    verifications.run(verifications.submit("ada@acme.com"))
    with verifications.harness.database.transaction() as session:
        verifications.harness.workspace_id = a_workspace(session, grant=10)

    job = verifications.run(verifications.submit("ada@acme.com"))

    assert job.charged == 1


def test_a_repeated_verdict_is_not_valid_once_its_domain_is_known_to_accept_all_mail(
    verifications: Verifications,
) -> None:
    verifications.verifier(by_name(ada=VALID, bob=ACCEPT_ALL))
    verifications.run(verifications.submit("ada@acme.com"))
    verifications.run(verifications.submit("bob@acme.com"))

    again = verifications.submit("ada@acme.com")
    job = verifications.run(again)

    assert (verifications.statuses(again), job.charged) == (["accept_all"], 0)


def test_a_new_verdict_is_not_valid_where_the_domain_was_found_to_accept_all_mail(
    verifications: Verifications,
) -> None:
    verifications.verifier(by_name(ada=VALID, bob=ACCEPT_ALL))
    verifications.run(verifications.submit("bob@acme.com"))

    job_id = verifications.submit("ada@acme.com")
    verifications.run(job_id)

    assert verifications.statuses(job_id) == ["accept_all"]
