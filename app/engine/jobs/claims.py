"""Claims: a worker takes a due or abandoned job, with a lease that makes it the only holder."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, and_, case, or_, select, update
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.dml import ReturningUpdate

from app.domain.kinds import Queue, Status
from app.engine.jobs.jobs import PURPOSE, Job
from app.infra.database.database_clock import Moment, column
from app.infra.database.session import Session
from app.infra.database.statements import columns_of


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claimed job. `held` and `charged` are credits; `charged` is from earlier attempts.

    `claimed_at` is the time of the database, `crashes` the number of workers that were lost with the job,
    `publishes` how often the sweeper has published its message again.
    """

    job_id: str
    workspace_id: str
    kind: str
    queue: Queue
    request: dict[str, Any]
    attempts: int
    held: int
    charged: int
    lease_token: str
    claimed_at: datetime
    crashes: int = 0
    publishes: int = 0

    @property
    def is_first(self) -> bool:
        """Return whether no worker can have run the job before, except to move it to another queue.

        If the message was published again, a worker may have been killed before it committed its claim.
        """
        return self.attempts == 1 and not self.crashes and not self.publishes

    @property
    def purpose(self) -> str | None:
        """Return why the values are obtained; None if it was not stated."""
        return self.request.get(PURPOSE)

    @property
    def budget(self) -> int:
        """Return the number of credits that the job may still be charged."""
        return self.held - self.charged


class ClaimRow(NamedTuple):
    """A row of the claim statement."""

    id: str
    workspace_id: str
    kind: str
    queue: str
    request: dict[str, Any]
    attempts: int
    held: int
    charged: int
    lease_token: str
    crashes: int
    publishes: int
    claimed_at: datetime


def claimable(*, max_crashes: int | BindParameter[int], now: Moment) -> ColumnElement[bool]:
    """Return the condition under which a job may be claimed: it is due, or its lease expired."""
    due = and_(Job.status == Status.QUEUED, Job.run_after <= now)
    # One less, because the expired lease is a crash that only the claim counts.
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
    row = session.execute(statement).one_or_none()
    return None if row is None else to_claim(ClaimRow._make(row))


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
            *columns_of(Job, ClaimRow._fields[:-1]),
            column(now).label("claimed_at"),
        )
        .execution_options(synchronize_session=False)
    )


def to_claim(row: ClaimRow | None) -> Claim | None:
    """Convert a row of the claim statement to a claim; None if the statement claimed nothing."""
    if row is None:
        return None
    return Claim(
        job_id=row.id,
        workspace_id=row.workspace_id,
        kind=row.kind,
        queue=Queue(row.queue),
        request=row.request,
        attempts=row.attempts,
        held=row.held,
        charged=row.charged,
        lease_token=row.lease_token,
        claimed_at=row.claimed_at,
        crashes=row.crashes,
        publishes=row.publishes,
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
