"""/admin/providers: health, hit rate, cost and latency of the providers over time, for operators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from flask import Response, request

from app.domain.messages import Message
from app.engine.providers import provider_throttles
from app.features.providers import daily_stats
from app.features.providers.daily_stats import DayStats
from app.infra.database import database_clock
from app.web.pages.access import operator_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.charts import Bar, bars
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.services import services

blueprint = PageBlueprint("admin_providers", __name__, template_folder="templates")
PERIODS = (7, 30, 90)


@dataclass(frozen=True, slots=True)
class ProviderReport:
    """A provider in a period: its totals, its days, and the bars of its two plots."""

    name: str
    is_healthy: bool
    days: list[DayStats]
    hit_rates: list[Bar]
    costs: list[Bar]

    @property
    def asked(self) -> int:
        """Return the number of calls."""
        return sum(day.asked for day in self.days)

    @property
    def hits(self) -> int:
        """Return the number of calls that found something."""
        return sum(day.hits for day in self.days)

    @property
    def credits(self) -> float:
        """Return the cost in the provider's credits."""
        return round(sum(day.credits for day in self.days), 6)


@blueprint.get("/admin/providers")
@operator_only
@limited(Policy.READ)
def index() -> Response:
    """Show each provider that was called in the chosen period."""
    chosen = request.args.get("days", "")
    period = int(chosen) if chosen in map(str, PERIODS) else PERIODS[1]
    with services().database.reading() as session:
        today = database_clock.value(session)
        stats = daily_stats.by_provider(session, since=today - timedelta(days=period - 1))
        health = provider_throttles.health(session)
    dates = [today.date() - timedelta(days=back) for back in reversed(range(period))]
    reports = [_report(name, days, health.get(name, True), dates) for name, days in sorted(stats.items())]
    return page(
        "providers.html",
        reports=reports,
        unhealthy=sorted(name for name, is_healthy in health.items() if not is_healthy),
        period=period,
        periods=[(str(days), Message("{count} day", "{count} days", count=days)) for days in PERIODS],
        first=dates[0],
        last=dates[-1],
    )


def _report(name: str, days: list[DayStats], is_healthy: bool, dates: list[date]) -> ProviderReport:  # noqa: FBT001 -- read from the health of all
    by_day = {day.day: day for day in days}
    return ProviderReport(
        name,
        is_healthy,
        days,
        bars([by_day[day].hit_rate if day in by_day else None for day in dates], maximum=1.0),
        bars([by_day[day].credits if day in by_day else None for day in dates]),
    )
