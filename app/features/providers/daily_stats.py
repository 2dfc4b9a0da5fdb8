"""Statistics per provider and day (UTC), for plots over time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import ColumnElement, String, case, func, select

from app.domain.kinds import TraceOutcome
from app.engine.jobs.provider_calls import ProviderCall
from app.engine.providers.provider_stats import CALLED
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class DayStats:
    """The calls of a provider on a day: `credits` in its own units, `latency_ms` a mean, None without any."""

    day: date
    asked: int
    hits: int
    failures: int
    credits: float
    latency_ms: int | None

    @property
    def hit_rate(self) -> float:
        """Return the share of calls that found something."""
        return self.hits / self.asked


def by_provider(session: Session, *, since: datetime) -> dict[str, list[DayStats]]:
    """Return the days with calls of each provider since a time, oldest first; refusals are not calls."""
    day = _day(session).label("day")
    query = (
        select(
            ProviderCall.provider,
            day,
            func.count().label("asked"),
            func.sum(_is(TraceOutcome.HIT)).label("hits"),
            func.sum(_is(TraceOutcome.ERROR, TraceOutcome.TIMEOUT)).label("failures"),
            func.sum(ProviderCall.cost).label("credits"),
            func.avg(ProviderCall.latency_ms).label("latency"),
        )
        .where(ProviderCall.asked_at >= since, ProviderCall.outcome.in_(CALLED))
        .group_by(ProviderCall.provider, day)
        .order_by(ProviderCall.provider, day)
    )
    days: dict[str, list[DayStats]] = defaultdict(list)
    for row in session.execute(query):
        days[row.provider].append(
            DayStats(
                day=date.fromisoformat(row.day),
                asked=row.asked,
                hits=int(row.hits),
                failures=int(row.failures),
                credits=float(row.credits),
                latency_ms=None if row.latency is None else round(row.latency),
            )
        )
    return dict(days)


def _is(*outcomes: TraceOutcome) -> ColumnElement[int]:
    return case((ProviderCall.outcome.in_([outcome.value for outcome in outcomes]), 1), else_=0)


def _day(session: Session) -> ColumnElement[str]:
    """Return the day of the call as ISO text; PostgreSQL would otherwise use the zone of the connection."""
    if session.get_bind().dialect.name == "sqlite":
        return func.date(ProviderCall.asked_at, type_=String)
    at = func.timezone("UTC", ProviderCall.asked_at)  # only on PostgreSQL
    return func.to_char(at, "YYYY-MM-DD", type_=String)  # only on PostgreSQL
