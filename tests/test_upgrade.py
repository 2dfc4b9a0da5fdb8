"""Upgrades of a running service: this version reads and finishes what an earlier version stored and queued.

`tests/data/upgrade` holds what commit 9000c16 wrote with its own code, the keys of these tests and their
clock: its database as SQL and the messages in its Redis. Do not edit these files. A failure here means that
a persisted name changed: a task, an enum value, a key in a JSON column, or a label that goes into a keyed
digest. Keep the old name, accept both, or write a migration.

The jobs of that version, by their names in `messages.json`:

- over: `owned` (a reveal, refunded later), `bought` (from a provider), `opted_out`, `webhook_due`
- `expired`: queued two hours earlier, its message lost
- `killed`, `killed_list`: claimed by workers that died after the replies of providers were stored
- `waiting`: waits for an asynchronous provider, which returned a poll token
- the others: queued, not started
"""

from __future__ import annotations

import base64
import dataclasses
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from apiflask import APIFlask
from flask.testing import FlaskClient
from jobs_support import NOW, set_clock
from local_servers import POSTGRES, empty_database
from pytest_httpserver import HTTPServer
from sqlalchemy import text
from upgrade_support import DATA, DUMP_REVISION, fill, migrate_to

from app.domain.kinds import Queue
from app.features.webhooks import work as webhooks
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.settings import Settings
from cli.application import create_app
from workers.execution import worker_services
from workers.execution.worker_services import WorkerServices
from workers.jobs import upkeep
from workers.main import app as celery

OLD: dict[str, Any] = json.loads((DATA / "messages.json").read_text())
MESSAGES: list[dict[str, Any]] = [
    message for queue in OLD["messages"].values() for message in reversed(queue)
]
OLD_HOST = "203.0.113.7"
"""The address from which the account signed in."""
RECORD = {
    "first_name": "Wim",
    "last_name": "Wait",
    "full_name": "Wim Wait",
    "linkedin": "https://www.linkedin.com/in/wim-wait",
    "email": [{"email": "wim@beta.example", "qualification": "nominative@pro"}],
}


@dataclass
class Upgraded:
    """The service after the upgrade, and its current time."""

    app: APIFlask
    services: WorkerServices
    store: redis.Redis
    time: list[datetime]

    @property
    def client(self) -> FlaskClient:
        return self.app.test_client()

    def call(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, **headers: str
    ) -> Any:
        token = key or OLD["session_token"]
        all_headers = {"Authorization": f"Bearer {token}", "Prefer": "wait=0", **headers}
        return self.client.open(path, method=method, json=body, headers=all_headers)

    def sign_in(self, password: str, host: str) -> int:
        body = {"email": "ada@acme.example", "password": password}
        return self.client.post("/api/ext/login", json=body, environ_base={"REMOTE_ADDR": host}).status_code

    def job(self, name: str) -> dict[str, Any]:
        body = self.call("GET", f"/api/ext/jobs?id={OLD['jobs'][name]}").get_json()
        assert "job" in body, body
        return dict(body)

    def work_off(self) -> None:
        """Process the queued messages and, for five minutes, those that the service itself sends."""
        queued = list(MESSAGES)
        for _minute in range(5):
            while queued:
                run(queued.pop(0))
                queued += self._sent()
            self.time[0] += timedelta(minutes=1)
            upkeep.sweep_once(self.services)
            webhooks.send_due(self.services)
            queued = self._sent()

    def _sent(self) -> list[dict[str, Any]]:
        """Take the messages out of Redis, the oldest of each queue first."""
        return [json.loads(text) for queue in Queue for text in self.store.rpop(queue.value, 1000) or []]


def run(message: dict[str, Any]) -> None:
    """Run the task named in the message, with its arguments and from its queue."""
    arguments, options, _embedded = json.loads(base64.b64decode(message["body"]))
    task = celery.tasks[message["headers"]["task"]]
    queue = message["properties"]["delivery_info"]["routing_key"]
    task.apply(args=arguments, kwargs=options, routing_key=queue, throw=True)


