from __future__ import annotations

import json
from datetime import timedelta

import pytest
from jobs_support import NOW
from local_servers import POSTGRES
from query_plans_support import explained
from sqlalchemy import text
from stored_support import a_provider_call

from app.engine.providers import recent_calls
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session

_EARLIER_CALL = """
    INSERT INTO provider_calls (id, job_id, field, provider, subject_digest, attempt, outcome, cost, asked_at)
    VALUES (:id, 'job_x', 'email', :provider, '', 1, 'hit', 1, now() - :days * interval '1 day')
"""


def test_the_calls_of_the_last_minute_are_counted_by_outcome(session: Session) -> None:
    for outcome in ("hit", "hit", "error", "timeout", "started", "pending", "no_credits"):
        a_provider_call(session, outcome=outcome)
    a_provider_call(session, asked_at=NOW - timedelta(seconds=61))
    a_provider_call(session, provider="prospeo")

    found = recent_calls.by_provider(session, now=NOW)

    counts = {outcome: count for outcome, count in found["hunter"].by_outcome.items() if count}
    assert counts == {"hit": 2, "error": 1, "timeout": 1, "open": 2, "no_credits": 1}
    assert found["prospeo"].by_outcome["hit"] == 1
    assert found["prospeo"].by_outcome["error"] == 0


def test_the_mean_duration_is_that_of_recent_calls_that_were_not_polled(session: Session) -> None:
    a_provider_call(session, latency_ms=200)
    a_provider_call(session, latency_ms=10_000, outcome="timeout")
    a_provider_call(session, latency_ms=90_000)
    a_provider_call(session, latency_ms=1, answered_at=NOW - timedelta(seconds=31))
    a_provider_call(session, latency_ms=None, outcome="started")
    a_provider_call(session, latency_ms=None, outcome="pending", provider="prospeo")

    found = recent_calls.by_provider(session, now=NOW)

    assert (found["hunter"].seconds, found["prospeo"].seconds) == (5.1, None)


def test_the_credits_of_today_are_those_since_midnight_utc(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_clock, "now", lambda: NOW)
    a_provider_call(session, cost=2.0, asked_at=NOW.replace(hour=0, minute=0))
    a_provider_call(session, cost=0.5)
    a_provider_call(session, cost=4.0, asked_at=NOW - timedelta(days=1))
    a_provider_call(session, provider="prospeo", cost=3.0)

    assert recent_calls.credits_today(session) == {"hunter": 2.5, "prospeo": 3.0}


@pytest.mark.skipif(not POSTGRES, reason="the plan is PostgreSQL's")
def test_the_credits_of_the_day_are_summed_without_reading_earlier_days(database: Database) -> None:
    """Each scrape of /metrics sums them."""
    with database.transaction() as session:
        rows = [
            {"id": f"cal_{number}", "days": number % 100, "provider": f"p{number % 3}"}
            for number in range(20_000)
        ]
        session.execute(text(_EARLIER_CALL), rows)
        session.execute(text("ANALYZE provider_calls"))

    with explained(database) as plans, database.reading() as session:
        recent_calls.credits_today(session)

    [plan] = [plan for plan in plans if "provider_calls" in plan["sql"]]
    assert '"Index Name": "ix_provider_calls_asked_at"' in json.dumps(plan)
