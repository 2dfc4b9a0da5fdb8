"""Log of provider calls: request, outcome and cost of each call made for a job.

A call is inserted before it is sent, and its reply is stored before it is used: a killed worker leaves a call
with outcome `started`, and a retried job reuses the replies it has paid for. Personal data is deleted when
the job ends; a keyed digest of the subject remains, so that known misses are not paid for again.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Index, String, and_, bindparam, delete, func, not_, or_, select, true, update
from sqlalchemy.orm import Mapped, defer, mapped_column

from app.domain.findings import EmailStatus
from app.domain.ids import new_id
from app.domain.kinds import OPEN, Status, TraceOutcome
from app.domain.providers.trace_lines import trace_line
from app.domain.records.subjects import Subject
from app.engine.jobs.jobs import Job
from app.infra.clock import rfc3339
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.database_clock import Moment, column
from app.infra.database.db import Base
from app.infra.database.encrypted_columns import EncryptedJson, encrypted
from app.infra.database.session import Session

MAX_CALL_DURATION = timedelta(seconds=30)
STARTED = "started"
PENDING = "pending"
CONCLUSIVE_OUTCOMES = frozenset(
    {TraceOutcome.HIT.value, TraceOutcome.MISS.value, TraceOutcome.SUPPRESSED.value}
)
"""Outcomes after which a running job does not call the provider again."""

_PROFILE_FIELDS = frozenset({"person", "company"})


class ProviderCall(Base):
    """One call of one provider for one field of one subject.

    `outcome` is a trace outcome, `started` or `pending`; `status` is the status of the best address, `reason`
    why there is no result. `cost` is in the provider's credits; while the call is open, it is the maximum
    cost. `ticket` is the poll token of an asynchronous provider, `reply` the values; both are deleted when
    the job ends. `subject_digest` is the digest of the subject and the requested types, `item` the index in
    an enrichment, `attempt` the attempt of the job.
    """

    __tablename__ = "provider_calls"
    __table_args__ = (
        Index("ix_provider_calls_job_id", "job_id"),
        Index("ix_provider_calls_subject_digest", "subject_digest", "provider", "asked_at"),
        Index("ix_provider_calls_provider_asked_at", "provider", "asked_at"),
        Index("ix_provider_calls_field_asked_at", "field", "asked_at"),
        Index("ix_provider_calls_asked_at", "asked_at"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    job_id: Mapped[str] = mapped_column(String(28))
    item: Mapped[int | None]
    field: Mapped[str]
    provider: Mapped[str]
    subject_digest: Mapped[bytes]
    country: Mapped[str | None]
    attempt: Mapped[int]
    outcome: Mapped[str]
    status: Mapped[str | None]
    reason: Mapped[str | None]
    cost: Mapped[float]
    latency_ms: Mapped[int | None]
    ticket: Mapped[str | None]
    reply: Mapped[dict[str, Any] | None] = mapped_column(EncryptedJson("provider_calls.reply"))
    asked_at: Mapped[datetime]
    answered_at: Mapped[datetime | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallKey:
    """Identity of a call: job, item, field, provider and subject digest.

    `visible_to` is the only workspace that can find the stored reply later; None if all can.
    """

    job_id: str
    item: int | None
    field: str
    provider: str
    subject: bytes
    country: str | None
    attempt: int = 1
    visible_to: str | None = None


def subject_digest(keys: DigestKeys, field: str, types: tuple[str, ...], subject: Subject) -> bytes:
    """Return the 32-byte digest that identifies the request across jobs, keyed so that it cannot be guessed.

    It covers every value sent to the provider. Otherwise a miss caused by one wrong value would also apply to
    requests without it, and one workspace could disable a provider for the others.
    """
    values = {name: text.casefold() for name, text in subject.as_dict().items() if name != "contact_id"}
    content = [field, sorted(types), sorted(values.items())]
    return keys.digest("call", json.dumps(content))


def find_reusable(session: Session, key: CallKey) -> ProviderCall | None:
    """Return the job's latest answered or pending call with this key, or None.

    A failed call is reused within the same attempt of the job: while one provider is pending, another that
    failed is not called repeatedly.
    """
    failed = and_(ProviderCall.attempt == key.attempt, ProviderCall.outcome.not_in([STARTED]))
    query = (
        select(ProviderCall)
        .where(
            ProviderCall.job_id == key.job_id,
            ProviderCall.item.is_(None) if key.item is None else ProviderCall.item == key.item,
            ProviderCall.field == key.field,
            ProviderCall.provider == key.provider,
            ProviderCall.subject_digest == key.subject,
            or_(ProviderCall.outcome.in_([*CONCLUSIVE_OUTCOMES, PENDING]), failed),
            or_(ProviderCall.reply.is_not(None), ProviderCall.outcome == PENDING),
        )
        .order_by(ProviderCall.asked_at.desc(), ProviderCall.id.desc())
        .limit(1)
    )
    return session.scalar(query)


def has_conclusive_answer(session: Session, key: CallKey, *, since: Moment, fresh_since: datetime) -> bool:
    """Return whether calling the provider again would return, and cost, the same.

    True if its latest reply since then was a miss, or values that are stored where this workspace finds them
    (the job succeeded): the caller has established that no stored value fulfils the request. A valid address
    or a phone number that was requested before `fresh_since` is requested again, as it may only be too old.
    """
    query = (
        select(
            ProviderCall.outcome,
            ProviderCall.status,
            ProviderCall.asked_at,
            Job.status.label("job"),
            Job.workspace_id,
        )
        .outerjoin(Job, Job.id == ProviderCall.job_id)
        .where(
            ProviderCall.subject_digest == key.subject,
            ProviderCall.provider == key.provider,
            ProviderCall.asked_at >= since,
            ProviderCall.outcome.in_(CONCLUSIVE_OUTCOMES),
        )
        .order_by(ProviderCall.asked_at.desc())
        .limit(1)
    )
    latest = session.execute(query).first()
    if latest is None or latest.outcome == TraceOutcome.SUPPRESSED:
        return False
    if latest.outcome == TraceOutcome.MISS:
        return True
    if latest.job != Status.SUCCEEDED or key.visible_to not in {None, latest.workspace_id}:
        return False  # not stored, or stored for another workspace only
    may_expire = key.field not in _PROFILE_FIELDS and latest.status in {None, EmailStatus.VALID.value}
    return not may_expire or latest.asked_at >= fresh_since


def is_in_flight(session: Session, key: CallKey, *, since: Moment, now: Moment) -> bool:
    """Return whether another job or item waits for a reply to the same request, pending `since` or later.

    Jobs of other workspaces count if the reply will be stored for all workspaces. A call that started more
    than MAX_CALL_DURATION ago without ending belongs to a lost worker.
    """
    pending = and_(ProviderCall.outcome == PENDING, ProviderCall.asked_at >= since)
    running = and_(ProviderCall.outcome == STARTED, ProviderCall.asked_at >= now - MAX_CALL_DURATION)
    same_item = and_(ProviderCall.job_id == key.job_id, ProviderCall.item.is_not_distinct_from(key.item))
    shares_reply = true() if key.visible_to is None else Job.workspace_id == key.visible_to
    query = (
        select(ProviderCall.id)
        .join(Job, and_(Job.id == ProviderCall.job_id, Job.status.in_(OPEN), shares_reply))
        .where(
            ProviderCall.subject_digest == key.subject,
            ProviderCall.provider == key.provider,
            or_(pending, running),
            not_(same_item),
        )
        .limit(1)
    )
    return session.scalar(query) is not None


def credits_since(session: Session, provider: str, since: datetime) -> float:
    """Return the provider's credits spent since then; open calls count with their maximum cost."""
    query = select(func.coalesce(func.sum(ProviderCall.cost), 0.0)).where(
        ProviderCall.provider == provider, ProviderCall.asked_at >= since
    )
    return float(session.execute(query).scalar_one())


