"""Fair scheduling: selects the jobs that free threads take, so that no workspace starves the others.

A message only signals that a queue has work; the jobs are chosen when they are taken. The next one belongs to
the workspace that occupies the fewest threads of the queue; workspaces with equally many take turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Integer,
    Select,
    String,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    text,
)
from sqlalchemy.orm import aliased

from app.domain.kinds import Queue, Status
from app.engine.jobs import claims
from app.engine.jobs.claims import Claim, ClaimRow
from app.engine.jobs.jobs import Job
from app.infra.database.database_clock import Moment, column
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of, columns_of

# The same literals as in ix_jobs_queue, so that the planner uses the index.
_LIVE = text("jobs.status IN ('queued', 'running')")
_LIVE_HOLDER = text("holders.status IN ('queued', 'running')")
_QUEUE = bindparam("of_queue", type_=String())
_AT_MOST = bindparam("at_most", type_=Integer())
MAX_LOCKED = 1000
"""How many jobs others may have locked that come before the ones taken."""


def take(
    session: Session,
    queue: Queue,
    *,
    job_ids: Sequence[str],
    last_served: str,
    limit: int,
    max_crashes: int,
    now: Moment,
) -> list[Claim]:
    """Lock the next jobs of the queue, in order and at most `limit`, and return them without a lease.

    Jobs that others have locked are skipped. The same transaction settles a job (`leases.settle_all`), claims
    it (`claims.claim_all`), or leaves it for the next one.

    `job_ids` are the jobs named by messages; they are preferred among the jobs of their workspaces.
    `last_served` is the workspace that this worker served last: workspaces with a greater id are preferred.
    """
    values = {
        "of_queue": queue.value,
        "preferred": list(job_ids),
        "served": last_served,
        "at_most": limit,
        "max_crashes": max_crashes,
    }
    # While this statement runs, a later one may take the job that it sees, and leave one that was committed
    # after its snapshot. That job would wait for the sweeper; a second statement sees it.
    rows = _take(now).all(session, values) or _take(now).all(session, values)
    return [claims.to_claim(row) for row in rows]


def must_yield(session: Session, claim: Claim, *, now: Moment) -> bool:
    """Return whether the claimed job must give up its thread to a waiting job of another workspace.

    True if that workspace occupies no thread of the queue, or so few that after the change it has no more
    than the claim's workspace: a thread must not alternate between two workspaces.
    """
    values = {"of_queue": claim.queue.value, "holder": claim.workspace_id}
    return session.scalar(_waiting(now), values) is not None


# Built once: constructing the statement is most of the cost of a short query.


@lru_cache(maxsize=8)
def _take(now: Moment) -> Statement[ClaimRow]:
    return Statement(ClaimRow, lambda dialect: _next_jobs(dialect, now))


def _next_jobs(dialect: str, now: Moment) -> Select[Any]:
    """Select the next jobs, skipping rows locked by others.

    Each job that is selected counts as a thread of its workspace for the jobs after it.

    FOR NO KEY UPDATE: inserting rows with a foreign key to the job stays possible.
    """
    running = _running(now)
    is_due = (Job.queue == _QUEUE, _LIVE, claims.claimable(now=now))
    order = (case((any_of(dialect, Job.id, "preferred"), 0), else_=1), Job.run_after, Job.id)
    place = func.row_number().over(partition_by=Job.workspace_id, order_by=order)
    threads = func.coalesce(running.c.threads, 0)
    due = (
        select(Job.id, (threads + place).label("threads"))
        .outerjoin(running, running.c.workspace_id == Job.workspace_id)
        .where(*is_due)
        .order_by(*_order(threads + place))
        .limit(_AT_MOST + MAX_LOCKED)
        .cte("due")
    )
    return (
        select(
            *columns_of(Job, ClaimRow._fields[:5]),
            (Job.attempts + case((Job.status == Status.QUEUED, 1), else_=0)).label("attempts"),
            *columns_of(Job, ("held", "charged")),
            literal("").label("lease_token"),
            *columns_of(Job, ("crashes", "publishes")),
            column(now).label("claimed_at"),
        )
        .join(due, due.c.id == Job.id)
        .where(*is_due)  # again, for a job that changed while it was being locked
        .order_by(*_order(due.c.threads))
        .limit(_AT_MOST)
        .with_for_update(skip_locked=True, key_share=True, of=Job)
    )


def _order(threads: ColumnElement[int]) -> tuple[ColumnElement[Any], ...]:
    """Return the fair order: the workspace with the fewest threads and, of several, the next in turn."""
    return (threads, case((Job.workspace_id > bindparam("served"), 0), else_=1), Job.__table__.c.workspace_id)


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
