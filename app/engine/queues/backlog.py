"""The backlog of each queue: a service that answers pings but works on no jobs is not healthy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import case, func, select, text

from app.domain.kinds import KINDS, Queue, Status
from app.engine.jobs.jobs import Job
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

_LIVE = text("jobs.status IN ('queued', 'running')")  # spelled as in ix_jobs_live, so that the index is used


@dataclass(frozen=True, slots=True)
class Count:
    """The number of queued or running jobs of a kind."""

    kind: str
    status: Status
    jobs: int


def oldest_waits(session: Session, *, now: datetime) -> dict[Queue, timedelta]:
    """Return, per queue, how long the oldest claimable job has waited; zero if there is none.

    A queued job waits since it was due; a job that lost its worker, since its lease expired.
    """
    since = case((Job.status == Status.QUEUED.value, Job.run_after), else_=Job.lease_until)
    query = (
        select(Job.queue, func.min(since))
        .where(_LIVE, Job.run_after <= now, since <= now)
        .group_by(Job.queue)
    )
    oldest = dict.fromkeys(Queue, timedelta(0))
    for queue, moment in session.execute(query):
        oldest[Queue(queue)] = now - moment
    return oldest


def counts(session: Session) -> list[Count]:
    """Count the open jobs per kind and status, including zeros."""
    query = select(Job.kind, Job.status, func.count()).where(_LIVE).group_by(Job.kind, Job.status)
    counts_by_state = {(kind, status): count for kind, status, count in session.execute(query)}
    return [
        Count(kind, status, counts_by_state.get((kind, status.value), 0))
        for kind in KINDS
        for status in (Status.QUEUED, Status.RUNNING)
    ]


def by_queue(session: Session) -> dict[Queue, int]:
    """Count the open jobs in each queue."""
    query = select(Job.queue, func.count()).where(_LIVE).group_by(Job.queue)
    found = {Queue(queue): count for queue, count in session.execute(query)}
    return {queue: found.get(queue, 0) for queue in Queue}


def count_leased(session: Session, job_ids: Iterable[str], *, now: Moment) -> int:
    """Count the given jobs with an unexpired lease: their workers renewed it recently."""
    query = select(func.count()).where(
        Job.id.in_(list(job_ids)), Job.status == Status.RUNNING.value, Job.lease_until > now
    )
    return session.execute(query).scalar_one()
