"""Leases: exactly one worker holds a claimed job, renews its lease, and stores its result.

Every function that changes a job is a compare-and-set on its row. A worker that lost its lease, because it
was paused or too slow, matches no row and must discard its work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    Integer,
    Row,
    Select,
    String,
    Table,
    and_,
    case,
    false,
    func,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.dml import ReturningUpdate
from sqlalchemy.types import TypeEngine

from app.domain.errors import Problem
from app.domain.ids import new_id
from app.domain.kinds import Outcome, Queue, Status
from app.engine.accounts import workspaces
from app.engine.jobs import traces
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import Job, JobItem
from app.engine.ledger import closing, credits
from app.engine.ledger.closing import Close
from app.engine.work.turns import LeaseLost
from app.infra.database.database_clock import Moment
from app.infra.database.encrypted_columns import encrypted
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of, rows_of


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """The outcome and result of a job, its charge in credits, and the trace of provider calls.

    A job with an `error` fails: its outcome is None, and `charge` is ignored. Items of an enrichment that
    were completed before stay charged.
    """

    outcome: Outcome | None
    error: Problem | None = None
    result: dict[str, Any] | None = None
    charge: int = 0
    already_owned: bool = False
    trace: Sequence[dict[str, Any]] = field(default=())

    @property
    def code(self) -> str | None:
        """The code of the error, or else the outcome."""
        return self.error.code if self.error else self.outcome and self.outcome.value


def settle(session: Session, claim: Claim, job_result: JobResult, *, now: Moment) -> None:
    """Finish the job with a result and settle or release its hold.

    Raises:
        LeaseLost: the worker no longer holds the job.

    """
    if job_result.error is not None:
        fail(session, claim, job_result.error.as_dict(), trace=job_result.trace, now=now)
        return
    if job_result.trace:
        _update(session, claim, trace=traces.merge(_lock_claimed(session, claim).trace, job_result.trace))
    settle_all(session, [(claim, job_result)], now=now)


def settle_all(session: Session, results: Sequence[tuple[Claim, JobResult]], *, now: Moment) -> None:
    """Finish jobs of any workspaces, without an error or a trace, and settle or release their holds.

    Each is claimed, or locked by this transaction (`scheduling.take`).

    Raises:
        LeaseLost: the worker no longer holds all of them.

    """
    if not results:
        return
    rows = [_parameters(session, claim, result) for claim, result in results]
    workspace_ids = sorted({claim.workspace_id for claim, _result in results})
    parameters = {
        "settled": rows,
        "job_ids": [row["id"] for row in rows],
        "workspace_ids": workspace_ids,
    }
    workspaces.lock_several(session, workspace_ids)
    finished = _finish(now).all(session, parameters)
    if len(finished) < len(results):
        raise LeaseLost
    closes = [Close(*row[:4], entry_id=new_id("led")) for row in finished if not row.is_closed]
    limited = {row.workspace_id for row in finished if row.is_limited}
    limited |= closing.close_all(session, closes, now=now)
    for row in finished:
        if row.held and row.workspace_id in limited:
            credits.count_close(session, row.id, held=row.held, charged=row.charged, now=now)


def _parameters(session: Session, claim: Claim, result: JobResult) -> dict[str, Any]:
    return {
        "id": claim.job_id,
        "token": claim.lease_token,
        "outcome": result.outcome and result.outcome.value,
        "result": encrypted(session, Job.result, claim.job_id, result.result),
        "charge": result.charge,
        "already_owned": result.already_owned,
        "entry_id": new_id("led"),
    }


class _Finished(NamedTuple):
    """The credits of a finished job, and what the statement has done with them."""

    id: str
    workspace_id: str
    held: int
    charged: int
    is_closed: bool
    is_limited: bool


@lru_cache(maxsize=8)
def _finish(now: Moment) -> Statement[_Finished]:
    """Return the statement that finishes claimed or locked jobs; it returns their credits.

    On PostgreSQL it also closes their holds.
    """
    return Statement(_Finished, partial(_finish_on, now=now))


def _finish_on(dialect: str, *, now: Moment) -> ReturningUpdate[Any] | Select[Any]:
    columns = Job.__table__.c
    results = ("outcome", "result", "already_owned")
    types: dict[str, TypeEngine[Any]] = {
        **{name: String() for name in ("id", "token", "entry_id")},
        "charge": Integer(),
        **{name: columns[name].type for name in results},
    }
    settled = rows_of(dialect, "settled", types)
    is_locked = settled.c.token == ""
    is_held = or_(
        and_(columns.status == Status.RUNNING.value, columns.lease_token == settled.c.token),
        and_(columns.status == Status.QUEUED.value, is_locked),
    )
    finish: ReturningUpdate[Any] = (
        update(cast("Table", Job.__table__))
        .where(any_of(dialect, columns.id, "job_ids"), columns.id == settled.c.id, is_held)
        .values(
            status=Status.SUCCEEDED.value,
            attempts=columns.attempts + case((is_locked, 1), else_=0),  # a claim has counted its attempt
            charged=columns.charged + settled.c.charge,
            progress_done=columns.progress_total,
            finished_at=now,
            lease_token=None,
            lease_until=None,
            **{name: settled.c[name] for name in results},
        )
        .returning(columns.id, columns.workspace_id, columns.held, columns.charged)
    )
    if dialect == "sqlite":
        open_hold = (false().label("is_closed"), false().label("is_limited"))
        return cast("ReturningUpdate[Any]", finish.returning(*open_hold))
    finished = finish.returning(settled.c.entry_id).cte("finished")
    closed, balances = closing.closed(dialect, finished, now=now)
    is_limited = func.coalesce(balances.c.is_limited, false()).label("is_limited")
    amounts = (finished.c[name] for name in _Finished._fields[:-2])
    return (
        select(*amounts, true().label("is_closed"), is_limited)
        .outerjoin_from(finished, balances, balances.c.id == finished.c.workspace_id)
        .add_cte(closed)
    )


def fail(
    session: Session,
    claim: Claim,
    error: dict[str, Any],
    *,
    trace: Sequence[dict[str, Any]] = (),
    now: Moment,
) -> None:
    """Finish the job with an error and release its hold, except the charge for items already completed.

    Raises:
        LeaseLost: the worker no longer holds the job.

    """
    current = _lock_claimed(session, claim)
    _update(
        session,
        claim,
        status=Status.FAILED.value,
        error=encrypted(session, Job.error, claim.job_id, error),
        trace=traces.merge(current.trace, trace),
        finished_at=now,
        lease_token=None,
        lease_until=None,
    )
    credits.close(
        session, claim.workspace_id, claim.job_id, held=claim.held, charged=current.charged, now=now
    )


def requeue(
    session: Session,
    claim: Claim,
    *,
    trace: Sequence[dict[str, Any]] = (),
    run_after: Moment,
    counts_as_attempt: bool = True,
) -> None:
    """Queue the job to run again at `run_after`.

    Raises:
        LeaseLost: the worker no longer holds the job.

    """
    _update(
        session,
        claim,
        status=Status.QUEUED.value,
        run_after=run_after,
        published_at=None,
        publishes=1,  # nobody publishes its message now: the sweeper does, as soon as it is due
        attempts=Job.attempts - (0 if counts_as_attempt else 1),  # the claim has counted it
        trace=traces.merge(_lock_claimed(session, claim).trace, trace),
        lease_token=None,
        lease_until=None,
    )


def move_to_queue(
    session: Session, claim: Claim, queue: Queue, *, trace: Sequence[dict[str, Any]] = (), now: Moment
) -> None:
    """Move the job to this queue, due now and without counting an attempt.

    The caller publishes the job's message after the commit.

    Raises:
        LeaseLost: the worker no longer holds the job.

    """
    trace_change = {"trace": traces.merge(_lock_claimed(session, claim).trace, trace)} if trace else {}
    _update(
        session,
        claim,
        status=Status.QUEUED.value,
        queue=queue.value,
        run_after=now,
        published_at=None,
        publishes=0,  # as a new job: the sweeper gives the caller time to publish its message
        attempts=Job.attempts - 1,  # the claim has counted it
        lease_token=None,
        lease_until=None,
        **trace_change,
    )


def renew(session: Session, claim: Claim, *, lease_until: Moment) -> None:
    """Extend the lease.

    Raises:
        LeaseLost: the worker no longer holds the job.

    """
    _update(session, claim, lease_until=lease_until)


def is_held(session: Session, claim: Claim) -> bool:
    """Return whether the worker still holds the job."""
    return session.scalar(select(Job.id).where(_held_by(claim))) is not None


def complete_item(
    session: Session,
    claim: Claim,
    item: JobItem,
    *,
    charge: int,
    trace: Sequence[dict[str, Any]] = (),
    lease_until: Moment,
) -> None:
    """Store one finished item of an enrichment, with its charge and trace, and extend the lease.

    Raises:
        LeaseLost: the worker no longer holds the job.

    """
    _update(
        session,
        claim,
        progress_done=Job.progress_done + 1,
        charged=Job.charged + charge,
        trace=traces.merge(_lock_claimed(session, claim).trace, trace),
        lease_until=lease_until,
    )
    session.merge(item)


def lock(session: Session, claim: Claim) -> None:
    """Lock the job, before rows that other jobs lock.

    Raises:
        LeaseLost: the worker no longer holds the job.

    """
    _lock_claimed(session, claim)


def _update(session: Session, claim: Claim, **values: Any) -> int:
    """Update the job and return the credits charged for it so far."""
    charged = session.scalar(
        update(Job)
        .where(_held_by(claim))
        .values(values)
        .returning(Job.charged)
        .execution_options(synchronize_session=False)
    )
    if charged is None:
        raise LeaseLost
    return charged


def _held_by(claim: Claim) -> ColumnElement[bool]:
    return and_(Job.id == claim.job_id, Job.status == Status.RUNNING, Job.lease_token == claim.lease_token)


def _lock_claimed(session: Session, claim: Claim) -> Row[tuple[int, list[Any]]]:
    row = session.execute(
        select(Job.charged, Job.trace).where(_held_by(claim)).with_for_update()
    ).one_or_none()
    if row is None:
        raise LeaseLost
    return row