@pytest.fixture
def old_url(tmp_path: Path) -> Iterator[str]:
    """The URL of the old database; on PostgreSQL its rows are those of the dump, which is SQLite's."""
    with empty_database(tmp_path, "old") as url:
        if POSTGRES is None:
            with closing(sqlite3.connect(tmp_path / "old.sqlite3")) as old:
                old.executescript((DATA / "database.sql").read_text())
        else:
            database = Database(url)
            with database.engine.connect() as connection:
                migrate_to(connection, DUMP_REVISION)
                fill(connection)
            database.close()
        yield url


@pytest.fixture
def upgraded(
    settings: Settings,
    old_url: str,
    redis_url: str,
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Upgraded]:
    """The old database after `flask database upgrade`, one minute after its last job was queued."""
    time = [NOW + timedelta(minutes=1)]
    set_clock(monkeypatch, lambda: time[0])
    settings = dataclasses.replace(
        settings,
        database_url=old_url,
        redis_url=redis_url,
        webhook_networks=("127.0.0.0/8",),
        providers_email=("sandbox", "dropcontact"),
        providers_phone=("sandbox",),
        providers_person=("sandbox",),
        providers_company=("sandbox",),
        providers_verification=(),
        provider_variables=(
            ("DROPCONTACT_API_KEY", "key"),
            ("DROPCONTACT_BASE_URL", httpserver.url_for("/v1")),
        ),
    )
    httpserver.expect_request("/v1/enrich/all/qzmxkpvlrtdnhwa", method="GET").respond_with_json(
        {"success": True, "error": False, "data": [RECORD]}
    )
    httpserver.expect_request("/done", method="POST").respond_with_data("")
    app = create_app(settings)
    response = app.test_cli_runner().invoke(args=["database", "upgrade"])
    assert response.exit_code == 0, response.output
    database = app.extensions["services"].database
    services = WorkerServices(settings, database, JobPublisher(redis_url), JobNotifier(redis_url))
    monkeypatch.setattr(worker_services, "_current", [services])
    with database.transaction() as session:
        session.execute(text("UPDATE webhooks SET url = :url"), {"url": httpserver.url_for("/done")})
    with redis.Redis.from_url(redis_url) as store:
        yield Upgraded(app, services, store, time)
        store.flushall()
    app.extensions["services"].listener.close()
    database.close()


def person(name: str) -> dict[str, str]:
    return {"linkedin_url": f"https://www.linkedin.com/in/{name}"}


def test_every_message_names_a_task_of_this_version() -> None:
    named = {message["headers"]["task"] for message in MESSAGES}

    assert len(named) == 10
    assert named <= set(celery.tasks)
    assert set(OLD["messages"]) == {name.value for name in Queue}


def test_queued_jobs_are_finished_and_charged_once(upgraded: Upgraded) -> None:
    upgraded.work_off()

    outcomes = {}
    for name in OLD["jobs"]:
        shown = upgraded.job(name)
        outcomes[name] = (shown["job"]["status"], shown["job"]["outcome"], shown["credits"]["charged"])
    audit = upgraded.app.test_cli_runner().invoke(args=["audit", "ledger"])
    assert outcomes == {
        "expired": ("expired", None, 0),
        "owned": ("succeeded", "found", 1),
        "bought": ("succeeded", "found", 1),
        "opted_out": ("succeeded", "suppressed", 0),
        "webhook_due": ("succeeded", "found", 1),
        "killed": ("succeeded", "found", 1),
        "killed_list": ("succeeded", "found", 2),
        "waiting": ("succeeded", "found", 1),
        "reveal_email": ("succeeded", "found", 1),
        "reveal_phone": ("succeeded", "found", 1),
        "enrichment": ("succeeded", "partial", 1),
        "companies": ("succeeded", "found", 0),
        "company_by_hash": ("succeeded", "found", 0),
        "leads": ("succeeded", "found", 0),
    }
    # 100 granted, ten charged above, one of them refunded
    assert upgraded.call("GET", "/api/ext/session").get_json()["credits"] == {"balance": 91, "reserved": 0}
    assert audit.exit_code == 0, audit.output


