"""Provider calls: who was asked what for which job, what came of it and what it cost the operator.

A call is written down before it is made, and its answer before anything else happens: a worker that is
killed leaves a call that is `started`, and a job that runs again finds the answers it has paid for. No call
keeps who it was about longer than its job runs; what stays is a keyed digest, for misses that need not be
paid again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Index, String, and_, bindparam, delete, func, not_, or_, select, true, update
from sqlalchemy.orm import Mapped, Session, defer, mapped_column

from app.core.jobs.jobs import Job
from app.domain.findings import EmailStatus
from app.domain.ids import new_id
from app.domain.kinds import OPEN, Status, TraceOutcome
from app.domain.records.subjects import Subject
from app.infra.clock import rfc3339
from app.infra.database_clock import Moment, column
from app.infra.db import Base
from app.settings import load

MAX_CALL = timedelta(seconds=30)
STARTED = "started"
PENDING = "pending"
ANSWERS = frozenset({TraceOutcome.HIT.value, TraceOutcome.MISS.value, TraceOutcome.SUPPRESSED.value})
"""What need not be asked again while the job runs."""


_PROFILES = frozenset({"person", "company"})


class ProviderCall(Base):
    """One question to one provider about one field of one subject.

    `outcome` is one of the trace's, or `started` or `pending`; `status` that of the best address; `cost` in
    the provider's credits, while it is open the most it may cost. `ticket` is what an asynchronous provider
    gave, `reply` the values, until the job is over. `subject` is the digest of who and which types were asked
    for, `item` the place in an enrichment, `attempt` which try of the job it was.
    """

    __tablename__ = "provider_calls"
    __table_args__ = (
        Index("ix_provider_calls_job_id", "job_id"),
        Index("ix_provider_calls_subject", "subject", "provider", "asked_at"),
        Index("ix_provider_calls_provider_asked_at", "provider", "asked_at"),
        Index("ix_provider_calls_field_asked_at", "field", "asked_at"),
        Index("ix_provider_calls_asked_at", "asked_at"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    job_id: Mapped[str] = mapped_column(String(28))
    item: Mapped[int | None]
    field: Mapped[str]
    provider: Mapped[str]
    subject: Mapped[bytes]
    country: Mapped[str | None]
    attempt: Mapped[int]
    outcome: Mapped[str]
    status: Mapped[str | None]
    cost: Mapped[float]
    latency_ms: Mapped[int | None]
    ticket: Mapped[str | None]
    reply: Mapped[dict[str, Any] | None]
    asked_at: Mapped[datetime]
    answered_at: Mapped[datetime | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallKey:
    """What is asked of whom, for which job and item of it.

    `stored_for` is the only workspace that finds the answer in the database later, None if all do.
    """

    job_id: str
    item: int | None
    field: str
    provider: str
    subject: bytes
    country: str | None
    attempt: int = 1
    stored_for: str | None = None


def subject_digest(field: str, types: tuple[str, ...], subject: Subject) -> bytes:
    """Return the 32 bytes that stand for the question in other jobs: keyed, so that nobody can guess back.

    Every word that a provider is sent is part of it. Otherwise the miss of a question with a wrong word in it
    would stand for one without, and a workspace could silence a provider for the others.
    """
    said = {name: text.casefold() for name, text in subject.as_dict().items() if name != "contact_id"}
    about = [field, sorted(types), sorted(said.items())]
    return hmac.digest(load().secret_key.encode(), b"call\0" + json.dumps(about).encode(), hashlib.sha256)


def find_reusable(session: Session, question: CallKey) -> ProviderCall | None:
    """Give the call of this job that has an answer, or waits for one; None if there is none.

    A failure stands for the rest of the job's try: who waits for one provider does not ask another one, that
    failed, again and again meanwhile.
    """
    failed = and_(ProviderCall.attempt == question.attempt, ProviderCall.outcome.not_in([STARTED]))
    query = (
        select(ProviderCall)
        .where(
            ProviderCall.job_id == question.job_id,
            ProviderCall.item.is_(None) if question.item is None else ProviderCall.item == question.item,
            ProviderCall.field == question.field,
            ProviderCall.provider == question.provider,
            ProviderCall.subject == question.subject,
            or_(ProviderCall.outcome.in_([*ANSWERS, PENDING]), failed),
            or_(ProviderCall.reply.is_not(None), ProviderCall.outcome == PENDING),
        )
        .order_by(ProviderCall.asked_at.desc(), ProviderCall.id.desc())
        .limit(1)
    )
    return session.scalar(query)


def has_conclusive_answer(session: Session, question: CallKey, *, since: Moment) -> bool:
    """Tell whether the provider has said all it knows: asking again would bring, and cost, the same.

    That is so if its latest answer since then was a miss; or an address that is not valid, or any profile,
    and the job succeeded, so that it is stored, and this workspace finds it. A valid address or a number that
    is asked for again is wanted fresher.
    """
    query = (
        select(ProviderCall.outcome, ProviderCall.status, Job.status.label("job"), Job.workspace_id)
        .outerjoin(Job, Job.id == ProviderCall.job_id)
        .where(
            ProviderCall.subject == question.subject,
            ProviderCall.provider == question.provider,
            ProviderCall.asked_at >= since,
            ProviderCall.outcome.in_(ANSWERS),
        )
        .order_by(ProviderCall.asked_at.desc())
        .limit(1)
    )
    latest = session.execute(query).first()
    if latest is None or latest.outcome == TraceOutcome.SUPPRESSED:
        return False
    if latest.outcome == TraceOutcome.MISS:
        return True
    if latest.job != Status.SUCCEEDED or question.stored_for not in {None, latest.workspace_id}:
        return False  # it is not stored, or where only another workspace finds it
    return question.field in _PROFILES or latest.status not in {None, EmailStatus.VALID.value}


def is_in_flight(session: Session, question: CallKey, *, since: Moment, now: Moment) -> bool:
    """Return whether another job, or item, waits for the answer to the same question; `since` is how long.

    The job of another workspace counts if the answer will be stored where everybody finds it. A call that
    began and did not end within half a minute was left behind by a worker that is no more.
    """
    waits = and_(ProviderCall.outcome == PENDING, ProviderCall.asked_at >= since)
    runs = and_(ProviderCall.outcome == STARTED, ProviderCall.asked_at >= now - MAX_CALL)
    mine = and_(ProviderCall.job_id == question.job_id, ProviderCall.item.is_not_distinct_from(question.item))
    ours = true() if question.stored_for is None else Job.workspace_id == question.stored_for
    query = (
        select(ProviderCall.id)
        .join(Job, and_(Job.id == ProviderCall.job_id, Job.status.in_(OPEN), ours))
        .where(
            ProviderCall.subject == question.subject,
            ProviderCall.provider == question.provider,
            or_(waits, runs),
            not_(mine),
        )
        .limit(1)
    )
    return session.scalar(query) is not None


def credits_since(session: Session, provider: str, since: datetime) -> float:
    """Add up the provider's credits spent since then, counting what is on its way at its highest price."""
    query = select(func.coalesce(func.sum(ProviderCall.cost), 0.0)).where(
        ProviderCall.provider == provider, ProviderCall.asked_at >= since
    )
    return float(session.execute(query).scalar_one())