def credits_for(session: Session, job_id: str, item: int | None, fields: Collection[str]) -> dict[str, float]:
    """Return the cost of these fields of a job or item, in each provider's credits."""
    query = (
        select(ProviderCall.provider, func.sum(ProviderCall.cost))
        .where(
            ProviderCall.job_id == job_id,
            ProviderCall.item.is_(None) if item is None else ProviderCall.item == item,
            ProviderCall.field.in_(fields),
        )
        .group_by(ProviderCall.provider)
    )
    return {row[0]: float(row[1]) for row in session.execute(query)}


def start(session: Session, key: CallKey, *, cost: float, now: Moment) -> str:
    """Insert a call that is about to be sent and return its id."""
    call = ProviderCall(
        id=new_id("cal"),
        job_id=key.job_id,
        item=key.item,
        field=key.field,
        provider=key.provider,
        subject_digest=key.subject,
        country=key.country,
        attempt=key.attempt,
        outcome=STARTED,
        cost=cost,
        asked_at=now,
    )
    session.add(call)
    session.flush()
    return call.id


def mark_pending(session: Session, call_id: str, *, ticket: str) -> None:
    """Mark the call as pending: the provider will reply later."""
    _update(session, call_id, outcome=PENDING, ticket=ticket)


def record_reply(  # noqa: PLR0913 -- the columns of a reply
    session: Session,
    call_id: str,
    *,
    outcome: TraceOutcome,
    status: str | None,
    reason: str | None = None,
    cost: float,
    latency_ms: int,
    reply: dict[str, Any] | None,
    now: Moment,
) -> None:
    """Store the provider's reply."""
    values: dict[str, Any] = {"status": status, "reason": reason, "cost": cost, "latency_ms": latency_ms}
    values["reply"] = encrypted(session, ProviderCall.reply, call_id, reply)
    _update(session, call_id, outcome=outcome.value, answered_at=now, **values)


