from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from app.infra.database.db import Base, Database
from app.infra.database.engines import parsed_url
from cli.database import migrate
from tools.services import pgbouncer, postgres

THREADS, REPEATS = 24, 10
"""More threads than PgBouncer has connections, and more repeats than psycopg needs to prepare a statement."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The URL of a PgBouncer in transaction mode with a small pool."""
    if pgbouncer.program() is None:
        if os.environ.get("CI"):
            pytest.fail(pgbouncer.NOT_FOUND)
        pytest.skip(pgbouncer.NOT_FOUND)
    with postgres.running() as server, pgbouncer.running(server) as pooled:
        yield pooled


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    database.close()


def test_the_parameter_is_not_passed_to_the_driver() -> None:
    url = "postgresql://user:password@host/database?sslmode=require&pgbouncer=true"

    assert dict(parsed_url(url).query) == {"sslmode": "require"}


def test_statements_repeat_on_connections_that_are_shared(database: Database) -> None:
    def work(number: int) -> list[int]:
        found = []
        for _ in range(REPEATS):
            with database.transaction() as session:
                found.append(session.execute(text("SELECT :n + 1"), {"n": number}).scalar_one())
            with database.reading() as session:
                found.append(session.execute(text("SELECT :n + 1"), {"n": number}).scalar_one())
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(work, range(THREADS)))

    assert results == [[number + 1] * (2 * REPEATS) for number in range(THREADS)]


def test_the_tables_are_migrated_and_no_setting_is_left_on_a_shared_connection(database: Database) -> None:
    migrate(database)

    with database.reading() as session:
        settings = {session.scalar(text("SHOW lock_timeout")) for _ in range(2 * pgbouncer.POOL_SIZE)}
        tables = set(session.scalars(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")))
    assert settings == {"0"}
    assert set(Base.metadata.tables) <= tables
