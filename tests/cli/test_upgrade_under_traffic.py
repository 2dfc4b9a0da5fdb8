"""From this version to the next, which migrates large tables, while processes of this one answer requests."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from apiflask import APIFlask
from flask.testing import FlaskClient
from local_servers import POSTGRES, empty_database
from migration_support import add_migration
from sqlalchemy import inspect, text
from stored_support import ADA_URL, a_company, a_contact, an_email
from users_support import SignedInUser

from app.settings import Settings
from cli import database as commands
from cli.application import create_app

CONTACTS = 3_000
MORE_CONTACTS = """
    INSERT INTO contacts (id, full_name, name_key, last_key, provenance, created_at, updated_at)
    VALUES (:id, :name, :name, 'doe', '{}', '2026-01-01', '2026-01-01')
"""
MIGRATION = """
    if "nickname" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("contacts")}:
        op.add_column("contacts", sa.Column("nickname", sa.String()))
        op.add_column("jobs", sa.Column("color", sa.String(), nullable=False, server_default="blue"))
        op.execute("UPDATE contacts SET nickname = full_name")
    indexes.create_concurrently("ix_contacts_nickname", "contacts", ["nickname"])
"""
REQUESTS: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("GET", "/api/ext/session", None),
    ("POST", "/api/ext/lookup", {"subject": {"linkedin_url": ADA_URL}}),
    ("POST", "/api/ext/reveal/email", {"subject": {"linkedin_url": ADA_URL}}),
    ("GET", "/api/ext/jobs?limit=5", None),
    ("GET", "/api/contacts", None),
    ("GET", "/healthz", None),
)
THREADS = 3
ANSWERED = {200, 202}
UNAVAILABLE = 503


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    with empty_database(tmp_path, "upgraded") as url:
        yield url


@pytest.fixture
def app(url: str, settings: Settings, redis_url: str) -> Iterator[APIFlask]:
    """This version, on a database that `flask database upgrade` created, with data."""
    app = create_app(dataclasses.replace(settings, database_url=url, redis_url=redis_url))
    result = app.test_cli_runner().invoke(args=["database", "upgrade"])
    assert result.exit_code == 0, result.output
    with app.extensions["services"].database.transaction() as session:
        ada = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        an_email(session, ada, "ada@acme.com")
        people = [{"id": f"con_{number}", "name": f"jane {number} doe"} for number in range(CONTACTS)]
        session.execute(text(MORE_CONTACTS), people)
    yield app
    app.extensions["services"].listener.close()
    app.extensions["services"].database.close()
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()


@pytest.fixture
def next_version(
    app: APIFlask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, settings: Settings
) -> Iterator[APIFlask]:
    """The version with one migration more, of which only the command runs."""
    add_migration(tmp_path, monkeypatch, MIGRATION)
    other = create_app(dataclasses.replace(settings, database_url=url))
    with closing(other.extensions["services"].database):
        yield other


@dataclasses.dataclass
class Waits:
    """The module `time` of the command alone: other threads wait as usual."""

    sleep: Callable[[float], None]
    monotonic: Callable[[], float] = time.monotonic


class Traffic:
    """Requests of several threads, and the statuses of their responses."""

    def __init__(self, app: APIFlask, user: SignedInUser) -> None:
        self._app = app
        self._headers = user.headers | {"Prefer": "wait=0"}
        self.statuses: Counter[int] = Counter()

    def round(self) -> set[int]:
        """Send each request once; return the statuses."""
        client: FlaskClient = self._app.test_client()
        statuses = {
            client.open(path, method=method, json=body, headers=self._headers).status_code
            for method, path, body in REQUESTS
        }
        self.statuses.update(statuses)
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


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_requests_during_a_migration_are_answered_or_unavailable(
    app: APIFlask, next_version: APIFlask, user: SignedInUser
) -> None:
    traffic = Traffic(app, user)
    before = traffic.round()

    with traffic.flowing():
        result = next_version.test_cli_runner().invoke(args=["database", "upgrade"])

    assert result.exit_code == 0, result.output
    assert before <= ANSWERED
    assert set(traffic.statuses) <= ANSWERED | {UNAVAILABLE}, traffic.statuses
    assert traffic.round() <= ANSWERED
    tables = inspect(app.extensions["services"].database.engine)
    assert "nickname" in {column["name"] for column in tables.get_columns("contacts")}
    assert "ix_contacts_nickname" in {index["name"] for index in tables.get_indexes("contacts")}
    audit = app.test_cli_runner().invoke(args=["audit", "ledger", "--json"])
    assert json.loads(audit.stdout.splitlines()[-1])["faults"] == []


@pytest.mark.skipif(not POSTGRES, reason="SQLite locks the whole database")
def test_a_locked_table_delays_the_migration_and_not_the_requests(
    app: APIFlask, next_version: APIFlask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dump holds the table: the migration gives up its place in the queue, and tries again."""
    engine = app.extensions["services"].database.engine
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

    result = next_version.test_cli_runner().invoke(args=["database", "upgrade"])

    assert result.exit_code == 0, result.output
    assert len(attempts) == 2
    assert "Waiting for a table that is locked (attempt 2 of 30)." in result.stderr


@pytest.mark.skipif(not POSTGRES, reason="SQLite locks the whole database")
def test_a_table_that_stays_locked_ends_the_migration_with_what_to_do(
    app: APIFlask, next_version: APIFlask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "LOCK_SECONDS", 0.1)
    monkeypatch.setattr(commands, "LOCK_ATTEMPTS", 2)
    monkeypatch.setattr(commands, "time", Waits(lambda _seconds: None))

    with app.extensions["services"].database.engine.connect() as dump:
        dump.execute(text("SELECT count(*) FROM jobs"))
        result = next_version.test_cli_runner().invoke(args=["database", "upgrade"])

    assert result.exit_code == 1
    assert "Error: A table stayed locked by another transaction. What was migrated so far is kept." in (
        result.stderr
    )
