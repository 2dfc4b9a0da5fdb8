from __future__ import annotations

import dataclasses
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta

import pytest
from jobs_support import NOW, a_job, a_workspace, claim, figures, read, set_clock
from local_servers import free_port
from polling import wait_until
from redis import Redis
from sqlalchemy import event, func, select, update
from sqlalchemy.orm import ORMExecuteState
from stored_support import a_contact, an_email
from structlog.testing import capture_logs

from app.domain.errors import JobExpired, Unavailable, WorkerLost
from app.domain.kinds import FORGET, SWEEP, Kind, Outcome, Queue, Status
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.jobs import idempotency, leases, sweeper
from app.engine.jobs.idempotency import IdempotencyKey
from app.engine.jobs.jobs import Job
from app.engine.jobs.leases import JobResult
from app.engine.privacy import redaction
from app.engine.queues import worker_heartbeats
from app.engine.queues.worker_heartbeats import Heartbeat, WorkerRecord, WorkerState
from app.infra.broker import celery_app
from app.infra.broker.job_notifications import JobListener, JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution import work, worker_services
from workers.execution.feature import work_parts
from workers.execution.worker_services import WorkerServices
from workers.jobs import audit, audit_log, upkeep
from workers.jobs.upkeep import Step, Sweeper


@pytest.fixture
def services(settings: Settings, database: Database, client: Redis, redis_url: str) -> WorkerServices:
    settings = dataclasses.replace(settings, redis_url=redis_url, sweep_seconds=0.02)
    return WorkerServices(settings, database, JobPublisher(redis_url), JobNotifier(redis_url))


@pytest.fixture
def without_redis(services: WorkerServices) -> WorkerServices:
    url = f"redis://127.0.0.1:{free_port()}/0"
    settings = dataclasses.replace(services.settings, redis_url=url)
    return WorkerServices(settings, services.database, JobPublisher(url), JobNotifier(url))


@pytest.fixture
def job_id(database: Database) -> str:
    with database.transaction() as session:
        return a_job(session, a_workspace(session, grant=10))


