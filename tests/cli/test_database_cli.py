from __future__ import annotations

import dataclasses
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from apiflask import APIFlask
from click.testing import Result
from local_servers import POSTGRES, empty_database, free_port
from migration_support import copy_migrations
from sqlalchemy import Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url

from app.infra.database import engines, table_versions
from app.infra.database.advisory_locks import AdvisoryLock
from app.infra.database.db import Base
from app.settings import Settings
from chaos.system.proxy import Mode, Proxy
from cli import database as commands
from cli.application import create_app
from tools.state import ROOT

Upgrade = Callable[..., Result]
needs_postgres = pytest.mark.skipif(not POSTGRES, reason="SQLite has no server; see TEST_DATABASE_URL")


class FakeClock:
    """A clock that advances only by sleeping, and calls a function after each sleep."""

    def __init__(self, on_wait: Callable[[], None] = lambda: None) -> None:
        self.now = 0.0
        self._on_wait = on_wait

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self._on_wait()


@pytest.fixture
def upgrade(settings: Settings) -> Iterator[Upgrade]:
    """Return a function that runs `flask database upgrade` on the database at a URL."""
    apps: list[APIFlask] = []

    def run(url: str, *options: str) -> Result:
        app = create_app(dataclasses.replace(settings, database_url=url))
        apps.append(app)
        return app.test_cli_runner().invoke(commands.group, ["upgrade", *options])

    yield run
    for app in apps:
        app.extensions["services"].database.close()


@pytest.fixture
def another_database() -> Iterator[Callable[[str], str]]:
    """Return a function that creates a PostgreSQL database with an encoding and returns its URL."""
    server = create_engine(_with_driver(POSTGRES or ""), isolation_level="AUTOCOMMIT")
    name = f"other_{os.getpid()}"  # the tests run in several processes

    def make(encoding: str) -> str:
        with server.connect() as connection:
            connection.execute(
                text(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'")
            )
        return make_url(POSTGRES or "").set(database=name).render_as_string(hide_password=False)

    yield make
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
    server.dispose()


def _with_driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


@pytest.fixture
def new_app(settings: Settings, tmp_path: Path) -> Iterator[APIFlask]:
    """An application whose database file does not exist yet."""
    app = create_app(dataclasses.replace(settings, database_url=f"sqlite:///{tmp_path}/new.sqlite3"))
    yield app
    app.extensions["services"].database.close()


def test_an_upgrade_creates_every_table_and_can_be_repeated(new_app: APIFlask) -> None:
    run = new_app.test_cli_runner().invoke

    first, again = run(commands.group, ["upgrade"]), run(commands.group, ["upgrade", "--json"])

    assert first.stdout == "The database is up to date.\n"
    assert json.loads(again.stdout) == {"upgraded": True}
    tables = set(inspect(new_app.extensions["services"].database.engine).get_table_names())
    assert tables == {*Base.metadata.tables, "alembic_version"}


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
@pytest.mark.filterwarnings("ignore:autogenerate skipping metadata-specified expression-based index")
def test_the_migrations_create_the_tables_of_the_code(new_app: APIFlask) -> None:
    new_app.test_cli_runner().invoke(commands.group, ["upgrade"])

    with new_app.extensions["services"].database.engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), Base.metadata)

    assert differences == []


def test_upgrade_waits_for_the_server_and_prints_the_reason_every_five_seconds(
    upgrade: Upgrade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "time", FakeClock())

    result = upgrade(f"postgresql://nobody:secret@127.0.0.1:{free_port()}/none", "--wait", "12")

    *waiting, last = result.stderr.splitlines()
    assert (result.exit_code, len(waiting)) == (1, 3)  # after 0, 5 and 10 seconds
    assert all(line.startswith("Waiting for the database: connection failed: ") for line in waiting)
    assert last.startswith("Error: The database cannot be used: connection failed: ")
    assert last.endswith("Check DATABASE_URL, and that its server runs.")
    assert "secret" not in result.output


