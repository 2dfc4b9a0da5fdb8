"""Recent calls of providers, for metrics: outcomes and durations of the last minute, credits of the day."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import and_, case, func, select

from app.domain.kinds import TraceOutcome
from app.engine.jobs.provider_calls import PENDING, STARTED, ProviderCall
from app.engine.providers.provider_stats import CALLED
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

WINDOW = timedelta(minutes=1)
DURATION_WINDOW = timedelta(seconds=30)
OPEN = "open"
"""The outcome of calls without a response."""
OUTCOMES = (
    *CALLED,
    TraceOutcome.RATE_LIMITED.value,
    TraceOutcome.NO_CREDITS.value,
    TraceOutcome.UNCONFIGURED.value,
    OPEN,
)
MAX_MILLISECONDS = 11_000
"""A call that took longer was polled, so its duration does not show whether the provider responds."""


@dataclass(slots=True)
class RecentCalls:
    """Calls of a provider in the last minute by outcome; `seconds` is the mean duration of the latest.

    These are the calls answered in the last 30 seconds; without one, it is None.
    """

    by_outcome: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    seconds: float | None = None


def by_provider(session: Session, *, now: Moment) -> dict[str, RecentCalls]:
    """Return the calls sent to each provider in the last minute; providers without calls are omitted."""
    is_direct = and_(
        ProviderCall.outcome.in_(CALLED),
        ProviderCall.latency_ms <= MAX_MILLISECONDS,
        ProviderCall.answered_at > now - DURATION_WINDOW,
    )
    query = (
        select(
            ProviderCall.provider,
            ProviderCall.outcome,
            func.count().label("calls"),
            func.count(case((is_direct, 1))).label("direct"),
            func.sum(case((is_direct, ProviderCall.latency_ms), else_=0)).label("milliseconds"),
        )
        .where(ProviderCall.asked_at > now - WINDOW)
        .group_by(ProviderCall.provider, ProviderCall.outcome)
    )
    found: dict[str, RecentCalls] = defaultdict(RecentCalls)
    direct: dict[str, int] = defaultdict(int)
    milliseconds: dict[str, int] = defaultdict(int)
    for row in session.execute(query):
        outcome = OPEN if row.outcome in {STARTED, PENDING} else row.outcome
        counts = found[row.provider].by_outcome
        counts[outcome] = counts.get(outcome, 0) + row.calls
        direct[row.provider] += row.direct
        milliseconds[row.provider] += int(row.milliseconds)
    for provider, recent in found.items():
        if direct[provider]:
            recent.seconds = milliseconds[provider] / direct[provider] / 1000
    return dict(found)


def credits_today(session: Session) -> dict[str, float]:
    """Return the credits of each provider spent since midnight UTC, as its daily budget counts them.

    Calls without a response count with the most that they may cost.
    """
    midnight = database_clock.value(session).replace(hour=0, minute=0, second=0, microsecond=0)
    query = (
        select(ProviderCall.provider, func.sum(ProviderCall.cost))
        .where(ProviderCall.asked_at >= midnight)
        .group_by(ProviderCall.provider)
    )
    return {row[0]: float(row[1]) for row in session.execute(query)}