def record_verdict(session: Session, call_id: str, *, outcome: TraceOutcome, status: str | None) -> None:
    """Store the outcome and status of a reply after its addresses were verified."""
    _update(session, call_id, outcome=outcome.value, status=status)


_CALLS_OF_JOB = (
    select(ProviderCall)
    .where(ProviderCall.job_id == bindparam("job_id"))
    .order_by(ProviderCall.asked_at, ProviderCall.id)
    .options(defer(ProviderCall.reply))
)


def progress(session: Session, job_id: str, *, now: Moment) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the trace lines of an open job's ended calls, and the providers with a call in flight.

    A call that started more than MAX_CALL_DURATION ago without ending belongs to a lost worker.
    """
    is_recent = ProviderCall.asked_at >= now - MAX_CALL_DURATION
    calls = session.execute(_CALLS_OF_JOB.add_columns(is_recent), {"job_id": job_id}).all()
    asking = [
        call.provider
        for call, recent in calls
        if call.outcome == PENDING or (call.outcome == STARTED and recent)
    ]
    lines = [_trace_line(call) for call, _recent in calls if call.outcome not in {STARTED, PENDING}]
    return lines, list(dict.fromkeys(asking))


def time_out_open(session: Session, job_id: str, *, now: Moment) -> list[dict[str, Any]]:
    """Mark the open calls of a finished job as timed out and return their trace lines."""
    query = select(ProviderCall).where(
        ProviderCall.job_id == job_id, ProviderCall.outcome.in_([STARTED, PENDING])
    )
    lines = []
    query = query.order_by(ProviderCall.asked_at, ProviderCall.id)
    for call, ended in session.execute(query.add_columns(column(now))).all():
        call.outcome, call.answered_at = TraceOutcome.TIMEOUT.value, ended
        call.latency_ms = round((ended - call.asked_at).total_seconds() * 1000)
        lines.append(_trace_line(call))
    session.flush()
    return lines


def purge_replies(session: Session, job_id: str) -> None:
    """Delete the replies and poll tokens of a finished job."""
    session.execute(
        update(ProviderCall)
        .where(ProviderCall.job_id == job_id)
        .values(reply=None, ticket=None)
        .execution_options(synchronize_session=False)
    )


def purge_expired(session: Session, *, before: Moment, replies_before: Moment) -> None:
    """Delete calls asked before `before`, and replies of calls asked before `replies_before`.

    Replies are normally purged when the job ends; this is the fallback. No open job is older than
    `replies_before`.
    """
    session.execute(delete(ProviderCall).where(ProviderCall.asked_at < before))
    session.execute(
        update(ProviderCall)
        .where(
            ProviderCall.asked_at < replies_before,
            or_(ProviderCall.reply.is_not(None), ProviderCall.ticket.is_not(None)),
        )
        .values(reply=None, ticket=None)
        .execution_options(synchronize_session=False)
    )


def _trace_line(call: ProviderCall) -> dict[str, Any]:
    item = {} if call.item is None else {"item": call.item}
    return item | trace_line(
        provider=call.provider,
        field=call.field,
        outcome=call.outcome,
        status=call.status,
        reason=call.reason,
        latency_ms=call.latency_ms,
        cost=call.cost,
        at=rfc3339(call.asked_at),
    )


def _update(session: Session, call_id: str, **values: Any) -> None:
    session.execute(
        update(ProviderCall)
        .where(ProviderCall.id == call_id)
        .values(values)
        .execution_options(synchronize_session=False)
    )
