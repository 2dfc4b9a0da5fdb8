"""Fair scheduling: selects the job that a free thread claims, so that no workspace starves the others.

A message only signals that a queue has work; the job is chosen at the claim. It belongs to the workspace that
occupies the fewest threads of the queue; workspaces with equally many take turns. Each message leads to one
claim, so every job is claimed even if a message is late.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from functools import lru_cache

from sqlalchemy import (
    CTE,
    Integer,
    ScalarSelect,
    Select,
    String,
    bindparam,
    case,
    func,
    or_,
    select,
    text,
)
from sqlalchemy.orm import aliased

from app.domain.kinds import Queue, Status
from app.engine.jobs import claims
from app.engine.jobs.claims import Claim, ClaimRow
from app.engine.jobs.jobs import Job
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.infra.database.statements import Statement

# The same literals as in ix_jobs_queue, so that the planner uses the index.
_LIVE = text("jobs.status IN ('queued', 'running')")
_LIVE_HOLDER = text("holders.status IN ('queued', 'running')")
_QUEUE = bindparam("of_queue", type_=String())
_MAX_CRASHES = bindparam("max_crashes", type_=Integer())


def claim_next(
    session: Session,
    queue: Queue,
    *,
    job_id: str,
    last_served: str,
    lease: timedelta,
    max_crashes: int,
    now: Moment,
) -> Claim | None:
    """Claim the next job of the queue; return None if none may run now.

    `job_id` is the job named by the message; it is preferred among the jobs of its workspace. `last_served`
    is the workspace that this worker served last: workspaces with a greater id are preferred.
    """
    values = {
        "of_queue": queue.value,
        "preferred": job_id,
        "served": last_served,
        "token": secrets.token_hex(16),
        "max_crashes": max_crashes,
    }
    statement = _claim_next(lease, now)
    # While this statement runs, a later claim may take the job that it sees, and leave one that was committed
    # after its snapshot. That job would wait for the sweeper; a second statement sees it.
    row = statement.first(session, values) or statement.first(session, values)
    return claims.to_claim(row)


def must_yield(session: Session, claim: Claim, *, now: Moment) -> bool:
    """Return whether the claimed job must give up its thread to a waiting job of another workspace.

    True if that workspace occupies no thread of the queue, or so few that after the change it has no more
    than the claim's workspace: a thread must not alternate between two workspaces.
    """
    values = {"of_queue": claim.queue.value, "holder": claim.workspace_id}
    return session.scalar(_waiting(now), values) is not None


# Built once: constructing the statement is most of the cost of a short query.


@lru_cache(maxsize=8)
def _claim_next(lease: timedelta, now: Moment) -> Statement[ClaimRow]:
    return Statement(
        ClaimRow,
        lambda _dialect: claims.claim_statement(
            Job.id == _next_job(now),
            token=bindparam("token"),
            lease_until=now + lease,
            max_crashes=_MAX_CRASHES,
            now=now,
        ),
    )


def _next_job(now: Moment) -> ScalarSelect[str]:
    """Select the id of the next job, skipping rows locked by other claims.

    FOR NO KEY UPDATE: inserting rows with a foreign key to the job stays possible.
    """
    running = _running(now)
    return (
        select(Job.id)
        .outerjoin(running, running.c.workspace_id == Job.workspace_id)
        .where(Job.queue == _QUEUE, _LIVE, claims.claimable(max_crashes=_MAX_CRASHES, now=now))
        .order_by(
            func.coalesce(running.c.threads, 0),  # the workspace with the fewest threads
            case((Job.workspace_id > bindparam("served"), 0), else_=1),  # of several, the next in turn
            Job.workspace_id,
            case((Job.id == bindparam("preferred"), 0), else_=1),  # of its jobs, the one in the message
            Job.run_after,
            Job.id,
        )
        .limit(1)
        .with_for_update(skip_locked=True, key_share=True, of=Job)
        .scalar_subquery()
    )


@lru_cache(maxsize=8)
def _waiting(now: Moment) -> Select[str]:
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


def _running(now: Moment) -> CTE:
    """Select the number of threads that each workspace occupies in the queue; expired leases do not count."""
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
        .cte("running")
        .prefix_with("MATERIALIZED", dialect="postgresql")  # counted once, not for each job that waits
    )
