"""Indexes of large tables are built while the service writes to them; only PostgreSQL locks tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from local_servers import POSTGRES, empty_database
from migration_support import add_migration
from sqlalchemy import Connection, create_engine, event, text

from app.settings import Settings
from cli.database import _config

pytestmark = pytest.mark.skipif(not POSTGRES, reason="SQLite has one writer")
INDEX = "ix_contacts_title"
MIGRATION = f'indexes.create_concurrently("{INDEX}", "contacts", ["title"])'
INVALIDATE = text("UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(:name)")
IS_VALID = text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")


@pytest.fixture
def connection(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """A database of this version, which the next one gives the index."""
    with empty_database(tmp_path, "concurrent") as url:
        engine = create_engine(url)
        with engine.connect() as connection:
            upgrade(connection)
            add_migration(tmp_path, monkeypatch, MIGRATION)
            yield connection
        engine.dispose()


def upgrade(connection: Connection) -> None:
    command.upgrade(_config(connection), "head")
    connection.commit()


@pytest.fixture
def statements(connection: Connection) -> list[str]:
    """The statements that run on the connection."""
    seen: list[str] = []

    @event.listens_for(connection, "before_cursor_execute")
    def _record(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        seen.append(statement)

    return seen


def test_an_index_is_built_without_locking_the_table(connection: Connection, statements: list[str]) -> None:
    upgrade(connection)

    assert [statement for statement in statements if statement.startswith("CREATE INDEX")] == [
        f"CREATE INDEX CONCURRENTLY {INDEX} ON contacts (title)"
    ]
    assert connection.scalar(IS_VALID, {"name": INDEX}) is True


def test_an_index_whose_construction_was_interrupted_is_built_anew(
    connection: Connection, statements: list[str]
) -> None:
    connection.execute(text(f"CREATE INDEX {INDEX} ON contacts (title)"))
    connection.execute(INVALIDATE, {"name": INDEX})
    connection.commit()

    upgrade(connection)

    assert f"DROP INDEX CONCURRENTLY {INDEX}" in [statement.strip() for statement in statements]
    assert connection.scalar(IS_VALID, {"name": INDEX}) is True


def test_a_complete_index_is_kept(connection: Connection, statements: list[str]) -> None:
    connection.execute(text(f"CREATE INDEX {INDEX} ON contacts (title)"))
    connection.commit()

    upgrade(connection)

    assert not [statement for statement in statements if "CONCURRENTLY" in statement]


def test_the_limit_for_waiting_is_restored(connection: Connection) -> None:
    connection.execute(text("SET lock_timeout = '1234ms'"))
    connection.commit()

    upgrade(connection)

    assert connection.scalar(text("SHOW lock_timeout")) == "1234ms"
