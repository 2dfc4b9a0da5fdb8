"""Sweeping: jobs nobody works on are sent again, and those past saving are ended and paid back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import and_, or_, select, text, update
from sqlalchemy.orm import Session
from sqlalchemy.sql import ColumnElement

from app.core.jobs import provider_calls
from app.core.jobs.jobs import Job
from app.core.ledger import credits
from app.domain.errors import JobNotFound
from app.domain.kinds import OPEN, Kind, Queue, Status
from app.infra.database_clock import Moment, column

BATCH = 500
MAX_DOUBLINGS = 3
_LOCK = 0x636C_7377  # any number, as long as nothing else takes an advisory lock with it


@dataclass(frozen=True, slots=True)
class StaleJob:
    """A job whose message must be sent again."""

    job_id: str
    kind: Kind
    queue: Queue


def try_lock(session: Session) -> bool:
    """Tell whether this transaction is the one that sweeps now; the others may go home."""
    if session.get_bind().dialect.name == "sqlite":
        return True  # the transaction is alone already
    return bool(session.scalar(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": _LOCK}))


def needs_sweeping(session: Session, *, stale: timedelta, now: Moment) -> bool:
    """Tell whether there is anything to do, without taking a write lock."""
    condition = or_(_overdue(now), _unclaimed(stale, now), _unsent(stale, now))
    return session.scalar(select(Job.id).where(condition).limit(1)) is not None


def finish_orphaned(
    session: Session,
    *,
    max_crashes: int,
    expired: dict[str, Any],
    crashed: dict[str, Any],
    now: Moment,
) -> list[str]:
    """End jobs past their deadline, or whose workers died too often; give back what they held."""
    dead = and_(_abandoned(now), Job.crashes >= max_crashes - 1)
    query = (
        select(Job, (Job.deadline_at <= column(now)).label("late"))
        .where(or_(_overdue(now), dead))
        .order_by(Job.workspace_id, Job.id)
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
    session: Session, *, stale: timedelta, now: Moment, queues: Collection[Queue] = tuple(Queue)
) -> list[StaleJob]:
    """Pick the jobs of these queues whose message was lost or never sent, and mark them as sent now."""
    query = (
        select(Job.id)
        .where(Job.queue.in_(queues), or_(_unsent(stale, now), _unclaimed(stale, now)))
        .order_by(Job.run_after)
        .limit(BATCH)
        .with_for_update(skip_locked=True)
    )
    rows = session.execute(
        update(Job)
        .where(Job.id.in_(query.scalar_subquery()))
        .values(published_at=now, publishes=Job.publishes + 1)
        .returning(Job.id, Job.kind, Job.queue)
        .execution_options(synchronize_session=False)
    )
    return [StaleJob(row.id, Kind(row.kind), Queue(row.queue)) for row in rows]


def mark_unpublished(session: Session, job_ids: Sequence[str]) -> None:
    """Take back that these were sent: the queue could not be reached."""
    session.execute(
        update(Job)
        .where(Job.id.in_(job_ids), Job.status.in_(OPEN))
        .values(published_at=None, publishes=1)
        .execution_options(synchronize_session=False)
    )


def cancel(session: Session, job_id: str, *, now: Moment) -> bool:
    """End a job that waits to run, and give back what it held; False if it runs already or is over.

    Raises:
        JobNotFound: there is no such job.

    """
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
    """Past the deadline; a running job may still finish within its lease."""
    idle = or_(Job.status == Status.QUEUED, and_(Job.status == Status.RUNNING, Job.lease_until < now))
    return and_(Job.status.in_(OPEN), Job.deadline_at <= now, idle)


def _abandoned(now: Moment) -> ColumnElement[bool]:
    return and_(Job.status == Status.RUNNING, Job.lease_until < now)


def _unclaimed(stale: timedelta, now: Moment) -> ColumnElement[bool]:
    """Abandoned, and not sent to another worker just now."""
    recently = or_(Job.published_at.is_(None), Job.published_at < now - stale)
    return and_(_abandoned(now), recently)


def _unsent(stale: timedelta, now: Moment) -> ColumnElement[bool]:
    """Due, and not sent for a time that doubles with every sending.

    A new job was sent when it was made, which nobody wrote down: `publishes` is 0. One that waits for
    another try, or whose sending failed, has `published_at` null and is sent as soon as it is due.
    """
    steps = [
        and_(
            Job.publishes == n if n < MAX_DOUBLINGS else Job.publishes >= n,
            or_(Job.published_at.is_(None), Job.published_at < now - stale * 2**n),
        )
        for n in range(1, MAX_DOUBLINGS + 1)
    ]
    first = and_(Job.publishes == 0, Job.run_after <= now - stale)
    return and_(Job.status == Status.QUEUED, Job.run_after <= now, or_(first, *steps))
