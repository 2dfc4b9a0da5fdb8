"""Progress: whether jobs get done; a service that answers every ping and works on nothing is not healthy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import case, func, select, text
from sqlalchemy.orm import Session

from app.core.jobs.jobs import Job
from app.domain.kinds import Kind, Queue, Status
from app.infra.database_clock import Moment

_LIVE = text("jobs.status IN ('queued', 'running')")  # written as in ix_jobs_live, so that it is used


@dataclass(frozen=True, slots=True)
class Count:
    """How many jobs of a kind are queued or running."""

    kind: Kind
    status: Status
    jobs: int


def oldest_waits(session: Session, *, now: datetime) -> dict[Queue, timedelta]:
    """Give how long the oldest job has waited that a worker could take, per queue; nothing waits for zero.

    A queued job waits since it was due, one that lost its worker since its lease ran out.
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
    """Count the jobs that are not over, per kind and status, zeros too."""
    query = select(Job.kind, Job.status, func.count()).where(_LIVE).group_by(Job.kind, Job.status)
    found = {(kind, status): count for kind, status, count in session.execute(query)}
    return [
        Count(kind, status, found.get((kind.value, status.value), 0))
        for kind in Kind
        for status in (Status.QUEUED, Status.RUNNING)
    ]


def count_leased(session: Session, job_ids: Iterable[str], *, now: Moment) -> int:
    """Count those of the jobs whose lease still runs: their workers were seen working lately."""
    query = select(func.count()).where(
        Job.id.in_(list(job_ids)), Job.status == Status.RUNNING.value, Job.lease_until > now
    )
    return session.execute(query).scalar_one()
