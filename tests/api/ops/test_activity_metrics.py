from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from jobs_support import a_workspace
from local_servers import free_port
from settings_support import change_settings
from stored_support import a_contact, a_provider_call

from app.api.ops.activity import _redis_started_at
from app.domain.kinds import TraceOutcome
from app.engine.providers import provider_throttles
from app.infra import clock
from app.infra.broker import beat_heartbeat

CANARY = "ada.lovelace@canary.example"


def scrape(app: APIFlask) -> dict[str, float]:
    """Return the samples that /metrics shows, by name and labels."""
    text = app.test_client().get("/metrics").text
    pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def a_call(app: APIFlask, **changes: Any) -> None:
    now = clock.now()
    values = {
        "cost": 2.0,
        "latency_ms": 500,
        "reply": {"emails": [CANARY]},
        "asked_at": now,
        "answered_at": now,
    }
    with app.extensions["services"].database.transaction() as session:
        a_provider_call(session, **values | changes)


def test_metrics_show_outcomes_durations_and_spend_of_providers(app: APIFlask) -> None:
    variables = (("HUNTER_DAILY_BUDGET", "50"),)
    change_settings(app, providers_email=("pattern", "hunter"), provider_variables=variables)
    a_call(app)
    a_call(app, outcome="error", cost=0.0)

    found = scrape(app)

    assert found['ext_provider_calls{outcome="hit",provider="hunter"}'] == 1
    assert found['ext_provider_calls{outcome="error",provider="hunter"}'] == 1
    assert found['ext_provider_calls{outcome="timeout",provider="pattern"}'] == 0
    assert found['ext_provider_seconds{provider="hunter"}'] == 0.5
    assert found['ext_provider_credits{provider="hunter"}'] == 2
    assert found['ext_provider_budget_credits{provider="hunter"}'] == 50
    assert 'ext_provider_budget_credits{provider="pattern"}' not in found


def test_metrics_show_which_configured_providers_are_unhealthy(app: APIFlask) -> None:
    change_settings(app, providers_email=("pattern", "hunter"))
    with app.extensions["services"].database.transaction() as session:
        for name in ("hunter", "removed"):
            provider_throttles.report(
                session, name, TraceOutcome.NO_CREDITS, retry_after=None, now=clock.now()
            )

    found = scrape(app)

    healthy = {name: value for name, value in found.items() if name.startswith("ext_provider_healthy")}
    assert healthy['ext_provider_healthy{provider="hunter"}'] == 0
    assert healthy['ext_provider_healthy{provider="pattern"}'] == 1
    assert 'ext_provider_healthy{provider="removed"}' not in healthy


def test_metrics_show_jobs_credits_and_lost_workers(app: APIFlask) -> None:
    with app.extensions["services"].database.transaction() as session:
        a_workspace(session, grant=7)

    found = scrape(app)

    assert found['ext_credits{state="available"}'] == 7
    assert found['ext_jobs_finished{status="failed"}'] == 0
    assert found["ext_jobs_crashed"] == 0
    assert found['ext_workers_lost{queue="interactive"}'] == 0


def test_metrics_show_how_many_first_notices_are_overdue(app: APIFlask) -> None:
    with app.extensions["services"].database.transaction() as session:
        for days in (29, 30.5, 32, 400):
            a_contact(session, created_at=clock.now() - timedelta(days=days))

    assert scrape(app)["ext_notices_overdue"] == 2


def test_metrics_show_beat_and_when_the_servers_started(app: APIFlask) -> None:
    beat_heartbeat.record(app.extensions["services"].settings.redis_url)

    found = scrape(app)

    assert 0 <= found["ext_beat_age_seconds"] < 60
    assert found['ext_start_time_seconds{part="redis"}'] <= clock.now().timestamp()
    has_server = app.extensions["services"].settings.database_url.startswith("postgresql")
    assert ('ext_start_time_seconds{part="database"}' in found) == has_server


def test_a_redis_that_does_not_tell_its_clock_has_no_start_time() -> None:
    assert _redis_started_at({"uptime_in_seconds": 5}) is None
    assert _redis_started_at({"uptime_in_seconds": 5, "server_time_usec": 105_900_000}) == 100


def test_metrics_show_which_parts_answer(app: APIFlask) -> None:
    well = scrape(app)
    change_settings(app, redis_url=f"redis://127.0.0.1:{free_port()}/0")
    without_redis = scrape(app)

    up = 'ext_up{part="redis"}'
    assert (well[up], well['ext_up{part="database"}'], without_redis[up]) == (1, 1, 0)
    assert well['ext_probe_seconds{part="database"}'] >= 0
    assert "ext_beat_age_seconds" not in without_redis
    assert "ext_jobs_crashed" in without_redis


def test_labels_are_names_of_parts_queues_states_and_providers_and_no_personal_data(app: APIFlask) -> None:
    a_call(app, provider="vendor", asked_at=clock.now() - timedelta(seconds=1))

    text = app.test_client().get("/metrics").text

    labels = {
        name
        for line in re.findall(r"^ext_\w+\{(.*)\} ", text, re.MULTILINE)
        for name in re.findall(r'(\w+)="', line)
    }
    allowed = {
        "part",
        "queue",
        "state",
        "status",
        "kind",
        "outcome",
        "provider",
        "process",
        "reason",
        "group",
    }
    assert labels - {"endpoint", "le"} <= allowed
    assert "canary" not in text


@pytest.mark.parametrize("name", ["ext_api_start_time_seconds"])
def test_the_start_of_the_api_has_a_metric(app: APIFlask, name: str) -> None:
    assert name in scrape(app)
