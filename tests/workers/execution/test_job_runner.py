from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
from jobs_support import NOW, a_job, a_workspace, claim, figures, read, set_clock, try_claim
from sqlalchemy import func, select, update
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs
from worker_harness import deliver

from app.domain.errors import ContactNotFound, InsufficientCredits, InternalError, ProviderFailed, Unavailable
from app.domain.kinds import Kind, Outcome, Queue, Status
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.suppressions.suppressions import Suppression
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import REQUEST_ID, Job
from app.engine.jobs.leases import JobResult
from app.engine.work.turns import LeaseLost
from app.infra import clock
from app.infra.broker import celery_app
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution import claimer, job_runner, retries, worker_services
from workers.execution.job_runner import Resolution
from workers.execution.retries import RetryLater
from workers.execution.worker_services import WorkerServices

FOUND = JobResult(outcome=Outcome.FOUND, result={"emails": []}, charge=1, trace=[{"provider": "one"}])


class RecordingNotifier:
    """A notifier that records the jobs it was called for."""

    def __init__(self) -> None:
        self.notified: list[str] = []

    def notify(self, job_ids: Sequence[str]) -> None:
        self.notified += job_ids


@dataclasses.dataclass
class CannedResolution:
    """A resolution that runs a step in the settling transaction and returns a given result."""

    result: JobResult
    step: Callable[[Session], Any] = lambda _session: None

    def settle(self, session: Session, _now: datetime) -> JobResult:
        self.step(session)
        return self.result


@pytest.fixture
def notifier() -> RecordingNotifier:
    return RecordingNotifier()


@pytest.fixture
def services(settings: Settings, database: Database, notifier: RecordingNotifier) -> WorkerServices:
    settings = dataclasses.replace(settings, max_attempts=3)
    return WorkerServices(settings, database, JobPublisher(settings.redis_url), notifier)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def at_half_past_nine(monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, lambda: NOW)


@pytest.fixture
def no_services() -> Iterator[None]:
    """Remove this process's service objects during the test, and dispose of those it creates."""
    before, worker_services._current[:] = list(worker_services._current), []  # noqa: SLF001 -- process-wide state
    yield
    for created in worker_services._current:  # noqa: SLF001
        created.database.close()
    worker_services._current[:] = before  # noqa: SLF001


@pytest.fixture
def job_id(database: Database) -> str:
    with database.transaction() as session:
        return a_job(session, a_workspace(session, grant=10))


def returns(result: JobResult) -> job_runner.JobFunction:
    return lambda _claim, _services: CannedResolution(result)


def raises(error: Exception) -> job_runner.JobFunction:
    def work(_claim: Claim, _services: WorkerServices) -> Resolution:
        raise error

    return work


def settles_with(step: Callable[[Session], Any]) -> job_runner.JobFunction:
    """Return a job function whose settling transaction adds a suppression, then runs the step."""

    def suppress_and_step(session: Session) -> None:
        suppressions.suppress(session, [Identifier("email", "ada@acme.com")], reason="test", now=NOW)
        step(session)

    return lambda _claim, _services: CannedResolution(FOUND, suppress_and_step)


def fail(error: Exception) -> None:
    raise error


def after(services: WorkerServices, job_id: str) -> tuple[Job, tuple[int, int, int]]:
    with services.database.reading() as session:
        job = read(session, job_id)
        return job, figures(session, job.workspace_id)


def count_suppressions(services: WorkerServices) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(Suppression)) or 0


def test_a_job_is_claimed_resolved_settled_and_notified(
    services: WorkerServices, notifier: RecordingNotifier, job_id: str
) -> None:
    job_runner.run(job_id, returns(FOUND), services)

    job, credits = after(services, job_id)
    assert (job.status, job.outcome, job.result) == (Status.SUCCEEDED, Outcome.FOUND, {"emails": []})
    assert (job.charged, job.trace, credits) == (1, [{"provider": "one"}], (9, 0, 1))
    assert notifier.notified == [job_id]


