"""From the first schema, with data, to the newest, while processes of this version answer requests."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from apiflask import APIFlask
from jobs_support import NOW, set_clock
from local_servers import POSTGRES, empty_database
from sqlalchemy import text
from upgrade_support import DATA, fill, migrate_to

from app.settings import Settings
from cli import database as commands
from cli.application import create_app

OLD: dict[str, Any] = json.loads((DATA / "messages.json").read_text())
CONTACTS = 3_000
MORE_CONTACTS = """
    INSERT INTO contacts (id, full_name, name_key, last_key, provenance, created_at, updated_at)
    VALUES (:id, :name, :name, 'doe', '{}', '2026-01-01', '2026-01-01')
"""
REQUESTS: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("GET", "/api/ext/session", None),
    ("POST", "/api/ext/lookup", {"subject": {"linkedin_url": "https://www.linkedin.com/in/cleo-fox"}}),
    ("POST", "/api/ext/reveal/email", {"subject": {"linkedin_url": "https://www.linkedin.com/in/cleo-fox"}}),
    ("GET", "/api/ext/jobs?limit=5", None),
    ("GET", "/api/contacts", None),
    ("GET", "/healthz", None),
)
THREADS = 3
AFTER = {200, 202}
UNAVAILABLE = 503


@pytest.fixture
def old_url(tmp_path: Path, settings: Settings) -> Iterator[str]:
    """The URL of a database with the first schema and the rows of an early version."""
    with empty_database(tmp_path, "first") as url:
        app = create_app(dataclasses.replace(settings, database_url=url))
        with app.extensions["services"].database.engine.connect() as connection:
            migrate_to(connection, "0001")
            fill(connection)
            people = [{"id": f"con_{number}", "name": f"jane {number} doe"} for number in range(CONTACTS)]
            connection.execute(text(MORE_CONTACTS), people)
            connection.commit()
        app.extensions["services"].database.close()
        yield url


@pytest.fixture
def new_app(
    old_url: str, settings: Settings, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[APIFlask]:
    """This version, on the old database."""
    set_clock(monkeypatch, lambda: NOW + timedelta(minutes=1))
    app = create_app(dataclasses.replace(settings, database_url=old_url, redis_url=redis_url))
    yield app
    app.extensions["services"].listener.close()
    app.extensions["services"].database.close()
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()


@dataclasses.dataclass
class Waits:
    """The module `time` of the command alone: other threads wait as usual."""

    sleep: Callable[[float], None]
    monotonic: Callable[[], float] = time.monotonic


class Traffic:
    """Requests of several threads, and the statuses of their responses."""

    def __init__(self, app: APIFlask) -> None:
        self._app = app
        self.statuses: Counter[int] = Counter()

    def round(self) -> set[int]:
        """Send each request once; return the statuses."""
        headers = {"Authorization": f"Bearer {OLD['session_token']}", "Prefer": "wait=0"}
        client = self._app.test_client()
        statuses = set()
        for method, path, body in REQUESTS:
            status = client.open(path, method=method, json=body, headers=headers).status_code
            statuses.add(status)
            self.statuses[status] += 1
        return statuses

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Send rounds of requests from several threads as long as the block."""
        stopped = threading.Event()

        def send() -> None:
            while not stopped.is_set():
                self.round()

        threads = [threading.Thread(target=send) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stopped.set()
            for thread in threads:
                thread.join()


def test_requests_during_the_migrations_are_answered_or_unavailable(
    new_app: APIFlask, old_url: str, settings: Settings
) -> None:
    traffic = Traffic(new_app)
    before = traffic.round()
    other = create_app(dataclasses.replace(settings, database_url=old_url))

    with closing(other.extensions["services"].database), traffic.flowing():
        result = other.test_cli_runner().invoke(args=["database", "upgrade"])

    assert result.exit_code == 0, result.output
    assert before == {200, UNAVAILABLE}  # only /healthz needs no table
    assert set(traffic.statuses) <= AFTER | {UNAVAILABLE}, traffic.statuses
    assert traffic.round() <= AFTER
    audit = new_app.test_cli_runner().invoke(args=["audit", "ledger", "--json"])
    faults = [fault["rule"] for fault in json.loads(audit.stdout.splitlines()[-1])["faults"]]
    assert set(faults) <= {"open_job_is_not_stuck", "refund_is_due"}  # the first schema has no feedback


@pytest.mark.skipif(not POSTGRES, reason="SQLite locks the whole database")
def test_a_locked_table_delays_the_migration_and_not_the_requests(
    new_app: APIFlask, old_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dump holds the table: the migration gives up its place in the queue, and tries again."""
    other = create_app(dataclasses.replace(settings, database_url=old_url))
    engine = new_app.extensions["services"].database.engine
    dump = engine.connect()
    dump.execute(text("SELECT count(*) FROM jobs"))
    monkeypatch.setattr(commands, "LOCK_SECONDS", 0.2)
    attempts: list[float] = []

    def wait(seconds: float) -> None:
        attempts.append(seconds)
        with engine.connect() as reader:
            reader.execute(text("SET statement_timeout = '1s'"))
            reader.execute(text("SELECT count(*) FROM jobs"))  # does not wait behind the migration
        if len(attempts) == 2:
            dump.close()

    monkeypatch.setattr(commands, "time", Waits(wait))

    with closing(other.extensions["services"].database):
        result = other.test_cli_runner().invoke(args=["database", "upgrade"])

    assert result.exit_code == 0, result.output
    assert len(attempts) == 2
    assert "Waiting for a table that is locked (attempt 2 of 30)." in result.stderr


@pytest.mark.skipif(not POSTGRES, reason="SQLite locks the whole database")
def test_a_table_that_stays_locked_ends_the_migration_with_what_to_do(
    new_app: APIFlask, old_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = create_app(dataclasses.replace(settings, database_url=old_url))
    monkeypatch.setattr(commands, "LOCK_SECONDS", 0.1)
    monkeypatch.setattr(commands, "LOCK_ATTEMPTS", 2)
    monkeypatch.setattr(commands, "time", Waits(lambda _seconds: None))

    with (
        new_app.extensions["services"].database.engine.connect() as dump,
        closing(other.extensions["services"].database),
    ):
        dump.execute(text("SELECT count(*) FROM jobs"))
        result = other.test_cli_runner().invoke(args=["database", "upgrade"])

    assert result.exit_code == 1
    assert "Error: A table stayed locked by another transaction. What was migrated so far is kept." in (
        result.stderr
    )