def test_upgrade_does_not_wait_for_a_file_that_cannot_be_opened(upgrade: Upgrade) -> None:
    result = upgrade("sqlite:////nowhere/at/all.sqlite3")

    assert result.exit_code == 1
    assert result.stderr.startswith("Error: The database cannot be used: unable to open database file.")


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        (
            "9999",
            (
                ", which is newer than this version of the service. Install the version that migrated them,"
                " or restore a backup of this version (docs/backup.md)."
            ),
        ),
        (
            "0056",
            (
                ", from before version 0.1.0, and cannot be migrated: recreate the database, or set"
                " DATABASE_URL to an empty one, and run the command again."
            ),
        ),
    ],
)
def test_tables_of_a_version_that_cannot_be_migrated_are_refused_with_what_to_do(
    new_app: APIFlask, revision: str, message: str
) -> None:
    run = new_app.test_cli_runner().invoke
    run(commands.group, ["upgrade"])
    with new_app.extensions["services"].database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :new"), {"new": revision})

    result = run(commands.group, ["upgrade"])

    assert (result.exit_code, result.stderr) == (
        1,
        f"Error: The tables are of revision {revision}{message}\n",
    )


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
@pytest.mark.filterwarnings("ignore:autogenerate skipping metadata-specified expression-based index")
def test_a_migration_is_generated_with_the_next_number_and_runs(
    new_app: APIFlask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = copy_migrations(tmp_path, monkeypatch)
    run = new_app.test_cli_runner().invoke
    run(commands.group, ["upgrade"])
    engine = new_app.extensions["services"].database.engine
    with engine.begin() as connection:
        connection.execute(text("DROP INDEX ix_contacts_company_id_name_key"))

    result = run(commands.group, ["revision", "Index names again"])

    [written] = set(versions.glob("[0-9]*.py")) - {versions / "0100_first_tables.py"}
    assert result.stdout.endswith(f"Wrote {written}. Review it.\n")
    assert written.name == "0101_index_names_again.py"
    assert run(commands.group, ["upgrade"]).exit_code == 0
    assert "ix_contacts_company_id_name_key" in {
        index["name"] for index in inspect(engine).get_indexes("contacts")
    }


@pytest.mark.parametrize(
    "command", [["database", "upgrade"], ["workspaces", "list"], ["credits", "show", "x"]]
)
def test_a_file_that_is_not_a_database_is_reported_with_the_reason(
    settings: Settings, tmp_path: Path, command: list[str]
) -> None:
    file = tmp_path / "other.sqlite3"
    file.write_bytes(os.urandom(5000))
    app = create_app(dataclasses.replace(settings, database_url=f"sqlite:///{file}"))

    with closing(app.extensions["services"].database):
        result = app.test_cli_runner().invoke(args=command)

    assert result.exit_code == 1
    assert result.stderr.startswith("Error: The database cannot be used: file is not a database. ")


def test_a_file_that_another_process_locks_is_reported_with_the_reason(
    new_app: APIFlask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "BUSY_SECONDS", 0)
    database = new_app.extensions["services"].database
    new_app.test_cli_runner().invoke(commands.group, ["upgrade"])

    with closing(sqlite3.connect(database.engine.url.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        result = new_app.test_cli_runner().invoke(commands.group, ["upgrade"])

    assert result.exit_code == 1
    assert result.stderr.startswith("Error: The database cannot be used: database is locked. ")


@needs_postgres
def test_a_server_that_starts_during_the_wait_is_migrated(
    upgrade: Upgrade, another_database: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = make_url(another_database("UTF8"))
    server = Proxy(url.port or 5432)
    port = server.start()
    server.set(Mode.RESET)
    monkeypatch.setattr(commands, "time", FakeClock(on_wait=lambda: server.set(Mode.PASS)))

    result = upgrade(url.set(host="127.0.0.1", port=port).render_as_string(hide_password=False))

    server.stop()
    assert (result.exit_code, result.stdout) == (0, "The database is up to date.\n")
    assert result.stderr.startswith("Waiting for the database: ")


@needs_postgres
def test_a_database_that_is_not_utf8_is_refused_with_what_to_do(
    upgrade: Upgrade, another_database: Callable[[str], str]
) -> None:
    url = another_database("SQL_ASCII")

    result = upgrade(url)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: The database {make_url(url).database!r} has the encoding SQL_ASCII; it must be UTF8. Create"
        " another one and set DATABASE_URL to it: createdb --template=template0 --encoding=UTF8 NAME\n"
    )


def test_a_migration_of_sqlite_that_fails_changes_nothing(tmp_path: Path, upgrade: Upgrade) -> None:
    """Otherwise a second command could continue from the middle of the first."""
    url = f"sqlite:///{tmp_path / 'data.sqlite3'}"
    last = table_versions.revisions()[0]

    def fail(
        _connection: object, _cursor: object, _statement: str, parameters: object, *_more: object
    ) -> None:
        if last in str(parameters) or last in _statement:
            raise RuntimeError("interrupted")

    event.listen(Engine, "before_cursor_execute", fail)
    try:
        result = upgrade(url)
    finally:
        event.remove(Engine, "before_cursor_execute", fail)

    assert str(result.exception) == "interrupted"
    engine = create_engine(url)
    assert inspect(engine).get_table_names() == []
    engine.dispose()


@needs_postgres
def test_two_upgrades_at_once_both_succeed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "flask", "--app", "cli.application:create_app", "database", "upgrade"]
    with empty_database(tmp_path, "shared") as url:
        environment = os.environ | {"DATABASE_URL": url}
        both = [
            subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        outputs = [process.communicate(timeout=120)[0] for process in both]

    assert outputs == ["The database is up to date.\n"] * 2


@needs_postgres
def test_an_upgrade_waits_for_another_one(
    upgrade: Upgrade, another_database: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = another_database("UTF8")
    engine = create_engine(_with_driver(url))
    other = engine.connect()
    other.execute(text(f"SELECT pg_advisory_xact_lock({AdvisoryLock.MIGRATION.value})"))
    clock = FakeClock(on_wait=lambda: other.close() if clock.now >= 7 else None)
    monkeypatch.setattr(commands, "time", clock)

    result = upgrade(url)
    engine.dispose()

    assert (result.exit_code, result.stdout) == (0, "The database is up to date.\n")
    assert result.stderr == "Waiting for another command that migrates the tables.\n" * 2
    assert clock.now == 7