def credits_for(session: Session, job_id: str, item: int | None, asked: Collection[str]) -> dict[str, float]:
    """Add up, by provider, the credits that these fields of a job, or of one item of it, have cost."""
    query = (
        select(ProviderCall.provider, func.sum(ProviderCall.cost))
        .where(
            ProviderCall.job_id == job_id,
            ProviderCall.item.is_(None) if item is None else ProviderCall.item == item,
            ProviderCall.field.in_(asked),
        )
        .group_by(ProviderCall.provider)
    )
    return {row[0]: float(row[1]) for row in session.execute(query)}


def start(session: Session, question: CallKey, *, cost: float, now: Moment) -> str:
    """Write down that the question is about to be asked; give the call's id."""
    call = ProviderCall(
        id=new_id("cal"),
        job_id=question.job_id,
        item=question.item,
        field=question.field,
        provider=question.provider,
        subject=question.subject,
        country=question.country,
        attempt=question.attempt,
        outcome=STARTED,
        cost=cost,
        asked_at=now,
    )
    session.add(call)
    session.flush()
    return call.id


def mark_pending(session: Session, call_id: str, *, ticket: str) -> None:
    """Write down that the provider needs time."""
    _change(session, call_id, outcome=PENDING, ticket=ticket)


def record_reply(
    session: Session,
    call_id: str,
    *,
    outcome: TraceOutcome,
    status: str | None,
    cost: float,
    latency_ms: int,
    reply: dict[str, Any] | None,
    now: Moment,
) -> None:
    """Write down what the provider said."""
    values: dict[str, Any] = {"status": status, "cost": cost, "latency_ms": latency_ms, "reply": reply}
    _change(session, call_id, outcome=outcome.value, answered_at=now, **values)


