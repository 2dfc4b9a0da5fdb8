from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from tools.services import revisions
from tools.state import State


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "app.sqlite3"


def migrated(database: Path, revision: str) -> str:
    """Return the URL of a database whose tables are those of this revision."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES (?)", (revision,))
    return f"sqlite:///{database}"


def test_the_newest_migration_is_the_one_that_alembic_upgrades_to() -> None:
    config = Config()
    config.set_main_option("script_location", str(revisions.VERSIONS.parent))

    assert revisions.head() == ScriptDirectory.from_config(config).get_current_head()


def test_a_database_with_the_newest_migration_is_at_head(database: Path) -> None:
    assert revisions.is_at_head(migrated(database, revisions.head()))


def test_a_database_with_an_earlier_migration_is_not(database: Path) -> None:
    assert not revisions.is_at_head(migrated(database, "0001"))


def test_a_missing_database_is_not_at_head_and_is_not_created(database: Path) -> None:
    assert not revisions.is_at_head(f"sqlite:///{database}")
    assert not database.exists()


def test_a_database_without_migrations_is_not_at_head(database: Path) -> None:
    database.touch()

    assert not revisions.is_at_head(f"sqlite:///{database}")


def test_another_database_is_left_to_alembic() -> None:
    assert not revisions.is_at_head("postgresql+psycopg://localhost/leads")


def test_a_demo_from_before_the_first_version_is_deleted_and_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    state = State(tmp_path)
    migrated(state.database, "0056")
    state.path("app.sqlite3-wal").touch()

    revisions.discard_unreleased(state)

    assert list(tmp_path.iterdir()) == []
    assert "it is deleted and created again" in "".join(capfd.readouterr())


@pytest.mark.parametrize("revision", [revisions.head(), "9999"])
def test_the_database_of_a_demo_is_kept_otherwise(tmp_path: Path, revision: str) -> None:
    state = State(tmp_path)
    migrated(state.database, revision)

    revisions.discard_unreleased(state)

    assert state.database.exists()
