from __future__ import annotations

import time
from datetime import timedelta

import pytest
from jobs_support import NOW, at_once

from app.domain.kinds import TraceOutcome
from app.domain.providers import throttles
from app.domain.providers.rates import Rate
from app.engine.providers import provider_throttles
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session

RATES = (Rate(40, 1.0),)


def report(session: Session, outcome: TraceOutcome, *, after: float | None = None) -> None:
    provider_throttles.report(session, "hunter", outcome, retry_after=after, now=clock.now())


def admit(session: Session, provider: str = "hunter", *, breaker: bool = True) -> throttles.Permit:
    return provider_throttles.admit(session, provider, RATES, breaker=breaker, now=clock.now())


def test_a_provider_that_was_never_called_is_admitted(session: Session) -> None:
    assert admit(session) == throttles.Permit()


def test_each_provider_has_its_own_throttle(session: Session) -> None:
    for _ in range(throttles.FAILURES_IN_A_ROW):
        report(session, TraceOutcome.ERROR)

    assert admit(session).refused is TraceOutcome.CIRCUIT_OPEN
    assert admit(session, "prospeo").refused is None


def test_a_requested_pause_is_stored(session: Session) -> None:
    report(session, TraceOutcome.RATE_LIMITED, after=60.0)

    admission = admit(session)

    assert admission.refused is TraceOutcome.RATE_LIMITED
    assert admission.retry_after == pytest.approx(60.0, abs=5)


def test_without_a_breaker_failures_refuse_no_call(session: Session) -> None:
    for _ in range(throttles.FAILURES_IN_A_ROW):
        report(session, TraceOutcome.ERROR)

    assert admit(session, breaker=False).refused is None


def test_the_health_of_every_called_provider_is_returned(session: Session) -> None:
    report(session, TraceOutcome.NO_CREDITS)
    provider_throttles.lock(session, "prospeo", now=NOW)

    assert provider_throttles.health(session) == {"hunter": False, "prospeo": True}


CLOCK_RESOLUTION = 0.001
"""In seconds, of SQLite's clock: two calls that are exactly one second apart may differ by less."""


def test_twelve_workers_together_respect_the_rate(database: Database) -> None:
    calls: list[float] = []

    def work(_number: int) -> None:
        while len(calls) <= RATES[0].count:
            with database.transaction() as session:
                provider_throttles.lock(session, "hunter", now=database_clock.now())
                now = database_clock.value(session)  # as the call gateway does, after the lock
                admission = provider_throttles.admit(session, "hunter", RATES, breaker=True, now=now)
            if admission.refused is None:
                calls.append(now.timestamp() + admission.wait)
                time.sleep(admission.wait)
            else:
                time.sleep(0.02)

    at_once(12, work)

    second = 1 - CLOCK_RESOLUTION
    busiest = max(sum(start <= call < start + second for call in calls) for start in calls)
    assert busiest <= RATES[0].count


def test_of_twelve_workers_one_probes_an_open_breaker(database: Database) -> None:
    with database.transaction() as session:
        for _ in range(throttles.FAILURES_IN_A_ROW):
            report(session, TraceOutcome.TIMEOUT)
        row = session.get_one(provider_throttles.ProviderThrottleRow, "hunter")
        row.open_until = clock.now() - timedelta(seconds=1)

    def work(_number: int) -> bool:
        with database.transaction() as session:
            return admit(session).refused is None

    assert sum(at_once(12, work)) == 1
