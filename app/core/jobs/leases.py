"""Leases: how exactly one worker holds a job, and how it hands in what it found.

Every verb here is one compare-and-set on the job's row. A worker that lost its lease, because it was
stopped or too slow, finds no row to change and must throw its work away.
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
    """The job is no longer this worker's; whatever was about to be written must not be."""


class Refusal(StrEnum):
    """Why a job cannot be claimed: what is wrong with the message about it.

    `OVER`, `HELD` and `UNKNOWN` are usual: a message came twice, or the job was deleted. `NOT_DUE` is not.
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
"""How a call ends that was made; the others may be refusals, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A job as its worker holds it. `held` and `charged` are credits, the latter from earlier tries."""

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
        """Give the credits this job may still be charged."""
        return self.held - self.charged


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """What came of a job: its outcome and result, what it costs, and who was asked."""

    outcome: Outcome
    result: dict[str, Any] | None = None
    charge: int = 0
    already_owned: bool = False
    trace: Sequence[dict[str, Any]] = field(default=())


def claimable(*, max_crashes: int | BindParameter[int], now: Moment) -> ColumnElement[bool]:
    """Return the condition under which a job may be claimed: it is due, or its lease ran out."""
    due = and_(Job.status == Status.QUEUED, Job.run_after <= now)
    abandoned = and_(Job.status == Status.RUNNING, Job.lease_until < now, Job.crashes < max_crashes - 1)
    return and_(Job.deadline_at > now, or_(due, abandoned))


def claim(session: Session, job_id: str, *, lease: timedelta, max_crashes: int, now: Moment) -> Claim | None:
    """Take the job if it may run now; None if it is somebody else's, not due, or over."""
    statement = claim_statement(
        Job.id == job_id, token=secrets.token_hex(16), until=now + lease, max_crashes=max_crashes, now=now
    )
    return claimed(session.execute(statement).one_or_none())


def claim_statement(
    which: ColumnElement[bool],
    *,
    token: str | BindParameter[str],
    until: Moment,
    max_crashes: int | BindParameter[int],
    now: Moment,
) -> ReturningUpdate[Any]:
    """Write the statement that claims a job if it may run; the values may be parameters.

    Taking over a job whose lease ran out counts as a crash of its last worker, anything else as an attempt.
    """
    crashed = Job.status == Status.RUNNING
    return (
        update(Job)
        .where(which, claimable(max_crashes=max_crashes, now=now))
        .values(
            status=Status.RUNNING.value,
            lease_token=token,
            lease_until=until,
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


def claimed(row: Row[Any] | None) -> Claim | None:
    """Return the claim that the statement's row describes, None if it claimed nothing."""
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


def refusal(session: Session, job_id: str, *, now: Moment) -> Refusal:
    """Return why a claim of the job has failed just now."""
    over = Job.finished_at.is_not(None)
    reason = case(
        (over, Refusal.OVER.value),
        (Job.deadline_at <= now, Refusal.PAST_DEADLINE.value),
        (Job.status == Status.QUEUED, Refusal.NOT_DUE.value),
        (Job.lease_until >= now, Refusal.HELD.value),
        else_=Refusal.CRASHED.value,
    )
    return Refusal(session.scalar(select(reason).where(Job.id == job_id)) or Refusal.UNKNOWN)


def settle(session: Session, claim: Claim, answer: JobResult, *, now: Moment) -> None:
    """End the job with an answer, and spend or give back what it held.

    Raises:
        LeaseLost: the job is no longer this worker's.

    """
    so_far = _lock_claimed(session, claim)
    charged = so_far.charged + answer.charge
    _change(
        session,
        claim,
        status=Status.SUCCEEDED.value,
        outcome=answer.outcome.value,
        result=answer.result,
        trace=merge_trace(so_far.trace, answer.trace),
        charged=charged,
        already_owned=answer.already_owned,
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
    """End the job without an answer; what it held comes back, but for items that were delivered.

    Raises:
        LeaseLost: the job is no longer this worker's.

    """
    so_far = _lock_claimed(session, claim)
    _change(
        session,
        claim,
        status=Status.FAILED.value,
        error=error,
        trace=merge_trace(so_far.trace, trace),
        finished_at=now,
        lease_token=None,
        lease_until=None,
    )
    credits.close(session, claim.workspace_id, claim.job_id, held=claim.held, charged=so_far.charged, now=now)


def requeue(
    session: Session,
    claim: Claim,
    *,
    trace: Sequence[dict[str, Any]] = (),
    run_after: Moment,
    counts_as_attempt: bool = True,
) -> None:
    """Let the job run again later; `spends` is whether this was one of its tries.

    Raises:
        LeaseLost: the job is no longer this worker's.

    """
    _change(
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


def hand_over(
    session: Session, claim: Claim, queue: Queue, *, trace: Sequence[dict[str, Any]] = (), now: Moment
) -> None:
    """Queue the job to run at once, without spending a try; send its message after the commit.

    Raises:
        LeaseLost: the job is no longer this worker's.

    """
    more = {"trace": merge_trace(_lock_claimed(session, claim).trace, trace)} if trace else {}
    _change(
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
        **more,
    )


def renew(session: Session, claim: Claim, *, lease_until: Moment) -> None:
    """Hold the job longer.

    Raises:
        LeaseLost: the job is no longer this worker's.

    """
    _change(session, claim, lease_until=lease_until)


def is_held(session: Session, claim: Claim) -> bool:
    """Tell whether the job is still this worker's."""
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
    """Hand in one finished item of an enrichment: its row, progress, charge so far, trace, a longer lease.

    Raises:
        LeaseLost: the job is no longer this worker's.

    """
    _change(
        session,
        claim,
        progress_done=Job.progress_done + 1,
        charged=Job.charged + charge,
        trace=merge_trace(_lock_claimed(session, claim).trace, trace),
        lease_until=lease_until,
    )
    session.merge(item)


def _change(session: Session, claim: Claim, **values: Any) -> None:
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
    """Add to the trace what is not in it: a job that runs again hears its earlier answers again.

    A call is told from others by when it was made; what was refused before anything was sent stands once.
    """
    lines = {_call_of(line): line for line in (*before, *new)}
    return list(lines.values())


def _call_of(line: dict[str, Any]) -> tuple[Any, ...]:
    was_sent = line.get("latency_ms") or line.get("cost") or line.get("outcome") in _CALLED_OUTCOMES
    told = line.get("at") if was_sent else line.get("outcome")
    return line.get("item"), line.get("provider"), line.get("field"), told


def _held_by(claim: Claim) -> ColumnElement[bool]:
    return and_(Job.id == claim.job_id, Job.status == Status.RUNNING, Job.lease_token == claim.lease_token)


def _lock_claimed(session: Session, claim: Claim) -> Row[tuple[int, list[Any]]]:
    row = session.execute(
        select(Job.charged, Job.trace).where(_held_by(claim)).with_for_update()
    ).one_or_none()
    if row is None:
        raise LeaseLost
    return row