def record_verdict(session: Session, call_id: str, *, outcome: TraceOutcome, status: str | None) -> None:
    """Write down what became of an answer once its addresses were verified."""
    _change(session, call_id, outcome=outcome.value, status=status)


_OF_A_JOB = (
    select(ProviderCall)
    .where(ProviderCall.job_id == bindparam("job_id"))
    .order_by(ProviderCall.asked_at, ProviderCall.id)
    .options(defer(ProviderCall.reply))
)


def progress(session: Session, job_id: str, *, now: Moment) -> tuple[list[dict[str, Any]], list[str]]:
    """Give an open job's lines for the receipt as far as they are known, and who is being asked right now.

    A call that began and did not end within half a minute was left behind by a worker that is no more.
    """
    is_recent = ProviderCall.asked_at >= now - MAX_CALL
    calls = session.execute(_OF_A_JOB.add_columns(is_recent), {"job_id": job_id}).all()
    asking = [
        call.provider
        for call, recent in calls
        if call.outcome == PENDING or (call.outcome == STARTED and recent)
    ]
    lines = [_line(call) for call, _recent in calls if call.outcome not in {STARTED, PENDING}]
    return lines, list(dict.fromkeys(asking))


def time_out_open(session: Session, job_id: str, *, now: Moment) -> list[dict[str, Any]]:
    """End the calls that wait for an answer, as their job is over; give their lines for the receipt."""
    query = select(ProviderCall).where(
        ProviderCall.job_id == job_id, ProviderCall.outcome.in_([STARTED, PENDING])
    )
    lines = []
    query = query.order_by(ProviderCall.asked_at, ProviderCall.id)
    for call, ended in session.execute(query.add_columns(column(now))).all():
        call.outcome, call.answered_at = TraceOutcome.TIMEOUT.value, ended
        call.latency_ms = round((ended - call.asked_at).total_seconds() * 1000)
        lines.append(_line(call))
    session.flush()
    return lines


def purge_replies(session: Session, job_id: str) -> None:
    """Drop the values that a job's calls gave, once the job is over."""
    session.execute(
        update(ProviderCall)
        .where(ProviderCall.job_id == job_id)
        .values(reply=None, ticket=None)
        .execution_options(synchronize_session=False)
    )


def purge_expired(session: Session, *, before: Moment, values_before: Moment) -> None:
    """Delete calls that are too old to say anything about a provider, and values that were left behind.

    Whatever ends a job drops them; this is the net below. No job is open since `values_before`.
    """
    session.execute(delete(ProviderCall).where(ProviderCall.asked_at < before))
    session.execute(
        update(ProviderCall)
        .where(
            ProviderCall.asked_at < values_before,
            or_(ProviderCall.reply.is_not(None), ProviderCall.ticket.is_not(None)),
        )
        .values(reply=None, ticket=None)
        .execution_options(synchronize_session=False)
    )


def _line(call: ProviderCall) -> dict[str, Any]:
    item = {} if call.item is None else {"item": call.item}
    status = {} if call.status is None else {"status": call.status}
    return {
        **item,
        "provider": call.provider,
        "field": call.field,
        "outcome": call.outcome,
        **status,
        "latency_ms": call.latency_ms,
        "cost": int(call.cost) if call.cost == int(call.cost) else call.cost,
        "at": rfc3339(call.asked_at),
    }


def _change(session: Session, call_id: str, **values: Any) -> None:
    session.execute(
        update(ProviderCall)
        .where(ProviderCall.id == call_id)
        .values(values)
        .execution_options(synchronize_session=False)
    )
