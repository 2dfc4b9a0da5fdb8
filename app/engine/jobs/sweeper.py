"""Rescues orphaned jobs: republishes lost messages, and ends expired or crashed jobs and releases holds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import and_, or_, select, update
from sqlalchemy.sql import ColumnElement

from app.domain.errors import JobNotFound
from app.domain.kinds import OPEN, Queue, Status
from app.engine.jobs import provider_calls
from app.engine.jobs.jobs import Job
from app.engine.ledger import credits
from app.infra.database.advisory_locks import AdvisoryLock, try_acquire
from app.infra.database.database_clock import Moment, column
from app.infra.database.session import Session
from app.infra.database.statements import IdRow, Statement

BATCH = 500
MAX_DOUBLINGS = 3


@dataclass(frozen=True, slots=True)
class StaleJob:
    """A job whose message must be published again."""

    job_id: str
    kind: str
    queue: Queue


def try_lock(session: Session) -> bool:
    """Return whether this transaction has acquired the sweeper lock, held until it ends."""
    return try_acquire(session, AdvisoryLock.SWEEP)


def needs_sweeping(session: Session, *, stale: timedelta, now: Moment, empty: Collection[Queue] = ()) -> bool:
    """Return whether any job needs sweeping (see `republish`); a read without locks."""
    return _needing(stale, now, frozenset(empty)).first(session, {}) is not None


@lru_cache(maxsize=32)
def _needing(stale: timedelta, now: Moment, empty: frozenset[Queue]) -> Statement[IdRow]:
    """Return the query for a job that needs sweeping, built once: every second, some worker executes it."""
    condition = or_(_overdue(now), _unclaimed(stale, now), _unsent(stale, now, empty))
    return Statement(IdRow, lambda _dialect: select(Job.id).where(condition).limit(1))


def finish_orphaned(
    session: Session,
    *,
    max_crashes: int,
    expired: dict[str, Any],
    crashed: dict[str, Any],
    now: Moment,
) -> list[str]:
    """End jobs past their deadline or with too many crashes, release their holds, and return their ids."""
    dead = and_(_abandoned(now), Job.crashes >= max_crashes - 1)
    query = (
        select(Job, (Job.deadline_at <= column(now)).label("late"))
        .where(or_(_overdue(now), dead))
        .order_by(Job.workspace_id, Job.id)  # closing the holds locks the workspaces, as all do in this order
        .limit(BATCH)
        .with_for_update(skip_locked=True)
        .execution_options(populate_existing=True)
    )
    ended = []
    for job, late in session.execute(query):
        _end(session, job, Status.EXPIRED if late else Status.FAILED, now=now)
        job.error = expired if late else crashed
        ended.append(job.id)
    session.flush()
    return ended


def republish(
    session: Session,
    *,
    stale: timedelta,
    now: Moment,
    queues: Collection[Queue] = tuple(Queue),
    empty: Collection[Queue] = (),
) -> list[StaleJob]:
    """Return the jobs of these queues whose message was lost or never sent, marked as published now.

    In the `empty` queues no message waits, so those that are older than `stale` are lost.
    """
    lost = (  # PostgreSQL evaluates a CTE once; it might evaluate a subquery, and so its LIMIT, for each row
        select(Job.id)
        .where(Job.queue.in_(queues), or_(_unsent(stale, now, empty), _unclaimed(stale, now)))
        .order_by(Job.run_after)
        .limit(BATCH)
        .with_for_update(skip_locked=True)
        .cte("lost")
    )
    rows = session.execute(
        update(Job)
        .where(Job.id.in_(select(lost.c.id)))
        .values(published_at=now, publishes=Job.publishes + 1)
        .returning(Job.id, Job.kind, Job.queue)
        .execution_options(synchronize_session=False)
    )
    return [StaleJob(row.id, row.kind, Queue(row.queue)) for row in rows]


def mark_unpublished(session: Session, job_ids: Sequence[str]) -> None:
    """Mark the jobs as not published, because the broker was unreachable."""
    session.execute(
        update(Job)
        .where(Job.id.in_(job_ids), Job.status.in_(OPEN))
        .values(published_at=None, publishes=1)
        .execution_options(synchronize_session=False)
    )


def cancel(session: Session, job_id: str, *, now: Moment) -> bool:
    """Cancel a queued job and release its hold; return False if it is running or finished."""
    query = select(Job).where(Job.id == job_id).with_for_update()
    job = session.scalar(query.execution_options(populate_existing=True))
    if job is None:
        raise JobNotFound
    if job.status != Status.QUEUED:
        return False
    _end(session, job, Status.CANCELED, now=now)
    session.flush()
    return True


def _end(session: Session, job: Job, status: Status, *, now: Moment) -> None:
    job.status = status.value
    job.finished_at = now
    job.lease_token = None
    job.lease_until = None
    credits.close(session, job.workspace_id, job.id, held=job.held, charged=job.charged, now=now)
    job.trace = [*job.trace, *provider_calls.time_out_open(session, job.id, now=now)]
    provider_calls.purge_replies(session, job.id)


def _overdue(now: Moment) -> ColumnElement[bool]:
    """Return the condition for jobs past their deadline; a running job may finish within its lease."""
    idle = or_(Job.status == Status.QUEUED, and_(Job.status == Status.RUNNING, Job.lease_until < now))
    return and_(or_(*(Job.status == status for status in OPEN)), Job.deadline_at <= now, idle)


def _abandoned(now: Moment) -> ColumnElement[bool]:
    return and_(Job.status == Status.RUNNING, Job.lease_until < now)


def _unclaimed(stale: timedelta, now: Moment) -> ColumnElement[bool]:
    """Return the condition for abandoned jobs that were not republished recently."""
    recently = or_(Job.published_at.is_(None), Job.published_at < now - stale)
    return and_(_abandoned(now), recently)


def _unsent(stale: timedelta, now: Moment, empty: Collection[Queue]) -> ColumnElement[bool]:
    """Return the condition for due jobs whose last publish is too old.

    The interval doubles each time, because the message may wait behind many others; not in an `empty` queue.
    A new job is published when it is created, without being marked: `publishes` is 0. A job that waits for a
    retry, or whose publish failed, has `published_at` null and is published as soon as it is due.
    """
    steps = [
        and_(
            Job.publishes == n if n < MAX_DOUBLINGS else Job.publishes >= n,
            or_(Job.published_at.is_(None), Job.published_at < now - stale * 2**n),
        )
        for n in range(1, MAX_DOUBLINGS + 1)
    ]
    first = and_(Job.publishes == 0, Job.run_after <= now - stale)
    lost = [and_(Job.queue == queue, Job.publishes > 0, Job.published_at < now - stale) for queue in empty]
    return and_(Job.status == Status.QUEUED, Job.run_after <= now, or_(first, *steps, *lost))
