"""Scheduling: which job of a queue a free thread takes, so that no workspace keeps the others waiting.

A message says that there is work in a queue. Which job it stands for is decided at the claim: one of the
workspace that holds the fewest threads of the queue, and the workspaces that hold equally many take turns.
As many jobs are claimed as messages arrive, so every job is, whichever message is lost or late.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    Integer,
    ScalarSelect,
    Select,
    String,
    Subquery,
    bindparam,
    case,
    func,
    or_,
    select,
    text,
)
from sqlalchemy.orm import Session, aliased
from sqlalchemy.sql.dml import ReturningUpdate

from app.core.jobs import leases
from app.core.jobs.jobs import Job
from app.core.jobs.leases import Claim
from app.domain.kinds import Queue, Status
from app.infra.database_clock import DatabaseNow, Moment

# The literals are those of ix_jobs_queue, so that it is used.
_LIVE = text("jobs.status IN ('queued', 'running')")
_LIVE_HOLDER = text("holders.status IN ('queued', 'running')")
_QUEUE = bindparam("of_queue", type_=String())
_MAX_CRASHES = bindparam("max_crashes", type_=Integer())


def claim_next(
    session: Session,
    queue: Queue,
    *,
    job_id: str,
    served: str,
    lease: timedelta,
    max_crashes: int,
    now: Moment,
) -> Claim | None:
    """Claim the job of the queue whose turn it is; None if none of its jobs may run now.

    `job_id` is the job that the message names, preferred among those of its workspace. `served` is the
    workspace that this worker served last: the next one in the order of their ids comes before it.
    """
    values = {
        "of_queue": queue.value,
        "preferred": job_id,
        "served": served,
        "token": secrets.token_hex(16),
        "max_crashes": max_crashes,
    }
    statement = _claim_next(lease, _requested_job(now))
    return leases.claimed(session.execute(statement, values).one_or_none())


def must_yield(session: Session, claim: Claim, *, now: Moment) -> bool:
    """Return whether a job waits whose workspace should have the thread that runs the claimed one.

    It holds no thread of the queue, or so few that it still holds no more than the claim's workspace after
    the change: two workspaces must not hand the same thread back and forth.
    """
    values = {"of_queue": claim.queue.value, "holder": claim.workspace_id}
    return session.scalar(_waiting(_requested_job(now)), values) is not None


# Statements are put together once: that is most of what a short query costs. Tests give a time of their own.


@lru_cache(maxsize=8)
def _claim_next(lease: timedelta, given: datetime | None) -> ReturningUpdate[Any]:
    now = given or DatabaseNow()
    return leases.claim_statement(
        Job.id == _next_job(now),
        token=bindparam("token"),
        until=now + lease,
        max_crashes=_MAX_CRASHES,
        now=now,
    )


def _next_job(now: Moment) -> ScalarSelect[str]:
    """Select the job whose turn it is; rows that another claim has locked are passed over.

    NO KEY UPDATE: rows that refer to the job may be inserted meanwhile.
    """
    running = _running(now)
    return (
        select(Job.id)
        .outerjoin(running, running.c.workspace_id == Job.workspace_id)
        .where(Job.queue == _QUEUE, _LIVE, leases.claimable(max_crashes=_MAX_CRASHES, now=now))
        .order_by(
            func.coalesce(running.c.threads, 0),
            case((Job.workspace_id > bindparam("served"), 0), else_=1),
            Job.workspace_id,
            case((Job.id == bindparam("preferred"), 0), else_=1),
            Job.run_after,
            Job.id,
        )
        .limit(1)
        .with_for_update(skip_locked=True, key_share=True, of=Job)
        .scalar_subquery()
    )


@lru_cache(maxsize=8)
def _waiting(given: datetime | None) -> Select[str]:
    now = given or DatabaseNow()
    running = _running(now)
    own = select(running.c.threads).where(running.c.workspace_id == bindparam("holder")).scalar_subquery()
    threads = func.coalesce(running.c.threads, 0)
    return (
        select(Job.id)
        .outerjoin(running, running.c.workspace_id == Job.workspace_id)
        .where(
            Job.queue == _QUEUE,
            _LIVE,
            Job.status == Status.QUEUED.value,
            Job.workspace_id != bindparam("holder"),
            Job.run_after <= now,
            Job.deadline_at > now,
            or_(threads == 0, threads < own - 1),
        )
        .limit(1)
    )


def _running(now: Moment) -> Subquery:
    """Count the threads that each workspace holds of the queue; a lease that ran out counts for none."""
    holder = aliased(Job, name="holders")
    return (
        select(holder.workspace_id, func.count().label("threads"))
        .where(
            holder.queue == _QUEUE,
            _LIVE_HOLDER,
            holder.status == Status.RUNNING.value,
            holder.lease_until > now,
        )
        .group_by(holder.workspace_id)
        .subquery("running")
    )


def _requested_job(now: Moment) -> datetime | None:
    return now if isinstance(now, datetime) else None
