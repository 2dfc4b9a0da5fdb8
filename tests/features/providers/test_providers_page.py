from __future__ import annotations

from datetime import UTC, datetime, timedelta

from page_support import Visitor
from stored_support import a_provider_call
from users_support import SignedInUser

from app.features.providers import daily_stats
from app.infra import clock
from app.infra.database.session import Session

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def a_call(session: Session, provider: str, outcome: str, at: datetime, **changes: object) -> None:
    values: dict[str, object] = {"latency_ms": 100, "answered_at": None} | changes
    a_provider_call(session, provider=provider, outcome=outcome, asked_at=at, **values)


def test_the_figures_of_providers_are_counted_by_day_in_utc(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        a_call(session, "hunter", "hit", NOON.replace(hour=0, minute=1))
        a_call(session, "hunter", "miss", NOON.replace(hour=23, minute=59), cost=0.5, latency_ms=300)
        a_call(session, "hunter", "timeout", NOON + timedelta(days=1), cost=0.0, latency_ms=None)
        a_call(session, "hunter", "rate_limited", NOON)
        a_call(session, "hunter", "hit", NOON - timedelta(days=9))

    with user.database.reading() as session:
        stats = daily_stats.by_provider(session, since=NOON - timedelta(days=1))

    first, second = stats["hunter"]
    assert (first.day, first.asked, first.hits, first.credits, first.latency_ms) == (
        NOON.date(),
        2,
        1,
        1.5,
        200,
    )
    assert (second.asked, second.failures, second.hit_rate, second.latency_ms) == (1, 1, 0.0, None)


def test_providers_are_plotted_with_a_table_beside(operator: Visitor, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        for days in range(3):
            a_call(session, "hunter", "hit", clock.now() - timedelta(days=days))
            a_call(session, "hunter", "miss", clock.now() - timedelta(days=days))

    page = operator.open("/admin/providers?days=7").text

    assert page.count("<rect") == 6
    assert page.count("50.0 %") == 4
    assert "style=" not in page
