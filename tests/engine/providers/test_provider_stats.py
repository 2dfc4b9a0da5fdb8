from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from bounce_support import a_bounce
from jobs_support import NOW

from app.domain.kinds import TraceOutcome
from app.engine.jobs import provider_calls
from app.engine.jobs.provider_calls import CallKey
from app.engine.providers import provider_stats
from app.engine.providers.provider_stats import ProviderStats
from app.infra.database.session import Session

SINCE = NOW - timedelta(days=90)
NOT_ASKED = [
    TraceOutcome.KNOWN_MISS,
    TraceOutcome.INELIGIBLE,
    TraceOutcome.NO_CREDITS,
    TraceOutcome.UNCONFIGURED,
    TraceOutcome.RATE_LIMITED,
    TraceOutcome.COST_CEILING,
    TraceOutcome.CIRCUIT_OPEN,
]


def a_question(**changes: Any) -> CallKey:
    values: dict[str, Any] = {
        "job_id": "job_1",
        "item": None,
        "field": "email",
        "provider": "hunter",
        "subject": b"digest",
        "country": "DE",
    }
    return CallKey(**values | changes)


def call(
    session: Session,
    outcome: TraceOutcome = TraceOutcome.HIT,
    *,
    status: str | None = None,
    cost: float = 0.0,
    latency_ms: int = 100,
    at: datetime = NOW,
    **about: Any,
) -> str:
    """Insert an answered call."""
    call_id = provider_calls.start(session, a_question(**about), cost=9, now=at)
    values: dict[str, Any] = {"outcome": outcome, "status": status, "cost": cost, "latency_ms": latency_ms}
    provider_calls.record_reply(session, call_id, **values, reply=None, now=at)
    return call_id


def count(session: Session, field: str = "email", country: str | None = None) -> dict[str, ProviderStats]:
    return provider_stats.of_field(session, field, since=SINCE, country=country)


def test_hits_costs_and_latencies_are_computed_per_provider(session: Session) -> None:
    call(session, status="valid", cost=1, latency_ms=300)
    call(session, TraceOutcome.MISS, cost=0.5, latency_ms=100)
    call(session, TraceOutcome.MISS, latency_ms=200)
    call(session, provider="pdl", latency_ms=7)

    assert count(session) == {
        "hunter": ProviderStats(asked=3, hits=1, credits=1.5, latency_ms=200, bounces=0),
        "pdl": ProviderStats(asked=1, hits=1, credits=0, latency_ms=7, bounces=0),
    }


@pytest.mark.parametrize("outcome", NOT_ASKED)
def test_known_misses_and_refusals_are_not_requests(session: Session, outcome: TraceOutcome) -> None:
    call(session, outcome, cost=1)

    assert count(session) == {}


@pytest.mark.parametrize(
    "outcome", [TraceOutcome.MISS, TraceOutcome.SUPPRESSED, TraceOutcome.TIMEOUT, TraceOutcome.ERROR]
)
def test_a_miss_is_a_request_without_a_hit(session: Session, outcome: TraceOutcome) -> None:
    call(session, outcome)

    assert (count(session)["hunter"].asked, count(session)["hunter"].hits) == (1, 0)


def test_an_open_call_is_not_counted(session: Session) -> None:
    provider_calls.start(session, a_question(), cost=1, now=NOW)
    waiting = provider_calls.start(session, a_question(), cost=1, now=NOW)
    provider_calls.mark_pending(session, waiting, ticket="t")

    assert count(session) == {}


def test_a_guess_counts_by_its_verdict(session: Session) -> None:
    judged = call(session, provider="pattern", status="unknown")
    call(session, provider="pattern", status="valid")

    provider_calls.record_verdict(session, judged, outcome=TraceOutcome.MISS, status="invalid")

    assert (count(session)["pattern"].asked, count(session)["pattern"].hits) == (2, 1)


@pytest.mark.parametrize(
    ("status", "hits"), [("valid", 1), ("accept_all", 1), ("risky", 1), ("unknown", 1), ("invalid", 0)]
)
def test_an_invalid_address_is_not_a_hit(session: Session, status: str, hits: int) -> None:
    call(session, status=status)

    assert count(session)["hunter"].hits == hits


def test_for_a_verification_invalid_is_a_hit(session: Session) -> None:
    call(session, status="invalid", field="verification")

    assert count(session, "verification")["hunter"].hits == 1


def test_each_field_is_counted_separately(session: Session) -> None:
    call(session, field="phone")

    assert (list(count(session)), list(count(session, "phone"))) == ([], ["hunter"])


def test_each_country_can_be_counted_separately(session: Session) -> None:
    call(session, country="DE", latency_ms=100)
    call(session, TraceOutcome.MISS, country="FR", latency_ms=300)
    call(session, TraceOutcome.MISS, country=None, latency_ms=500)

    assert count(session)["hunter"] == ProviderStats(asked=3, hits=1, credits=0, latency_ms=300, bounces=0)
    assert count(session, country="FR")["hunter"] == ProviderStats(
        asked=1, hits=0, credits=0, latency_ms=300, bounces=0
    )
    assert count(session, country="US") == {}


def test_older_calls_are_not_counted(session: Session) -> None:
    call(session, at=SINCE - timedelta(seconds=1))
    call(session, provider="pdl", at=SINCE)

    assert list(count(session)) == ["pdl"]


def test_the_median_is_of_the_latest_calls(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_stats, "SAMPLE", 2)
    call(session, latency_ms=9000, at=NOW - timedelta(days=1))
    call(session, latency_ms=100, at=NOW - timedelta(hours=1))
    call(session, latency_ms=201)

    assert count(session)["hunter"].latency_ms == 150


def test_a_bounce_counts_for_every_provider_of_the_address(session: Session) -> None:
    call(session)
    call(session, provider="pdl")
    call(session, provider="apollo")

    a_bounce(session, providers=["hunter", "pdl"])

    assert {name: provider.bounces for name, provider in count(session).items()} == {
        "hunter": 1,
        "pdl": 1,
        "apollo": 0,
    }


def test_an_address_that_bounced_for_three_workspaces_counts_once(session: Session) -> None:
    call(session)

    a_bounce(session, providers=["hunter"], times=3)
    a_bounce(session, providers=["hunter"])

    assert count(session)["hunter"].bounces == 2


def test_one_workspace_alone_cannot_lower_a_providers_score(session: Session) -> None:
    call(session)

    a_bounce(session, providers=["hunter"], times=1)

    assert count(session)["hunter"].bounces == 0


def test_bounces_belong_to_the_country_of_the_person(session: Session) -> None:
    call(session, country="DE")
    call(session, country="FR")

    a_bounce(session, providers=["hunter"], country="FR")

    assert count(session, country="FR")["hunter"].bounces == 1
    assert count(session, country="DE")["hunter"].bounces == 0


def test_bounces_do_not_count_for_phones(session: Session) -> None:
    call(session, field="phone")

    a_bounce(session, providers=["hunter"])

    assert count(session, "phone")["hunter"].bounces == 0