def test_the_job_function_gets_the_claim_and_no_open_transaction(
    services: WorkerServices, job_id: str
) -> None:
    given: list[Claim] = []

    def work(claim: Claim, services: WorkerServices) -> Resolution:
        given.append(claim)
        with services.database.transaction() as session:
            assert read(session, job_id).status == Status.RUNNING
        return CannedResolution(FOUND)

    job_runner.run(job_id, work, services)

    assert [(one.job_id, one.attempts, one.budget) for one in given] == [(job_id, 1, 1)]
    assert after(services, job_id)[0].status == Status.SUCCEEDED


def test_the_log_of_a_job_names_the_request_that_submitted_it(
    services: WorkerServices, database: Database
) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=10)
        submitted = a_job(session, workspace_id, request={"subject": {}, REQUEST_ID: "req-1"})
    logged: list[dict[str, Any]] = []

    def work(_claim: Claim, _services: WorkerServices) -> Resolution:
        logged.append(structlog.contextvars.get_contextvars())
        return CannedResolution(FOUND)

    job_runner.run(submitted, work, services)

    assert logged == [{"job": submitted, "kind": Kind.REVEAL_EMAIL.value, "request_id": "req-1"}]


@pytest.mark.parametrize(("state", "reason"), [("running", "held"), ("nothing", "unknown")])
def test_a_job_that_cannot_be_claimed_is_left_alone_and_its_message_counted(
    services: WorkerServices, notifier: RecordingNotifier, job_id: str, state: str, reason: str
) -> None:
    wanted = {"running": job_id, "nothing": "job_nothing"}[state]
    with services.database.transaction() as session:
        claim(session, job_id)

    deliver(services, wanted)

    assert services.refused == {reason: 1}
    assert after(services, job_id)[0].status == Status.RUNNING
    assert notifier.notified == []


@pytest.mark.parametrize(("attempts", "most"), [(0, 1.0), (1, 2.0)])
def test_a_retry_is_scheduled_with_jitter(  # noqa: PLR0917 -- two of them are the case
    services: WorkerServices,
    notifier: RecordingNotifier,
    job_id: str,
    monkeypatch: pytest.MonkeyPatch,
    attempts: int,
    most: float,
) -> None:
    bounds: list[tuple[float, float]] = []
    draw = SimpleNamespace(uniform=lambda low, high: bounds.append((low, high)) or 0.75)
    monkeypatch.setattr(retries, "random", draw)
    with services.database.transaction() as session:
        session.execute(update(Job).values(attempts=attempts))

    job_runner.run(job_id, raises(RetryLater(({"provider": "one"},))), services)

    job, credits = after(services, job_id)
    assert (job.status, job.run_after) == (Status.QUEUED, NOW + timedelta(seconds=0.75))
    assert (job.trace, credits, bounds) == ([{"provider": "one"}], (9, 1, 0), [(0, most)])
    assert notifier.notified == [job_id]


