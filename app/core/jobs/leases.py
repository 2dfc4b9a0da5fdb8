"""Leases: exactly one worker holds a running job and stores its result.

Every function that changes a job is a compare-and-set on its row. A worker that lost its lease, because it
was paused or too slow, matches no row and must discard its work.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import BindParameter, Row, and_, case, or_, select, update
from sqlalchemy.orm import Session
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.dml import ReturningUpdate

from app.core.jobs.jobs import Job, JobItem
from app.core.ledger import credits
from app.domain.kinds import Kind, Outcome, Queue, Status, TraceOutcome
from app.infra.database_clock import Moment


class LeaseLost(Exception):  # noqa: N818 -- it names what happened
    """The worker no longer holds the job; nothing may be written."""


class Refusal(StrEnum):
    """The reason why a job cannot be claimed.

    `OVER`, `HELD` and `UNKNOWN` are expected: a message was delivered twice, or the job was deleted.
    `NOT_DUE` is not.
    """

    NOT_DUE = "not_due"
    HELD = "held"
    OVER = "over"
    PAST_DEADLINE = "past_deadline"
    CRASHED = "crashed"
    UNKNOWN = "unknown"


_CALLED_OUTCOMES = frozenset(
    {
        TraceOutcome.HIT,
        TraceOutcome.MISS,
        TraceOutcome.SUPPRESSED,
        TraceOutcome.ERROR,
        TraceOutcome.TIMEOUT,
        TraceOutcome.NO_CREDITS,
    }
)
"""Outcomes of calls that were sent. The other outcomes may also mean that no call was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claimed job. `held` and `charged` are credits; `charged` is from earlier attempts."""

    job_id: str
    workspace_id: str
    kind: Kind
    queue: Queue
    request: dict[str, Any]
    attempts: int
    held: int
    charged: int
    lease_token: str

    @property
    def budget(self) -> int:
        """Return the number of credits that the job may still be charged."""
        return self.held - self.charged


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """The outcome and result of a job, its charge in credits, and the trace of provider calls."""

    outcome: Outcome
    result: dict[str, Any] | None = None
    charge: int = 0
    already_owned: bool = False
    trace: Sequence[dict[str, Any]] = field(default=())


def claimable(*, max_crashes: int | BindParameter[int], now: Moment) -> ColumnElement[bool]:
    """Return the condition under which a job may be claimed: it is due, or its lease expired."""
    due = and_(Job.status == Status.QUEUED, Job.run_after <= now)
    abandoned = and_(Job.status == Status.RUNNING, Job.lease_until < now, Job.crashes < max_crashes - 1)
    return and_(Job.deadline_at > now, or_(due, abandoned))


def claim(session: Session, job_id: str, *, lease: timedelta, max_crashes: int, now: Moment) -> Claim | None:
    """Claim the job, or return None if it is held, not due, or finished."""
    statement = claim_statement(
        Job.id == job_id,
        token=secrets.token_hex(16),
        lease_until=now + lease,
        max_crashes=max_crashes,
        now=now,
    )
    return to_claim(session.execute(statement).one_or_none())


def claim_statement(
    condition: ColumnElement[bool],
    *,
    token: str | BindParameter[str],
    lease_until: Moment,
    max_crashes: int | BindParameter[int],
    now: Moment,
) -> ReturningUpdate[Any]:
    """Return the statement that claims a matching job; the values may be bound parameters.

    Claiming a job whose lease expired counts as a crash of its last worker, any other claim as an attempt.
    """
    crashed = Job.status == Status.RUNNING
    return (
        update(Job)
        .where(condition, claimable(max_crashes=max_crashes, now=now))
        .values(
            status=Status.RUNNING.value,
            lease_token=token,
            lease_until=lease_until,
            attempts=Job.attempts + case((crashed, 0), else_=1),
            crashes=Job.crashes + case((crashed, 1), else_=0),
        )
        .returning(
            Job.id,
            Job.workspace_id,
            Job.kind,
            Job.queue,
            Job.request,
            Job.attempts,
            Job.held,
            Job.charged,
            Job.lease_token,
        )
        .execution_options(synchronize_session=False)
    )


def to_claim(row: Row[Any] | None) -> Claim | None:
    """Convert a row of the claim statement to a claim; None if the statement claimed nothing."""
    if row is None:
        return None
    return Claim(
        job_id=row.id,
        workspace_id=row.workspace_id,
        kind=Kind(row.kind),
        queue=Queue(row.queue),
        request=row.request,
        attempts=row.attempts,
        held=row.held,
        charged=row.charged,
        lease_token=row.lease_token,
    )


def refusal_reason(session: Session, job_id: str, *, now: Moment) -> Refusal:
    """Return why the job cannot be claimed."""
    over = Job.finished_at.is_not(None)
    reason = case(
        (over, Refusal.OVER.value),
        (Job.deadline_at <= now, Refusal.PAST_DEADLINE.value),
        (Job.status == Status.QUEUED, Refusal.NOT_DUE.value),
        (Job.lease_until >= now, Refusal.HELD.value),
        else_=Refusal.CRASHED.value,
    )
    return Refusal(session.scalar(select(reason).where(Job.id == job_id)) or Refusal.UNKNOWN)


def settle(session: Session, claim: Claim, job_result: JobResult, *, now: Moment) -> None:
    """Finish the job with a result and settle or release its hold.

    Raises:
        LeaseLost: the worker no longer holds the job.

    """
    current = _lock_claimed(session, claim)
    charged = current.charged + job_result.charge
    _update(
        session,
        claim,
        status=Status.SUCCEEDED.value,
        outcome=job_result.outcome.value,
        result=job_result.result,
        trace=merge_trace(current.trace, job_result.trace),
        charged=charged,
        already_owned=job_result.already_owned,
        progress_done=Job.progress_total,
        finished_at=now,
        lease_token=None,
        lease_until=None,
    )
    credits.close(session, claim.workspace_id, claim.job_id, held=claim.held, charged=charged, now=now)


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
        error=error,
        trace=merge_trace(current.trace, trace),
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
        publishes=1,
        attempts=Job.attempts - (0 if counts_as_attempt else 1),
        trace=merge_trace(_lock_claimed(session, claim).trace, trace),
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
    trace_change = {"trace": merge_trace(_lock_claimed(session, claim).trace, trace)} if trace else {}
    _update(
        session,
        claim,
        status=Status.QUEUED.value,
        queue=queue.value,
        run_after=now,
        published_at=None,
        publishes=0,
        attempts=Job.attempts - 1,
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
        trace=merge_trace(_lock_claimed(session, claim).trace, trace),
        lease_until=lease_until,
    )
    session.merge(item)


def _update(session: Session, claim: Claim, **values: Any) -> None:
    changed = session.execute(
        update(Job)
        .where(_held_by(claim))
        .values(values)
        .returning(Job.id)
        .execution_options(synchronize_session=False)
    ).first()
    if changed is None:
        raise LeaseLost


def merge_trace(before: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the trace with the new lines added, without duplicates: a retried job reuses stored replies.

    A call that was sent is identified by its time. A refusal before sending is listed once per outcome.
    """
    lines = {_call_identity(line): line for line in (*before, *new)}
    return list(lines.values())


def _call_identity(line: dict[str, Any]) -> tuple[Any, ...]:
    was_sent = line.get("latency_ms") or line.get("cost") or line.get("outcome") in _CALLED_OUTCOMES
    distinct = line.get("at") if was_sent else line.get("outcome")
    return line.get("item"), line.get("provider"), line.get("field"), distinct


def _held_by(claim: Claim) -> ColumnElement[bool]:
    return and_(Job.id == claim.job_id, Job.status == Status.RUNNING, Job.lease_token == claim.lease_token)


def _lock_claimed(session: Session, claim: Claim) -> Row[tuple[int, list[Any]]]:
    row = session.execute(
        select(Job.charged, Job.trace).where(_held_by(claim)).with_for_update()
    ).one_or_none()
    if row is None:
        raise LeaseLost
    return row