def at(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Set the clock to this many seconds after the job was created."""
    set_clock(monkeypatch, lambda: NOW + timedelta(seconds=seconds))


def job(database: Database, job_id: str) -> Job:
    with database.reading() as session:
        return read(session, job_id)


def test_a_lost_message_is_published_again(
    services: WorkerServices, client: Redis, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, services.settings.republish_seconds)

    upkeep.sweep_once(services)
    upkeep.sweep_once(services)

    assert client.llen(Queue.INTERACTIVE.value) == 1
    assert job(services.database, job_id).publishes == 1


@pytest.mark.parametrize(("is_empty", "publishes"), [(True, 4), (False, 3)])
def test_a_message_that_was_published_again_is_lost_if_the_queue_is_empty(
    services: WorkerServices,
    client: Redis,
    job_id: str,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_empty: bool,
    publishes: int,
) -> None:
    with services.database.transaction() as session:
        session.execute(update(Job).values(published_at=NOW, publishes=3))
    at(monkeypatch, services.settings.republish_seconds + 1)
    if not is_empty:
        client.lpush(Queue.INTERACTIVE.value, "x")

    upkeep.sweep_once(services)

    assert job(services.database, job_id).publishes == publishes


def test_each_kind_is_published_to_its_own_queue(
    services: WorkerServices, client: Redis, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with services.database.transaction() as session:
        a_job(session, a_workspace(session), kind=Kind.ENRICHMENT_REQUEST)
    at(monkeypatch, services.settings.republish_seconds)

    upkeep.sweep_once(services)

    assert (client.llen(Queue.INTERACTIVE.value), client.llen(Queue.ENRICHMENT.value)) == (1, 1)


def test_the_sweeper_takes_no_write_lock_without_work(
    services: WorkerServices, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 0)
    with services.database.transaction():
        upkeep.sweep_once(services)

    assert job(services.database, job_id).publishes == 0


def test_an_expired_job_is_ended_released_and_notified(
    services: WorkerServices, job_id: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 3600)
    ear = JobListener(redis_url)
    with closing(ear), ear.subscribe(job_id) as event:
        wait_until(event.is_set)
        event.clear()

        with capture_logs() as logs:
            upkeep.sweep_once(services)

        assert event.wait(5)
    assert [line["job"] for line in logs if line["event"] == "job ended without a worker"] == [job_id]
    ended = job(services.database, job_id)
    assert (ended.status, ended.error) == (Status.EXPIRED, JobExpired().as_dict())
    with services.database.reading() as session:
        assert figures(session, ended.workspace_id) == (10, 0, 0)


def test_a_job_that_crashes_its_workers_ends_as_worker_lost(
    services: WorkerServices, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with services.database.transaction() as session:
        claim(session, job_id)
        session.execute(update(Job).values(crashes=services.settings.max_crashes - 1))
    at(monkeypatch, 30)

    upkeep.sweep_once(services)

    ended = job(services.database, job_id)
    assert (ended.status, ended.error) == (Status.FAILED, WorkerLost().as_dict())


def test_without_redis_jobs_still_end_and_none_is_marked_as_published(
    without_redis: WorkerServices, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with without_redis.database.transaction() as session:
        late = a_job(session, a_workspace(session), "late")
        session.execute(update(Job).where(Job.id == late).values(deadline_at=NOW))
    at(monkeypatch, 10)

    upkeep.sweep_once(without_redis)

    assert job(without_redis.database, late).status == Status.EXPIRED
    assert (
        job(without_redis.database, job_id).publishes,
        job(without_redis.database, job_id).published_at,
    ) == (
        0,
        None,
    )


def test_jobs_are_marked_as_unpublished_if_redis_fails_during_the_sweep(
    services: WorkerServices, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 10)
    monkeypatch.setattr(JobPublisher, "push", lambda *_words: False)

    upkeep.sweep_once(services)

    with services.database.reading() as session:
        stale = timedelta(seconds=services.settings.republish_seconds)
        assert sweeper.needs_sweeping(session, stale=stale, now=NOW + timedelta(seconds=10))


def test_a_full_queue_gets_no_further_messages(
    services: WorkerServices, client: Redis, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 10)
    client.lpush(Queue.INTERACTIVE.value, *(["x"] * (upkeep.FULL_QUEUE + 1)))

    upkeep.sweep_once(services)

    assert client.llen(Queue.INTERACTIVE.value) == upkeep.FULL_QUEUE + 1
    assert job(services.database, job_id).publishes == 0


def test_a_full_queue_does_not_block_the_other_queues(
    services: WorkerServices, client: Redis, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with services.database.transaction() as session:
        request = a_job(session, a_workspace(session), kind=Kind.ENRICHMENT_REQUEST)
    at(monkeypatch, 10)
    client.lpush(Queue.ENRICHMENT.value, *(["x"] * (upkeep.FULL_QUEUE + 1)))

    upkeep.sweep_once(services)

    assert client.llen(Queue.INTERACTIVE.value) == 1
    assert (job(services.database, job_id).publishes, job(services.database, request).publishes) == (1, 0)


def test_redis_is_not_called_while_a_transaction_is_open(
    services: WorkerServices, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 10)
    asked: list[str] = []

    def waiting(_sender: JobPublisher, _queue: Queue) -> int:
        with services.database.transaction() as session:
            asked.append(read(session, job_id).status)
        return 0

    monkeypatch.setattr(JobPublisher, "depth", waiting)

    upkeep.sweep_once(services)

    assert set(asked) == {Status.QUEUED}


def test_a_worker_that_is_not_the_sweeper_does_nothing(
    services: WorkerServices, client: Redis, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 10)
    monkeypatch.setattr(sweeper, "try_lock", lambda _session: False)

    upkeep.sweep_once(services)

    assert client.llen(Queue.INTERACTIVE.value) == 0


def test_beat_starts_a_sweep(
    services: WorkerServices, client: Redis, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 10)
    monkeypatch.setattr(worker_services, "_current", [services])

    celery_app.celery.tasks[SWEEP]()

    assert client.llen(Queue.INTERACTIVE.value) == 1


def test_beat_purges_old_idempotency_keys_and_lookups(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    with services.database.transaction() as session:
        workspace_id = a_workspace(session)
        idempotency.begin(session, workspace_id, "old", b"", now=NOW)
        lookup = a_job(session, workspace_id, kind=Kind.COMPANY_BY_HASH, price=0)
        leases.settle(session, claim(session, lookup), JobResult(outcome=Outcome.FOUND), now=NOW)
        gone = Heartbeat(
            name="one@host:1", queues=(), threads=1, busy=0, state=WorkerState.WORKING, up_seconds=0
        )
        worker_heartbeats.record_heartbeat(session, gone, now=NOW)
        session.get_one(WorkerRecord, gone.name).seen_at -= 2 * worker_heartbeats.RETENTION
    at(monkeypatch, idempotency.RETENTION.total_seconds() + 1)
    monkeypatch.setattr(worker_services, "_current", [services])

    celery_app.celery.tasks[FORGET]()

    assert rows(services.database) == (0, 0, 0)


def test_personal_data_of_an_old_job_is_purged_and_its_charge_is_kept(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    with services.database.transaction() as session:
        workspace_id = a_workspace(session)
        job_id = a_job(session, workspace_id)
        answer = JobResult(outcome=Outcome.FOUND, charge=1, result={"emails": []})
        leases.settle(session, claim(session, job_id), answer, now=NOW)
    days = services.settings.job_retention_days
    at(monkeypatch, timedelta(days=days, seconds=1).total_seconds())
    monkeypatch.setattr(worker_services, "_current", [services])

    celery_app.celery.tasks[FORGET]()

    with services.database.reading() as session:
        job = session.get_one(Job, job_id)
        assert (job.request, job.result, job.charged) == ({}, None, 1)


@pytest.mark.parametrize(("days", "left"), [(3, 0), (0, 1)])
def test_old_contact_values_are_purged_unless_they_are_to_be_kept(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch, days: int, left: int
) -> None:
    with services.database.transaction() as session:
        an_email(session, a_contact(session), "ada@acme.com")
    settings = dataclasses.replace(services.settings, contact_retention_days=days)
    at(monkeypatch, timedelta(days=4).total_seconds())

    upkeep.purge_once(dataclasses.replace(services, settings=settings))

    with services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Email)) == left
        assert session.scalar(select(func.count()).select_from(Contact)) == left


@pytest.mark.parametrize(
    ("error", "event_name"),
    [
        (Unavailable(), "database unavailable, maintenance step postponed"),
        (LookupError("ada@acme.com"), "maintenance step failed"),
    ],
)
def test_a_failing_purge_does_not_prevent_the_next(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch, error: Exception, event_name: str
) -> None:
    def purge_expired(_session: Session, **_times: object) -> int:
        raise error

    monkeypatch.setattr(redaction, "redact_expired", purge_expired)
    monkeypatch.setattr(idempotency, "purge_expired", purge_expired)
    with services.database.transaction() as session:
        an_email(session, a_contact(session), "ada@acme.com")
    settings = dataclasses.replace(services.settings, contact_retention_days=3)
    at(monkeypatch, timedelta(days=4).total_seconds())

    with capture_logs() as events:
        upkeep.purge_once(dataclasses.replace(services, settings=settings))

    with services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Contact)) == 0
    assert [(event["event"], event["step"]) for event in events if "step" in event] == [
        (event_name, "test_upkeep.purge_expired"),
        (event_name, "test_upkeep.purge_expired"),
    ]


def rows(database: Database) -> tuple[int | None, ...]:
    with database.reading() as session:
        return tuple(
            session.scalar(select(func.count()).select_from(table))
            for table in (IdempotencyKey, Job, WorkerRecord)
        )


def wait_for_sweepers() -> None:
    """Wait until the threads of all stopped sweepers have ended."""
    wait_until(lambda: not any(thread.name == "sweeper" for thread in threading.enumerate()))


@pytest.fixture
def sweep() -> Iterator[Callable[..., None]]:
    """Start sweeper threads with the given steps, and stop them after the test."""
    sweepers: list[Sweeper] = []

    def start(services: WorkerServices, *steps: Step, rare_steps: Sequence[Step] = ()) -> None:
        sweepers.append(Sweeper(steps, rare_steps))
        sweepers[-1].start(services)

    yield start
    for started in sweepers:
        started.stop()
    wait_for_sweepers()


def test_the_sweeper_republishes_jobs_seals_continues_uploads_pushes_and_audits() -> None:
    steps = (
        upkeep.sweep_once,
        audit_log.seal_pending,
        *(step for part in work_parts() for step in part.sweeps),
        work.send_due,
    )
    assert steps == Sweeper.STEPS
    assert (audit.audit_if_due,) == Sweeper.RARE_STEPS


def test_a_sweep_that_finds_nothing_builds_no_statement(services: WorkerServices) -> None:
    built: list[str] = []

    def note(execution: ORMExecuteState) -> None:
        built.append(str(execution.statement))

    event.listen(Session, "do_orm_execute", note)
    try:
        for step in Sweeper.STEPS:
            step(services)
    finally:
        event.remove(Session, "do_orm_execute", note)

    assert built == []


def test_rare_steps_run_in_the_first_of_several_turns(
    services: WorkerServices, sweep: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "RARE_TURNS", 3)
    done: list[str] = []

    sweep(
        services, lambda _services: done.append("step"), rare_steps=(lambda _services: done.append("rare"),)
    )
    wait_until(lambda: done.count("rare") > 1)

    assert done[:6] == ["step", "rare", "step", "step", "step", "rare"]


def test_a_worker_sweeps_without_beat(
    services: WorkerServices, job_id: str, sweep: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 3600)

    sweep(services, upkeep.sweep_once)

    wait_until(lambda: job(services.database, job_id).status == Status.EXPIRED)


@pytest.mark.parametrize(
    ("error", "event_name"),
    [
        (Unavailable(), "database unavailable, maintenance step postponed"),
        (LookupError("ada@acme.com"), "maintenance step failed"),
    ],
)
def test_a_failing_step_stops_neither_other_steps_nor_the_next_run(
    services: WorkerServices, sweep: Callable[..., None], error: Exception, event_name: str
) -> None:
    done: list[WorkerServices] = []

    def fail(_services: WorkerServices) -> None:
        raise error

    with capture_logs() as events:
        sweep(services, fail, done.append)
        wait_until(lambda: len(done) > 2)

    assert {(event["event"], event["step"]) for event in events} == {(event_name, "test_upkeep.fail")}


def test_a_sweeper_skips_the_rounds_in_which_another_worker_holds_the_lock(
    services: WorkerServices, sweep: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    free, rounds = iter([False, False, True, False, True]), []

    def try_lock(_publisher: JobPublisher, name: str, _seconds: float) -> bool:
        rounds.append(name)
        return next(free, False)

    monkeypatch.setattr(JobPublisher, "try_lock", try_lock)
    done: list[int] = []

    sweep(services, lambda _services: done.append(len(rounds)))
    wait_until(lambda: len(rounds) > 5)

    assert done == [3, 5]


def test_a_sweeper_that_finds_the_steps_just_run_waits_longer(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, waits = iter([True, False, True]), []

    class Stopped:
        def wait(self, seconds: float) -> bool:
            waits.append(seconds / services.settings.sweep_seconds)
            return len(waits) > 3

    monkeypatch.setattr(JobPublisher, "try_lock", lambda *_arguments: next(free))
    monkeypatch.setattr(random, "uniform", lambda _low, _high: 1.0)
    sweeper = Sweeper((), ())
    monkeypatch.setattr(sweeper, "_stopped", Stopped())

    sweeper.start(services)

    wait_until(lambda: len(waits) == 4)
    wait_for_sweepers()
    assert waits == pytest.approx([1, 1, upkeep.FOLLOWER_PAUSE, 1])


def test_the_sweeper_works_without_redis(
    without_redis: WorkerServices, job_id: str, sweep: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 3600)

    sweep(without_redis, upkeep.sweep_once)

    wait_until(lambda: job(without_redis.database, job_id).status == Status.EXPIRED)


def test_a_stopped_sweeper_no_longer_sweeps(services: WorkerServices) -> None:
    sweeps: list[WorkerServices] = []
    sweeper = Sweeper((sweeps.append,), ())
    sweeper.stop()

    sweeper.start(services)

    wait_for_sweepers()
    assert sweeps == []
