from __future__ import annotations

import dataclasses
from typing import ClassVar

import pytest
from sqlalchemy import event

from app.domain.kinds import TraceOutcome
from app.engine.jobs import provider_calls
from app.engine.jobs.provider_calls import CallKey
from app.infra import clock
from app.infra.database.db import Database
from app.settings import ProviderSettings, Settings
from workers.providers import registry
from workers.providers.base import Pending, Provider, ProviderField, ProviderRequest, ProviderResponse, Terms
from workers.resolve import provider_order

BOTH = frozenset({ProviderField.EMAIL, ProviderField.VERIFICATION})


class StubProvider:
    """A provider that costs money; these tests never call it."""

    name: ClassVar[str]
    fields: ClassVar[frozenset[ProviderField]] = BOTH
    guesses: ClassVar[bool] = False
    takes_member_ids: ClassVar[bool] = False
    price: ClassVar[float] = 1.0

    def __init__(self, access: ProviderSettings) -> None:
        self.terms = Terms(prices={ProviderField.EMAIL: self.price}, credit_price=access.credit_price or 1.0)

    def unavailability(self, request: ProviderRequest) -> TraceOutcome | None:
        raise NotImplementedError

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        raise NotImplementedError


class ExpensiveProvider(StubProvider):
    name = "expensive"


class GuessingProvider(StubProvider):
    name = "guess"
    guesses = True
    price = 0.0


class CheapProvider(StubProvider):
    name = "cheap"


class UnmeasuredProvider(StubProvider):
    name = "unmeasured"


class FreeProvider(StubProvider):
    name = "free"
    price = 0.0


NAMES = ("guess", "expensive", "unmeasured", "cheap")


@pytest.fixture
def auto(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings with four providers, equal credit prices, and automatic order."""
    known = {
        provider_class.name: provider_class(ProviderSettings())
        for provider_class in (
            GuessingProvider,
            ExpensiveProvider,
            UnmeasuredProvider,
            CheapProvider,
            FreeProvider,
        )
    }
    monkeypatch.setattr(registry, "load", lambda _settings: known)
    return dataclasses.replace(
        settings, providers_order="auto", providers_email=NAMES, providers_verification=NAMES
    )


def call(
    database: Database,
    provider: str,
    outcome: TraceOutcome = TraceOutcome.HIT,
    *,
    field: str = "email",
    cost: float = 1,
    country: str | None = None,
    times: int = 20,
) -> None:
    """Store this many completed calls."""
    question = CallKey(
        job_id="job_1", item=None, field=field, provider=provider, subject=b"x", country=country
    )
    with database.transaction() as session:
        for _ in range(times):
            call_id = provider_calls.start(session, question, cost=0, now=clock.now())
            provider_calls.record_reply(
                session,
                call_id,
                outcome=outcome,
                status=None,
                cost=cost,
                latency_ms=10,
                reply=None,
                now=clock.now(),
            )


def names(providers: tuple[Provider, ...]) -> tuple[str, ...]:
    return tuple(provider.name for provider in providers)


def measure(database: Database) -> None:
    """Store paid misses of `expensive` and hits of `cheap`."""
    call(database, "expensive", TraceOutcome.MISS)
    call(database, "cheap")


def test_a_fixed_order_ignores_statistics(database: Database, auto: Settings) -> None:
    measure(database)
    fixed = dataclasses.replace(auto, providers_order="fixed")

    assert names(provider_order.providers_for(database, fixed, ProviderField.EMAIL)) == NAMES


def test_a_measured_order_calls_the_cheaper_provider_first(database: Database, auto: Settings) -> None:
    measure(database)

    assert names(provider_order.providers_for(database, auto, ProviderField.EMAIL)) == (
        "guess",
        "cheap",
        "unmeasured",
        "expensive",
    )


def test_the_configured_order_is_used_without_statistics(database: Database, auto: Settings) -> None:
    free_last = dataclasses.replace(auto, providers_email=(*NAMES, "free"))

    assert names(provider_order.providers_for(database, free_last, ProviderField.EMAIL)) == (*NAMES, "free")


def test_verifiers_keep_their_order(database: Database, auto: Settings) -> None:
    call(database, "expensive", TraceOutcome.MISS, field="verification")
    call(database, "cheap", field="verification")

    assert names(provider_order.providers_for(database, auto, ProviderField.VERIFICATION)) == NAMES


def test_a_guessing_provider_keeps_its_position(database: Database, auto: Settings) -> None:
    measure(database)
    last = dataclasses.replace(auto, providers_email=("expensive", "cheap", "guess"))

    assert names(provider_order.providers_for(database, last, ProviderField.EMAIL)) == (
        "cheap",
        "expensive",
        "guess",
    )


def test_a_region_has_its_own_order_after_enough_calls(database: Database, auto: Settings) -> None:
    call(database, "expensive", TraceOutcome.MISS, country="US", times=100)
    call(database, "cheap", country="US", times=100)
    call(database, "expensive", country="DE", times=40)
    call(database, "cheap", TraceOutcome.MISS, country="DE", times=40)
    call(database, "cheap", TraceOutcome.MISS, country="FR", times=9, cost=3)

    assert names(provider_order.providers_for(database, auto, ProviderField.EMAIL)) == (
        "guess",
        "cheap",
        "unmeasured",
        "expensive",
    )
    assert names(provider_order.providers_for(database, auto, ProviderField.EMAIL, "DE")) == NAMES
    assert names(provider_order.providers_for(database, auto, ProviderField.EMAIL, "FR")) == (
        "guess",
        "cheap",
        "unmeasured",
        "expensive",
    )


def test_prices_are_compared_in_the_operators_currency(
    database: Database, auto: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(database, "expensive")
    call(database, "cheap", times=11)
    call(database, "cheap", TraceOutcome.MISS, times=9)
    known = {
        provider_class.name: provider_class(ProviderSettings(credit_price=price))
        for provider_class, price in ((ExpensiveProvider, 10.0), (CheapProvider, 5.0))
    }
    monkeypatch.setattr(registry, "load", lambda _settings: known)
    both = dataclasses.replace(auto, providers_email=("expensive", "cheap"))

    assert names(provider_order.providers_for(database, both, ProviderField.EMAIL)) == ("cheap", "expensive")


def test_statistics_are_read_once_a_minute(database: Database, auto: Settings) -> None:
    measure(database)
    ran: list[str] = []
    event.listen(database.reader, "before_cursor_execute", lambda *args: ran.append(args[2]))
    provider_order.providers_for(database, auto, ProviderField.EMAIL)
    first = len(ran)

    provider_order.providers_for(database, auto, ProviderField.EMAIL)

    assert len(ran) == first > 0


def test_expired_statistics_are_read_again(
    database: Database, auto: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_order, "STATS_TTL_SECONDS", 0.0)
    before = names(provider_order.providers_for(database, auto, ProviderField.EMAIL))

    measure(database)

    assert before == NAMES
    assert names(provider_order.providers_for(database, auto, ProviderField.EMAIL)) == (
        "guess",
        "cheap",
        "unmeasured",
        "expensive",
    )


def test_the_configured_order_is_used_if_the_database_is_unavailable(auto: Settings) -> None:
    away = Database("postgresql://nobody@127.0.0.1:1/nothing")

    assert names(provider_order.providers_for(away, auto, ProviderField.EMAIL)) == NAMES


def test_the_configured_order_is_used_if_tables_are_missing(auto: Settings) -> None:
    empty = Database("sqlite://")

    assert names(provider_order.providers_for(empty, auto, ProviderField.EMAIL)) == NAMES
    empty.close()