def test_the_backoff_has_a_maximum(
    services: WorkerServices, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds: list[float] = []
    draw = SimpleNamespace(uniform=lambda _low, high: bounds.append(high) or 0.0)
    monkeypatch.setattr(retries, "random", draw)
    patient = dataclasses.replace(services, settings=dataclasses.replace(services.settings, max_attempts=99))
    with services.database.transaction() as session:
        session.execute(update(Job).values(attempts=20))

    job_runner.run(job_id, raises(RetryLater()), patient)

    assert bounds == [retries.MAX_BACKOFF_SECONDS]


def test_a_snooze_may_last_five_minutes(services: WorkerServices, job_id: str) -> None:
    before = clock.now()

    job_runner.run(job_id, raises(RetryLater(after=300.0, snooze=True)), services)

    assert after(services, job_id)[0].run_after - before >= timedelta(seconds=300)


def test_a_snoozed_job_never_uses_up_its_attempts(services: WorkerServices, job_id: str) -> None:
    for _ in range(services.settings.max_attempts + 2):
        job_runner.run(job_id, raises(RetryLater(after=0, snooze=True)), services)

    job, credits = after(services, job_id)
    assert (job.status, job.attempts, credits) == (Status.QUEUED, 0, (9, 1, 0))


@pytest.mark.parametrize("seconds", [0.0, 30.0])
def test_a_retry_with_a_delay_is_scheduled_for_that_time(
    services: WorkerServices, job_id: str, seconds: float
) -> None:
    job_runner.run(job_id, raises(RetryLater(after=seconds)), services)

    assert after(services, job_id)[0].run_after == NOW + timedelta(seconds=seconds)


def line(minute: int) -> dict[str, Any]:
    return {"provider": "one", "outcome": "error", "at": f"2026-11-20T09:{minute:02}:00.000Z"}


def test_a_job_without_attempts_left_fails_and_costs_nothing(
    services: WorkerServices, notifier: RecordingNotifier, job_id: str
) -> None:
    for number in range(3):
        job_runner.run(job_id, raises(RetryLater((line(number),), after=0)), services)

    job, credits = after(services, job_id)
    assert (job.status, job.error) == (Status.FAILED, ProviderFailed().as_dict())
    assert (job.attempts, job.trace) == (3, [line(0), line(1), line(2)])
    assert credits == (10, 0, 0)
    assert notifier.notified == [job_id] * 3


@pytest.mark.parametrize(
    "problem", [ProviderFailed(), InsufficientCredits(required=2, balance=1), ContactNotFound()]
)
def test_a_problem_fails_the_job_without_a_retry(
    services: WorkerServices, job_id: str, problem: job_runner.Problem
) -> None:
    job_runner.run(job_id, raises(problem), services)

    job, credits = after(services, job_id)
    assert (job.status, job.error, job.attempts) == (Status.FAILED, problem.as_dict(), 1)
    assert credits == (10, 0, 0)


def test_a_job_that_raises_is_retried_and_the_message_is_not_logged(
    services: WorkerServices, job_id: str
) -> None:
    with capture_logs() as events:
        job_runner.run(job_id, raises(LookupError("ada@acme.com")), services)

    assert after(services, job_id)[0].status == Status.QUEUED
    assert "ada@acme.com" not in repr([event | {"exc_info": None} for event in events])
    assert [event["event"] for event in events if event["log_level"] == "error"] == ["job raised"]


def test_a_job_that_always_raises_fails_after_its_last_attempt(services: WorkerServices, job_id: str) -> None:
    for _ in range(3):
        with services.database.transaction() as session:
            session.execute(update(Job).values(run_after=NOW))
        job_runner.run(job_id, raises(LookupError()), services)

    job, credits = after(services, job_id)
    assert (job.status, job.error, credits) == (Status.FAILED, InternalError().as_dict(), (10, 0, 0))


def test_writes_of_a_settlement_that_fails_are_rolled_back(services: WorkerServices, job_id: str) -> None:
    job_runner.run(job_id, settles_with(lambda _session: fail(LookupError())), services)

    assert count_suppressions(services) == 0
    assert after(services, job_id)[0].status == Status.QUEUED


def test_a_worker_that_lost_the_lease_discards_the_result(
    services: WorkerServices, notifier: RecordingNotifier, job_id: str
) -> None:
    def work(_claim: Claim, services: WorkerServices) -> Resolution:
        with services.database.transaction() as session:
            assert try_claim(session, job_id, now=NOW + timedelta(minutes=1)) is not None
        return settles_with(lambda _session: None)(_claim, services)

    job_runner.run(job_id, work, services)

    job, credits = after(services, job_id)
    assert (job.status, job.crashes, credits) == (Status.RUNNING, 1, (9, 1, 0))
    assert (count_suppressions(services), notifier.notified) == (0, [])


@pytest.mark.parametrize("error", [RetryLater(), ProviderFailed(), LookupError(), LeaseLost()])
def test_a_worker_that_lost_the_lease_can_neither_requeue_nor_fail_the_job(
    services: WorkerServices, notifier: RecordingNotifier, job_id: str, error: Exception
) -> None:
    def work(_claim: Claim, services: WorkerServices) -> Resolution:
        with services.database.transaction() as session:
            assert try_claim(session, job_id, now=NOW + timedelta(minutes=1)) is not None
        raise error

    job_runner.run(job_id, work, services)

    job, credits = after(services, job_id)
    assert (job.status, job.error, credits, notifier.notified) == (Status.RUNNING, None, (9, 1, 0), [])


def test_settling_is_retried_while_the_database_is_unavailable(
    services: WorkerServices, job_id: str, notifier: RecordingNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_runner, "DATABASE_RETRY_DELAYS", (0.0, 0.0))
    troubles = [OperationalError("SELECT 1", None, Exception())]

    job_runner.run(job_id, settles_with(lambda _session: troubles and fail(troubles.pop())), services)

    job, credits = after(services, job_id)
    assert (job.status, credits, notifier.notified) == (Status.SUCCEEDED, (9, 0, 1), [job_id])


def test_a_job_is_left_to_its_lease_if_the_database_stays_unavailable(
    services: WorkerServices, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_runner, "DATABASE_RETRY_DELAYS", (0.0, 0.0))
    away = OperationalError("SELECT 1", None, Exception())

    with pytest.raises(Unavailable):
        job_runner.run(job_id, settles_with(lambda _session: fail(away)), services)

    assert count_suppressions(services) == 0
    assert after(services, job_id)[0].status == Status.RUNNING


def test_a_forked_process_gets_its_own_services_and_leaves_its_parents_open(
    settings: Settings, database: Database, no_services: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[WorkerServices] = []
    monkeypatch.setattr(worker_services, "_parents", kept)
    parents = worker_services.configure(settings)

    own = worker_services.reconfigure_after_fork(settings)

    assert own is worker_services.current()
    assert own is not parents
    assert own.database is not parents.database
    assert kept == [parents]


def test_a_process_has_one_set_of_services(settings: Settings, database: Database, no_services: None) -> None:
    first = worker_services.configure(settings)

    assert worker_services.configure(settings) is first is worker_services.current()
    assert first.settings is settings


@pytest.fixture
def unregistered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Unregister a kind's job functions during the test, and restore them afterwards."""
    monkeypatch.delitem(claimer.FROM_STORED, Kind.REVEAL_PHONE, raising=False)
    work, task = job_runner.JOBS.get(Kind.REVEAL_PHONE), celery_app.celery.tasks.get(Kind.REVEAL_PHONE.value)
    celery_app.celery.tasks.pop(Kind.REVEAL_PHONE.value, None)
    yield
    celery_app.celery.tasks.pop(Kind.REVEAL_PHONE.value, None)
    job_runner.JOBS.pop(Kind.REVEAL_PHONE, None)
    if work is not None and task is not None:
        job_runner.JOBS[Kind.REVEAL_PHONE] = work
        celery_app.celery.tasks.register(task)


@pytest.fixture
def phone_job_id(database: Database) -> str:
    with database.transaction() as session:
        return a_job(session, a_workspace(session), kind=Kind.REVEAL_PHONE)


def apply(kind: Kind, job_id: str, source: Queue = Queue.INTERACTIVE) -> None:
    """Run the task like a worker that received its message from this queue."""
    celery_app.celery.tasks[kind.value].apply((job_id,), routing_key=source.value)


def test_a_registered_job_runs_as_the_task_of_its_name(
    services: WorkerServices, phone_job_id: str, unregistered: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_services, "_current", [services])
    work = returns(FOUND)

    registered = job_runner.job(Kind.REVEAL_PHONE)(work)
    apply(Kind.REVEAL_PHONE, phone_job_id)

    assert registered is work is job_runner.JOBS[Kind.REVEAL_PHONE]
    assert after(services, phone_job_id)[0].status == Status.SUCCEEDED


def test_no_exception_reaches_celery(
    services: WorkerServices, phone_job_id: str, unregistered: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_services, "_current", [services])
    job_runner.job(Kind.REVEAL_PHONE)(raises(Unavailable("ada@acme.com")))

    with capture_logs() as events:
        apply(Kind.REVEAL_PHONE, phone_job_id)

    assert [(event["event"], event["job"]) for event in events] == [("job abandoned", phone_job_id)]
    assert "ada@acme.com" not in repr([event | {"exc_info": None} for event in events])