def test_a_stored_reply_of_a_dead_worker_is_reused(upgraded: Upgraded) -> None:
    upgraded.work_off()

    killed = upgraded.job("killed")
    assert [line["at"] for line in killed["trace"]] == ["2026-11-20T09:29:00.000Z"]
    assert killed["result"]["emails"][0]["email"] == "accept-all@sandbox.example"
    [phone] = [line for line in upgraded.job("killed_list")["trace"] if line["field"] == "phone"]
    assert phone["at"] == "2026-11-20T09:29:00.000Z"


def test_a_pending_provider_reply_is_polled_with_its_ticket(upgraded: Upgraded) -> None:
    upgraded.work_off()

    waiting = upgraded.job("waiting")
    assert [(line["provider"], line["outcome"]) for line in waiting["trace"]] == [
        ("sandbox", "ineligible"),
        ("dropcontact", "hit"),
    ]
    assert [email["email"] for email in waiting["result"]["emails"]] == ["wim@beta.example"]


def test_webhooks_are_signed_with_the_existing_secret(upgraded: Upgraded) -> None:
    arguments = ["workspaces", "webhook-secret", OLD["workspace_id"]]
    response = upgraded.app.test_cli_runner().invoke(args=arguments)

    assert OLD["webhook_secret"] in response.output


def test_waiting_webhooks_are_delivered(upgraded: Upgraded, httpserver: HTTPServer) -> None:
    upgraded.work_off()

    posts = [request for request, _answer in httpserver.log if request.path == "/done"]
    delivered = [post.get_json()["data"]["job"]["id"] for post in posts]
    assert sorted(delivered) == sorted([OLD["jobs"]["webhook_due"], OLD["jobs"]["enrichment"]])


def test_the_same_request_joins_the_job_that_was_queued(upgraded: Upgraded) -> None:
    body = {"subject": person("eve-kay")}
    again = upgraded.call("POST", "/api/ext/reveal/email", body)
    replay = upgraded.call(
        "POST", "/api/ext/reveal/email", body, **{"Idempotency-Key": "queued reveal_email"}
    )

    assert [response.get_json()["job"]["id"] for response in (again, replay)] == [
        OLD["jobs"]["reveal_email"]
    ] * 2
    assert replay.headers["Idempotent-Replay"] == "true"


def test_owned_saved_refunded_and_suppressed_data_is_unchanged(upgraded: Upgraded) -> None:
    subjects = [person("cleo-fox"), person("ada-lovelace"), person("dora-diaz"), person("sue-hill")]
    subjects += [{"email": "suppressed@sandbox.example"}, {"phone": "+12025550143"}]
    response = upgraded.call("POST", "/api/ext/lookup", {"subjects": subjects}).get_json()

    cleo, ada, dora, sue, opted_out, by_callers_phone = response["results"]
    assert [email["email"] for email in cleo["revealed"]["emails"]] == ["cleo@acme.example"]
    assert [email["owned"] for email in ada["available"]] == [False]
    assert (dora["saved"]["list"], dora["saved"]["tags"]) == ("Prospects", ["x"])
    assert [sue["suppressed"], opted_out["suppressed"]] == [True, True]
    assert [email["email"] for email in by_callers_phone["revealed"]["emails"]] == ["found@sandbox.example"]


def test_tokens_passwords_and_known_networks_still_work(upgraded: Upgraded) -> None:
    tokens = [upgraded.call("GET", "/api/ext/session", key=key) for key in (None, OLD["api_key"])]
    guesses = [upgraded.sign_in("not the password", f"198.51.{number}.1") for number in range(12)]
    unknown, known = (
        upgraded.sign_in("correct horse battery staple", host) for host in ("192.0.2.1", OLD_HOST)
    )

    assert [response.status_code for response in tokens] == [200, 200]
    assert guesses[:10] == [401] * 10
    assert (unknown, known) == (429, 200)
