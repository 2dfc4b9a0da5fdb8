"""Statistics per provider, computed from its calls: requests, hits, bounces, cost and latency."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from sqlalchemy import Select, and_, case, func, or_, select
from sqlalchemy.sql import ColumnElement

from app.domain.findings import EmailStatus
from app.domain.kinds import TraceOutcome
from app.engine.contacts.bounce_reports import Feedback, FeedbackKind
from app.engine.jobs.provider_calls import ProviderCall
from app.infra.database.session import Session

CALLED = (
    TraceOutcome.HIT.value,
    TraceOutcome.MISS.value,
    TraceOutcome.SUPPRESSED.value,
    TraceOutcome.TIMEOUT.value,
    TraceOutcome.ERROR.value,
)
"""Outcomes of calls that reached the provider and were not rejected: a failure counts as a missed hit."""
SAMPLE = 1001
"""Number of latest calls used for the median latency; PostgreSQL and SQLite share no median function."""
_BOUNCING = "email"
_JUDGING = "verification"
"""For this field `invalid` is the provider's answer; for others it is our verification of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStats:
    """Statistics of a provider for one field: `credits` are in its own units, `latency_ms` is a median."""

    asked: int
    hits: int
    credits: float
    latency_ms: int | None
    bounces: int


def of_field(
    session: Session, field: str, *, since: datetime, country: str | None = None
) -> dict[str, ProviderStats]:
    """Return statistics by provider for requests of the field since a time, for one ISO country or all.

    Cached misses and refusals are not requests. A hit whose address verification found invalid is not a hit.
    Bounces count addresses reported since that time and confirmed by a verification or by another workspace,
    so that no workspace can lower a provider's score alone. Each address counts once.
    """
    where = [
        ProviderCall.field == field,
        ProviderCall.asked_at >= since,
        ProviderCall.outcome.in_(CALLED),
        *([] if country is None else [ProviderCall.country == country]),
    ]
    query = (
        select(
            ProviderCall.provider,
            func.count().label("asked"),
            func.sum(case((_is_hit(field), 1), else_=0)).label("hits"),
            func.sum(ProviderCall.cost).label("credits"),
        )
        .where(*where)
        .group_by(ProviderCall.provider)
        .order_by(ProviderCall.provider)
    )
    bounces = _bounces(session, since, country) if field == _BOUNCING else Counter[str]()
    return {
        row.provider: ProviderStats(
            asked=row.asked,
            hits=int(row.hits),
            credits=float(row.credits),
            latency_ms=_median(session, _latencies(row.provider, where)),
            bounces=bounces[row.provider],
        )
        for row in session.execute(query).all()
    }


def _is_hit(field: str) -> ColumnElement[bool]:
    hit = ProviderCall.outcome == TraceOutcome.HIT.value
    if field == _JUDGING:
        return hit
    return and_(hit, or_(ProviderCall.status.is_(None), ProviderCall.status != EmailStatus.INVALID.value))


def _latencies(provider: str, where: list[ColumnElement[bool]]) -> Select[int | None]:
    return (
        select(ProviderCall.latency_ms)
        .where(*where, ProviderCall.provider == provider, ProviderCall.latency_ms.is_not(None))
        .order_by(ProviderCall.asked_at.desc())
        .limit(SAMPLE)
    )


def _median(session: Session, query: Select[int | None]) -> int | None:
    times = [time for time in session.scalars(query) if time is not None]
    return round(median(times)) if times else None


def _bounces(session: Session, since: datetime, country: str | None) -> Counter[str]:
    """Count addresses with a confirmed bounce, for each provider that returned them."""
    query = select(Feedback.email_id, Feedback.providers).where(
        Feedback.kind == FeedbackKind.BOUNCE.value,
        Feedback.created_at >= since,
        Feedback.confirmed_at.is_not(None),
    )
    if country is not None:
        query = query.where(Feedback.country == country)
    pairs = {(row.email_id, provider) for row in session.execute(query) for provider in row.providers}
    return Counter(provider for _email_id, provider in pairs)
