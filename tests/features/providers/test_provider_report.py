from __future__ import annotations

import dataclasses
import json
from datetime import timedelta
from typing import Any

import pytest
from bounce_support import a_bounce
from click.testing import CliRunner, Result

from app import settings as app_settings
from app.domain.kinds import TraceOutcome
from app.engine.jobs import provider_calls
from app.engine.jobs.provider_calls import CallKey
from app.features.providers import report_commands as provider_report
from app.features.providers.report_commands import report
from app.infra import clock
from app.infra.database.db import Database
from app.settings import ProviderSettings, Settings, SettingsError
from workers.providers import registry
from workers.providers.base import ProviderField, Terms
from workers.providers.pattern import Pattern
from workers.providers.sandbox import Sandbox


class PricedSandbox(Sandbox):
    """A provider whose credits cost money."""

    def __init__(self, name: str, credit_price: float) -> None:
        self.name = name  # type: ignore[misc]
        self.terms = Terms(prices={ProviderField.EMAIL: 1}, credit_price=credit_price)


@pytest.fixture
def run(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs the report on a guessing provider, an expensive one and a cheap one."""
    providers = {
        "pattern": Pattern(ProviderSettings()),
        "dear": PricedSandbox("dear", 0.5),
        "cheap": PricedSandbox("cheap", 0.1),
    }
    nobody = dict.fromkeys([f"providers_{field}" for field in ProviderField], ())
    order = dataclasses.replace(settings, **nobody | {"providers_email": tuple(providers)})
    monkeypatch.setattr(app_settings, "load", lambda: order)
    for module in (registry, provider_report):
        monkeypatch.setattr(module, "load", lambda _settings: providers)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(report, arguments, env={"COLUMNS": "120"})

    return run


def call(
    database: Database,
    provider: str,
    outcome: TraceOutcome = TraceOutcome.HIT,
    *,
    times: int,
    field: str = "email",
    country: str | None = "DE",
    days_ago: int = 0,
) -> None:
    """Record this many provider calls; each hit costs one credit."""
    called_at = clock.now() - timedelta(days=days_ago)
    cost = 1 if outcome is TraceOutcome.HIT else 0
    about: dict[str, Any] = {"job_id": "job_1", "item": None, "subject": b"x", "country": country}
    with database.transaction() as session:
        for _ in range(times):
            question = CallKey(field=field, provider=provider, **about)
            call_id = provider_calls.start(session, question, cost=9, now=called_at)
            provider_calls.record_reply(
                session,
                call_id,
                outcome=outcome,
                status=None,
                cost=cost,
                latency_ms=80,
                reply=None,
                now=called_at,
            )


@pytest.fixture
def calls(database: Database) -> None:
    call(database, "dear", times=30)
    call(database, "dear", TraceOutcome.MISS, times=10)
    call(database, "cheap", TraceOutcome.MISS, times=5)
    call(database, "cheap", times=5)


def test_the_table_has_the_results_and_the_cost_of_each_provider(run: Any, calls: None) -> None:
    result = run()

    table = [line.split() for line in result.output.splitlines()]
    assert result.exit_code == 0, result.output
    assert [
        "│",
        "dear",
        "│",
        "40",
        "│",
        "30",
        "│",
        "75%",
        "│",
        "30",
        "│",
        "0.5",
        "│",
        "80",
        "│",
        "0",
        "│",
    ] in table
    assert [
        "│",
        "cheap",
        "│",
        "10",
        "│",
        "5",
        "│",
        "50%",
        "│",
        "5",
        "│",
        "0.1",
        "│",
        "80",
        "│",
        "0",
        "│",
    ] in table


def test_the_cost_of_the_orders_is_printed_below_the_table(run: Any, calls: None) -> None:
    lines = run().output.splitlines()

    assert "configured: pattern, dear, cheap; finds 82% at 0.4301 each, 15.05 for the 35 found" in lines
    assert "not included in the estimates, because never called: pattern" in lines
    assert "best: pattern, cheap, dear; finds 82% at 0.2816 each, 9.854 for the 35 found" in lines


def test_the_json_is_a_single_line(run: Any, calls: None) -> None:
    result = run("--json", "--field", "email")

    body = json.loads(result.output)
    [field] = body["fields"]
    assert (body["days"], body["country"], field["field"], field["found"]) == (90, None, "email", 35)
    assert field["providers"][0] == {
        "provider": "dear",
        "asked": 40,
        "hits": 30,
        "hit_rate": 0.75,
        "credits": 30.0,
        "cost_per_hit": 0.5,
        "latency_ms": 80,
        "bounces": 0,
    }
    assert field["configured"]["order"] == ["pattern", "dear", "cheap"]
    assert field["best"]["order"] == ["pattern", "cheap", "dear"]
    assert field["never_asked"] == ["pattern"]
    assert field["best"]["cost"] < field["configured"]["cost"]
    assert field["best"]["hit_rate"] == field["configured"]["hit_rate"]


def test_an_address_that_bounced_was_not_found(run: Any, database: Database, calls: None) -> None:
    with database.transaction() as session:
        a_bounce(session, providers=["dear"], now=clock.now())

    [field] = json.loads(run("--json", "--field", "email").output)["fields"]

    assert (field["providers"][0]["hits"], field["providers"][0]["bounces"], field["found"]) == (30, 1, 34)


def test_a_removed_provider_is_listed_without_a_price(run: Any, database: Database) -> None:
    call(database, "gone", times=2)
    call(database, "cheap", TraceOutcome.MISS, times=2)

    [field] = json.loads(run("--json").output)["fields"]

    assert [figures["provider"] for figures in field["providers"]] == ["cheap", "gone"]
    assert [figures["cost_per_hit"] for figures in field["providers"]] == [None, None]
    assert field["configured"]["order"] == ["pattern", "dear", "cheap"]
    assert field["found"] == 0


def test_a_field_without_a_configured_provider_is_explained(run: Any, database: Database) -> None:
    call(database, "gone", times=2, field="phone")

    result = run()

    assert result.exit_code == 0, result.output
    assert "configured: no provider is configured for this field." in result.output


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ((), 40),
        (("--country", "de"), 30),
        (("--country", "Frankreich"), 10),
        (("--days", "5"), 30),
        (("--field", "phone"), None),
        (("--field", "phone", "--field", "email"), 40),
    ],
)
def test_field_country_and_days_filter_the_report(
    run: Any, database: Database, arguments: tuple[str, ...], asked: int | None
) -> None:
    call(database, "dear", times=30, country="DE")
    call(database, "dear", times=10, country="FR", days_ago=6)

    fields = json.loads(run("--json", *arguments).output)["fields"]

    assert [figures["asked"] for field in fields for figures in field["providers"]] == (
        [asked] if asked else []
    )


def test_a_report_without_calls_is_explained(run: Any) -> None:
    assert run().output == "No provider was called in the last 90 days.\n"


@pytest.mark.parametrize("arguments", [("--country", "Atlantis"), ("--field", "shoe"), ("--days", "0")])
def test_invalid_filters_are_usage_errors(run: Any, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_invalid_settings_are_reported_as_a_message(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Settings:
        raise SettingsError("SECRET_KEY is not set.")

    monkeypatch.setattr(app_settings, "load", refuse)

    result = run()

    assert (result.exit_code, result.output) == (1, "Error: SECRET_KEY is not set.\n")


@pytest.mark.parametrize(
    "url", ["postgresql://nobody@127.0.0.1:1/nothing", "sqlite://"], ids=["unreachable", "without tables"]
)
def test_a_database_that_cannot_be_used_is_reported_as_a_message(
    run: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    unusable = dataclasses.replace(settings, database_url=url)
    monkeypatch.setattr(app_settings, "load", lambda: unusable)

    result = run()

    assert result.exit_code == 1
    assert "The database cannot be used" in result.output
