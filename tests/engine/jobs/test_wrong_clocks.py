"""Times written by one process and compared by another, with this process's clock an hour fast or slow."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from jobs_support import FRESH, LIFETIME, MAX_CRASHES, a_workspace
from sqlalchemy import select, update
from wrong_clocks_support import DEADLINE, MINUTE, age, claim, now, settled, submit, wrong_clock  # noqa: F401 -- a fixture

from app.domain.errors import TokenExpired
from app.domain.kinds import Queue, TraceOutcome
from app.domain.providers.rates import parse_rates
from app.engine.accounts import accounts, login_throttle, sessions
from app.engine.accounts.authentication import Authenticator
from app.engine.accounts.sessions import LoginSession
from app.engine.audit import audits
from app.engine.contacts.suppressions import suppression_digests, suppressions
from app.engine.jobs import claims, idempotency, leases, sweeper
from app.engine.jobs.idempotency import IdempotencyKey
from app.engine.jobs.jobs import Job
from app.engine.lists import import_runs
from app.engine.providers import provider_throttles
from app.engine.queues import worker_heartbeats
from app.engine.queues.worker_heartbeats import Heartbeat, WorkerState
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session

STALE = timedelta(seconds=5)
ENDED = {"code": "ended"}
Submit = Callable[[], str]


@pytest.fixture
def job_id(session: Session, workspace_id: str) -> str:
    """Return the id of a job just created by the API."""
    return submit(session, workspace_id).job.id


def test_a_new_job_can_be_claimed_at_once(session: Session, job_id: str) -> None:
    assert claim(session, job_id) is not None


def test_an_unexpired_lease_is_respected(session: Session, job_id: str) -> None:
    claim(session, job_id)

    assert claim(session, job_id) is None
    refused = claims.refusal_reasons(session, [job_id], queue=Queue.INTERACTIVE, now=now())
    assert refused == {job_id: claims.Refusal.HELD}


def test_a_requeued_job_waits_and_then_runs(session: Session, job_id: str) -> None:
    claimed = claim(session, job_id)
    assert claimed is not None
    leases.requeue(session, claimed, run_after=now() + MINUTE)

    waits = claim(session, job_id)
    session.execute(update(Job).values(run_after=now()).execution_options(synchronize_session=False))

    assert waits is None
    assert claim(session, job_id) is not None


def test_a_new_job_needs_no_sweep_and_does_not_expire(session: Session, job_id: str) -> None:
    needed = sweeper.needs_sweeping(session, stale=STALE, now=now())
    ended = sweeper.finish_orphaned(session, max_crashes=MAX_CRASHES, expired=ENDED, crashed=ENDED, now=now())
    sent = sweeper.republish(session, stale=STALE, now=now())

    assert (needed, ended, sent) == (False, [], [])


def test_a_job_past_its_deadline_expires(session: Session, job_id: str) -> None:
    session.execute(update(Job).values(deadline_at=now()).execution_options(synchronize_session=False))

    ended = sweeper.finish_orphaned(session, max_crashes=MAX_CRASHES, expired=ENDED, crashed=ENDED, now=now())

    assert ended == [job_id]
    assert session.get_one(Job, job_id, populate_existing=True).status == "expired"


def test_a_result_is_reused_while_it_is_fresh(session: Session, workspace_id: str, job_id: str) -> None:
    settled(session, job_id)
    again = submit(session, workspace_id).job.id
    age(session, Job, "finished_at", FRESH.found + MINUTE)

    later = submit(session, workspace_id).job.id

    assert again == job_id
    assert later != job_id


def test_a_result_is_not_reused_after_an_import(session: Session, workspace_id: str, job_id: str) -> None:
    settled(session, job_id)
    import_runs.start(session, entity="contacts", now=now())

    assert submit(session, workspace_id).job.id != job_id


def test_a_result_is_reused_if_the_import_was_before_it(session: Session, workspace_id: str) -> None:
    import_runs.start(session, entity="contacts", now=now() - MINUTE)
    identifier = suppression_digests.Identifier("email", "ada@acme.example")
    suppressions.suppress(session, [identifier], reason="test", now=now() - MINUTE)
    job_id = submit(session, workspace_id).job.id
    settled(session, job_id)

    assert submit(session, workspace_id).job.id == job_id


def test_an_idempotency_key_is_stored_for_its_retention(session: Session, workspace_id: str) -> None:
    idempotency.begin(session, workspace_id, "click", b"1", now=now())
    age(session, IdempotencyKey, "created_at", idempotency.RETENTION - MINUTE)

    idempotency.purge_expired(session, now=now())
    stored = session.scalar(select(IdempotencyKey.key))
    age(session, IdempotencyKey, "created_at", idempotency.RETENTION + MINUTE)
    idempotency.purge_expired(session, now=now())

    assert stored == "click"
    assert session.scalar(select(IdempotencyKey.key)) is None


@pytest.mark.parametrize(
    ("idle", "works"), [(timedelta(days=14) - MINUTE, True), (timedelta(days=14) + MINUTE, False)]
)
def test_a_session_expires_at_its_idle_limit(database: Database, *, idle: timedelta, works: bool) -> None:
    with database.transaction() as session:
        account = accounts.create(
            session, a_workspace(session), email="ada@acme.example", name="Ada", password_hash="x", now=now()
        )
        _started, token = sessions.start(session, account.id, network=b"home", lifetime=LIFETIME, now=now())
        age(session, LoginSession, "last_used_at", idle)

    try:
        Authenticator(database, LIFETIME, now=now()).authenticate(token)
    except TokenExpired:
        assert not works
    else:
        assert works


def test_a_new_session_is_listed_and_not_deleted(session: Session, workspace_id: str) -> None:
    account = accounts.create(
        session, workspace_id, email="ada@acme.example", name="Ada", password_hash="x", now=now()
    )
    sessions.start(session, account.id, network=b"home", lifetime=LIFETIME, now=now())

    assert sessions.purge_expired(session, now=now()) == 0
    assert len(sessions.of_account(session, account.id, lifetime=LIFETIME, now=now())) == 1


def test_many_failed_sign_ins_delay_the_next_by_at_most_a_minute(session: Session) -> None:
    for _ in range(login_throttle.FREE_FAILURES + 10):
        login_throttle.record_failure(session, "ada@acme.example", now=now())

    assert 50 <= login_throttle.retry_after(session, "ada@acme.example", now=now()) <= 60
    assert login_throttle.retry_after(session, "ada@acme.example", now=now() + MINUTE) == 0


def test_a_provider_is_not_called_during_its_requested_pause(session: Session) -> None:
    rates = parse_rates("10/second")
    provider_throttles.report(session, "hunter", TraceOutcome.RATE_LIMITED, retry_after=30, now=now())

    early = provider_throttles.admit(session, "hunter", rates, breaker=True, now=now())
    late = provider_throttles.admit(session, "hunter", rates, breaker=True, now=now() + MINUTE)

    assert early.refused is not None
    assert late.refused is None


def test_a_worker_with_a_recent_heartbeat_is_alive(session: Session) -> None:
    heartbeat = Heartbeat(
        name="one@host:1", queues=(), threads=1, busy=0, state=WorkerState.WORKING, up_seconds=60
    )
    worker_heartbeats.record_heartbeat(session, heartbeat, now=now())

    worker_heartbeats.purge_expired(session, now=now())

    [row] = worker_heartbeats.list_all(session)
    assert worker_heartbeats.state(row, now=database_clock.value(session)) is WorkerState.WORKING


def test_an_audit_is_due_an_hour_after_the_last(session: Session) -> None:
    audits.add(session, now=now())

    assert not audits.is_due(session, every=timedelta(hours=1), now=now())
    assert audits.is_due(session, every=timedelta(hours=1), now=now() + timedelta(hours=1))
