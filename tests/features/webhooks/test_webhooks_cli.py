from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import webhook_support
from apiflask import APIFlask
from click.testing import Result
from jobs_support import a_question, a_workspace, claim, submit
from sqlalchemy import select, update
from webhook_support import begin_due

from app.domain.kinds import Outcome
from app.engine.events.deliveries import Webhook
from app.engine.jobs import leases
from app.engine.jobs.jobs import Job
from app.engine.jobs.leases import JobResult
from app.engine.work.items import WorkItem
from app.features.webhooks import delivery as webhooks
from app.features.webhooks.attempts import LEASE
from app.features.webhooks.delivery import AttemptResult
from app.features.webhooks.tables import WebhookAttempt
from app.infra import clock
from app.infra.clock import rfc3339
from app.infra.database.db import Database

Run = Callable[..., Result]
SECRET_URL = "https://hooks.acme.example/T0K3N?key=s3cr3t"


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *arguments: runner.invoke(args=["webhooks", *arguments])


@pytest.fixture
def workspace_id(database: Database) -> str:
    with database.transaction() as session:
        return a_workspace(session)


def body_of(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def over(database: Database, workspace_id: str, url: str = SECRET_URL) -> str:
    """Finish a job that has a webhook; return the webhook's id."""
    with database.transaction() as session:
        job = submit(session, a_question(workspace_id, url, webhook_url=url)).job
        leases.settle(session, claim(session, job.id), JobResult(outcome=Outcome.FOUND), now=clock.now())
        webhooks.wake_finished(session, now=clock.now())
        return session.scalars(select(Webhook.id).where(Webhook.job_id == job.id)).one()


def attempt(database: Database, webhook_id: str, ending: AttemptResult) -> None:
    """Record one delivery attempt with this result."""
    with database.transaction() as session:
        delivery = begin_due(session, webhook_id, now=clock.now())
        assert delivery is not None
        webhooks.finish(session, delivery, ending, now=clock.now())


def lose(database: Database, webhook_id: str) -> None:
    """Record an attempt whose worker died before it finished, and whose lease has expired."""
    with database.transaction() as session:
        begin_due(session, webhook_id, now=clock.now())
        session.execute(update(WebhookAttempt).values(attempted_at=clock.now() - LEASE))
        session.execute(update(WorkItem).values(lease_until=clock.now()))


def next_at(database: Database, webhook_id: str) -> datetime | None:
    with database.reading() as session:
        return webhook_support.next_at(session, webhook_id)


def test_webhooks_are_listed_without_the_secrets_in_their_urls(
    run: Run, database: Database, workspace_id: str
) -> None:
    webhook_id = over(database, workspace_id)

    listed, table = run("list", "--json"), run("list").stdout

    (webhook,) = body_of(listed)["webhooks"]
    assert (webhook["id"], webhook["workspace_id"]) == (webhook_id, workspace_id)
    assert (webhook["host"], webhook["state"]) == ("hooks.acme.example", "waiting")
    assert (webhook["attempts"], webhook["delivered_at"]) == (0, None)
    assert webhook["next_at"] == rfc3339(next_at(database, webhook_id))
    assert (webhook["type"], webhook["event_id"], webhook["endpoint_id"]) == ("job.finished", None, None)
    assert table.splitlines()[0].split() == [
        *["id", "job", "host", "tries", "state", "next_at", "type", "event"]
    ]
    assert f"{webhook_id}  {webhook['job_id']}  hooks.acme.example" in table
    assert "T0K3N" not in table + listed.stdout
    assert "s3cr3t" not in table + listed.stdout


def test_webhooks_are_listed_by_failure_and_workspace(
    run: Run, database: Database, workspace_id: str
) -> None:
    delivered = over(database, workspace_id, "https://a.example/")
    abandoned = over(database, workspace_id, "https://b.example/")
    attempt(database, delivered, AttemptResult(status=200, latency_ms=3))
    attempt(database, abandoned, AttemptResult(status=410, latency_ms=3))
    with database.transaction() as session:
        other = a_workspace(session)
    elsewhere = over(database, other)

    listed = body_of(run("list", "--workspace", workspace_id, "--json"))["webhooks"]

    assert [(webhook["id"], webhook["state"]) for webhook in listed] == sorted(
        [(delivered, "delivered"), (abandoned, "given up")], reverse=True
    )
    assert [webhook["id"] for webhook in body_of(run("list", "--failed", "--json"))["webhooks"]] == [
        abandoned
    ]
    assert [
        webhook["id"] for webhook in body_of(run("list", "--workspace", other, "--json"))["webhooks"]
    ] == [elsewhere]
    assert len(body_of(run("list", "--limit", "1", "--json"))["webhooks"]) == 1


def test_the_log_shows_lost_failed_and_delivered_attempts(
    run: Run, database: Database, workspace_id: str
) -> None:
    webhook_id = over(database, workspace_id)
    lose(database, webhook_id)
    attempt(database, webhook_id, AttemptResult(status=503, latency_ms=12))
    run("replay", webhook_id)
    attempt(database, webhook_id, AttemptResult(status=204, latency_ms=34))

    shown, page = body_of(run("show", webhook_id, "--json")), run("show", webhook_id).stdout

    log = [
        (webhook["state"], webhook["status"], webhook["error"], webhook["latency_ms"])
        for webhook in shown["attempts"]
    ]
    assert log == [
        ("lost", None, None, None),
        ("failed", 503, "http_status", 12),
        ("delivered", 204, None, 34),
    ]
    assert shown["webhook"]["state"] == "delivered"
    assert webhook_id in page
    assert "http_status" in page
    assert "lost" in page


def test_an_attempt_without_a_response_yet_is_running(
    run: Run, database: Database, workspace_id: str
) -> None:
    webhook_id = over(database, workspace_id)
    with database.transaction() as session:
        begin_due(session, webhook_id, now=clock.now())

    shown = body_of(run("show", webhook_id, "--json"))

    assert [webhook["state"] for webhook in shown["attempts"]] == ["running"]


def test_a_replay_is_due_at_once_under_the_same_id(run: Run, database: Database, workspace_id: str) -> None:
    webhook_id = over(database, workspace_id)
    attempt(database, webhook_id, AttemptResult(status=410, latency_ms=3))

    replayed = body_of(run("replay", webhook_id, "--json"))

    due = next_at(database, webhook_id)
    assert replayed == {"replayed": [webhook_id]}
    assert due is not None
    assert due <= clock.now()


def test_only_failures_since_a_day_are_replayed(run: Run, database: Database, workspace_id: str) -> None:
    old, new, delivered = (over(database, workspace_id, f"https://{name}.example/") for name in "abc")
    for webhook_id, status in ((old, 410), (new, 410), (delivered, 200)):
        attempt(database, webhook_id, AttemptResult(status=status, latency_ms=3))
    today = clock.now()
    finish(database, old, today - timedelta(days=3))
    since = ("--failed", "--since", f"{today - timedelta(days=1):%Y-%m-%d}")

    elsewhere = run("replay", *since, "--workspace", "nobody")
    result = run("replay", *since, "--workspace", workspace_id)

    assert "There is no workspace 'nobody'" in elsewhere.stderr
    assert result.stdout == "Queued for delivery: 1.\n"
    assert [next_at(database, webhook) is None for webhook in (old, new, delivered)] == [True, False, True]


def finish(database: Database, webhook_id: str, delivered_at: datetime) -> None:
    """Set the time at which the webhook's job finished."""
    with database.transaction() as session:
        job = select(Webhook.job_id).where(Webhook.id == webhook_id).scalar_subquery()
        session.execute(update(Job).where(Job.id == job).values(finished_at=delivered_at))


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--failed",),
        ("--since", "2026-11-20"),
        ("whk_1", "--failed", "--since", "2026-11-20"),
        ("whk_1", "--workspace", "Acme"),
        ("--failed", "--since", "yesterday"),
    ],
)
def test_replay_requires_ids_or_a_filter(run: Run, arguments: tuple[str, ...]) -> None:
    assert run("replay", *arguments).exit_code == 2


def test_an_unknown_webhook_is_an_error_and_prevents_the_replay_of_others(
    run: Run, database: Database, workspace_id: str
) -> None:
    webhook_id = over(database, workspace_id)
    attempt(database, webhook_id, AttemptResult(status=410, latency_ms=3))

    results = [run("show", "whk_unknown"), run("replay", webhook_id, "whk_unknown")]

    assert [result.exit_code for result in results] == [1, 1]
    assert all("There is no webhook 'whk_unknown'" in result.stderr for result in results)
    assert next_at(database, webhook_id) is None


def test_an_empty_list_is_explained(run: Run) -> None:
    assert run("list").stdout == "There are no matching webhooks.\n"
    assert body_of(run("list", "--json")) == {"webhooks": []}
