"""Claims: a worker takes a due or abandoned job, with a lease that makes it the only holder."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Integer, String, and_, bindparam, case, or_, select, update
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.dml import ReturningUpdate

from app.domain.kinds import Queue, Status
from app.engine.jobs.jobs import PURPOSE, Job
from app.infra.database.database_clock import Moment, column
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of, columns_of

_MAX_CRASHES = bindparam("max_crashes", type_=Integer())
_QUEUE = bindparam("of_queue", type_=String())


class Refusal(StrEnum):
    """The reason why a job cannot be claimed.

    `OVER`, `HELD` and `UNKNOWN` are expected: a message was delivered twice, or the job was deleted.
    `NOT_DUE` is not. `LOCKED` lasts until another transaction has settled the job, or has left it.
    """

    NOT_DUE = "not_due"
    LOCKED = "locked"
    HELD = "held"
    OVER = "over"
    PAST_DEADLINE = "past_deadline"
    CRASHED = "crashed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claimed job. `held` and `charged` are credits; `charged` is from earlier attempts.

    `lease_token` is empty if the job is only locked, by the transaction that took it from its queue.
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


def claimable(*, now: Moment) -> ColumnElement[bool]:
    """Return the condition under which a job may be claimed: it is due, or its lease expired.

    It has the parameter `max_crashes`.
    """
    due = and_(Job.status == Status.QUEUED, Job.run_after <= now)
    # One less, because the expired lease is a crash that only the claim counts.
    abandoned = and_(Job.status == Status.RUNNING, Job.lease_until < now, Job.crashes < _MAX_CRASHES - 1)
    return and_(Job.deadline_at > now, or_(due, abandoned))


def claim(session: Session, job_id: str, *, lease: timedelta, max_crashes: int, now: Moment) -> Claim | None:
    """Claim the job, or return None if it is held, not due, or finished."""
    claimed = claim_all(session, [job_id], lease=lease, max_crashes=max_crashes, now=now)
    return claimed[0] if claimed else None


def claim_all(
    session: Session, job_ids: Sequence[str], *, lease: timedelta, max_crashes: int, now: Moment
) -> list[Claim]:
    """Claim the jobs that are due or abandoned, and skip the others; return the claims in this order.

    Claiming a job whose lease expired counts as a crash of its last worker, any other claim as an attempt.
    """
    if not job_ids:
        return []
    values = {"job_ids": list(job_ids), "token": secrets.token_hex(16), "max_crashes": max_crashes}
    rows = {row.id: row for row in _claim_all(lease, now).all(session, values)}
    return [to_claim(rows[job_id]) for job_id in job_ids if job_id in rows]


@lru_cache(maxsize=8)
def _claim_all(lease: timedelta, now: Moment) -> Statement[ClaimRow]:
    return Statement(ClaimRow, lambda dialect: _claim_statement(dialect, lease=lease, now=now))


def _claim_statement(dialect: str, *, lease: timedelta, now: Moment) -> ReturningUpdate[Any]:
    crashed = Job.status == Status.RUNNING
    return (
        update(Job)
        .where(any_of(dialect, Job.id, "job_ids"), claimable(now=now))
        .values(
            status=Status.RUNNING.value,
            lease_token=bindparam("token"),
            lease_until=now + lease,
            attempts=Job.attempts + case((crashed, 0), else_=1),
            crashes=Job.crashes + case((crashed, 1), else_=0),
        )
        .returning(
            *columns_of(Job, ClaimRow._fields[:-1]),
            column(now).label("claimed_at"),
        )
        .execution_options(synchronize_session=False)
    )


def to_claim(row: ClaimRow) -> Claim:
    """Convert a row of a statement to a claim."""
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


def refusal_reasons(
    session: Session, job_ids: Sequence[str], *, queue: Queue, now: Moment
) -> dict[str, Refusal]:
    """Return why the jobs cannot be claimed for messages of this queue, by id."""
    parameters = {"job_ids": list(job_ids), "of_queue": queue.value}
    reasons = {row.id: Refusal(row.reason) for row in _refusals(now).all(session, parameters)}
    return {job_id: reasons.get(job_id, Refusal.UNKNOWN) for job_id in job_ids}


class _RefusalRow(NamedTuple):
    id: str
    reason: str


@lru_cache(maxsize=8)
def _refusals(now: Moment) -> Statement[_RefusalRow]:
    over = Job.finished_at.is_not(None)
    reason = case(
        (over, Refusal.OVER.value),
        (Job.deadline_at <= now, Refusal.PAST_DEADLINE.value),
        (and_(Job.status == Status.QUEUED, Job.run_after <= now, Job.queue == _QUEUE), Refusal.LOCKED.value),
        (Job.status == Status.QUEUED, Refusal.NOT_DUE.value),
        (Job.lease_until >= now, Refusal.HELD.value),
        else_=Refusal.CRASHED.value,
    )
    return Statement(
        _RefusalRow,
        lambda dialect: select(Job.id, reason.label("reason")).where(any_of(dialect, Job.id, "job_ids")),
    )
