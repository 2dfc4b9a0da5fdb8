from __future__ import annotations

import socket
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from jobs_support import NOW, a_workspace, at_once, figures
from local_servers import POSTGRES, free_port
from sqlalchemy import Executable, delete, event, insert, select, text, update
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError, StatementError

from app.domain.errors import Unavailable
from app.engine.accounts.workspaces import Workspace
from app.infra.database import db, engines
from app.infra.database.db import Database, UtcDateTime
from app.infra.database.session import Session


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "BUSY_SECONDS", 0.1)


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A second connection to a SQLite database, with an open write transaction, as in another process."""
    file = tmp_path / "busy.sqlite3"
    database = Database(f"sqlite:///{file}")
    db.Base.metadata.create_all(database.engine)
    database.close()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


@pytest.fixture
def another_writer(impatient: None, writing: sqlite3.Connection, tmp_path: Path) -> Iterator[Database]:
    """A SQLite database in which another process holds the write lock."""
    database = Database(f"sqlite:///{tmp_path / 'busy.sqlite3'}")
    yield database
    database.close()


def names(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(Workspace.name)))


def write_and_fail(database: Database) -> None:
    with database.transaction() as session:
        a_workspace(session)
        raise LookupError


def use(database: Database, *, reading: bool = False) -> None:
    with database.reading() if reading else database.transaction() as session:
        session.execute(text("SELECT 1"))


def test_a_transaction_is_committed(database: Database) -> None:
    with database.transaction() as session:
        a_workspace(session)

    assert names(database) == ["Acme"]


def test_a_failed_transaction_is_rolled_back(database: Database) -> None:
    with pytest.raises(LookupError):
        write_and_fail(database)

    assert names(database) == []


def test_rows_can_be_used_after_the_transaction(database: Database) -> None:
    with database.transaction() as session:
        workspace = session.get_one(Workspace, a_workspace(session))

    assert workspace.name == "Acme"


def test_fifty_read_modify_writes_in_each_of_eight_threads_lose_nothing(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=0)

    def count(_number: int) -> None:
        for _ in range(50):
            with database.transaction() as session:
                query = select(Workspace).where(Workspace.id == workspace_id).with_for_update()
                session.scalars(query).one().available += 1

    at_once(8, count)

    with database.reading() as session:
        assert figures(session, workspace_id)[0] == 400


def test_readers_do_not_wait_for_a_writer(database: Database) -> None:
    with database.transaction() as session:
        a_workspace(session)

        assert names(database) == []


def test_a_reading_session_refuses_to_write(database: Database) -> None:
    with pytest.raises(RuntimeError, match="cannot write"), database.reading() as session:
        a_workspace(session)

    assert names(database) == []


@pytest.mark.parametrize(
    "statement",
    [
        update(Workspace).values(name="Other"),
        delete(Workspace),
        insert(Workspace).values(id="wks_1", name="x"),
    ],
)
def test_a_reading_session_refuses_every_kind_of_write(database: Database, statement: Executable) -> None:
    with database.transaction() as session:
        a_workspace(session)

    with pytest.raises(RuntimeError, match="cannot write"), database.reading() as session:
        session.execute(statement)

    assert names(database) == ["Acme"]


@pytest.mark.parametrize("reading", [True, False])
def test_a_database_that_cannot_be_reached_is_unavailable(*, reading: bool) -> None:
    database = Database(f"postgresql://nobody:secret@127.0.0.1:{free_port()}/nothing")

    with pytest.raises(Unavailable):
        use(database, reading=reading)


def test_a_server_that_never_replies_is_unavailable_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "BUSY_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as black_hole:
        port = black_hole.getsockname()[1]
        database = Database(f"postgres://nobody:secret@127.0.0.1:{port}/nothing")

        with pytest.raises(Unavailable):
            use(database)


def test_a_connect_timeout_in_the_url_is_kept() -> None:
    database = Database("postgresql://host/name?connect_timeout=30")

    assert database.engine.url.query["connect_timeout"] == "30"


def test_a_busy_sqlite_is_unavailable(another_writer: Database) -> None:
    with pytest.raises(Unavailable):
        use(another_writer)


def test_waiting_for_another_process_does_not_block_other_threads(
    another_writer: Database, writing: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            writing.rollback()

    monkeypatch.setattr(engines, "BUSY_SECONDS", 60)
    monkeypatch.setattr(db, "time", SimpleNamespace(sleep=nap, monotonic=time.monotonic))

    with another_writer.transaction() as session:
        assert session.execute(text("SELECT 1")).scalar() == 1

    assert len(naps) == 3


def test_a_busy_sqlite_can_still_be_read(another_writer: Database) -> None:
    assert names(another_writer) == []


def test_a_refused_transaction_releases_the_writer_lock(another_writer: Database, tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        use(another_writer)
    other = Database(f"sqlite:///{tmp_path}/free.sqlite3")

    use(other)

    other.close()


def test_a_pool_without_a_free_connection_is_unavailable(
    database: Database, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setting, value in {"POOL_SIZE": 1, "READER_POOL_SIZE": 1, "MAX_OVERFLOW": 0}.items():
        monkeypatch.setattr(engines, setting, value)
    small = Database(database.engine.url.render_as_string(hide_password=False))
    monkeypatch.setattr(small.reader.pool, "_timeout", 0.1)
    if small.is_sqlite:  # one engine for both
        monkeypatch.setattr(small.engine.pool, "_max_overflow", 0)

    with small.reader.connect(), pytest.raises(Unavailable):
        use(small, reading=True)

    small.close()


def test_every_driver_error_of_a_dead_connection_is_unavailable() -> None:
    error = DataError("SELECT 1", None, Exception(), connection_invalidated=True)

    with pytest.raises(Unavailable), db._as_unavailable():  # noqa: SLF001 -- drivers rarely raise this
        raise error


def test_a_constraint_violation_is_not_unavailable(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session)

    with pytest.raises(IntegrityError), database.transaction() as session:
        session.execute(insert(Workspace).values(id=workspace_id, name="Twin", created_at=NOW))


def test_parameters_are_kept_out_of_exceptions(database: Database) -> None:
    query = text("SELECT name FROM workspaces WHERE name = :name AND nothing = 1")

    with pytest.raises(DBAPIError) as refusal, database.engine.connect() as connection:
        connection.execute(query, {"name": "ada@acme.com"})

    assert "SELECT name" in str(refusal.value)
    assert "ada@acme.com" not in str(refusal.value)


def test_the_cause_of_unavailable_is_kept(another_writer: Database) -> None:
    with pytest.raises(Unavailable) as refusal:
        use(another_writer)

    assert isinstance(refusal.value.__cause__, OperationalError)


def test_a_time_is_read_as_aware_utc(session: Session) -> None:
    moment = datetime(2026, 11, 20, 10, 30, 0, 123456, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    workspace_id = a_workspace(session)
    session.get_one(Workspace, workspace_id).created_at = moment
    session.flush()

    created_at = session.scalars(select(Workspace.created_at)).one()

    assert created_at == moment
    assert created_at.tzinfo is UTC


def test_a_naive_time_is_rejected(session: Session) -> None:
    naive = NOW.replace(tzinfo=None)

    with pytest.raises(StatementError, match="the time must be timezone-aware"):
        session.execute(insert(Workspace).values(id="wks_1", name="Acme", created_at=naive))


def test_times_compare_in_the_database_as_in_python(session: Session) -> None:
    workspace_id = a_workspace(session)
    west = NOW.astimezone(timezone(timedelta(hours=-8)))

    rows = session.scalars(select(Workspace.id).where(Workspace.created_at >= west)).all()

    assert rows == [workspace_id]


@pytest.mark.parametrize("name", ["sqlite", "postgresql"])
def test_a_null_time_stays_null(name: str) -> None:
    dialect = next(d for d in (db.sqlite.dialect(), db.postgresql.dialect()) if d.name == name)

    assert UtcDateTime().process_bind_param(None, dialect) is None
    assert UtcDateTime().process_result_value(None, dialect) is None


def test_both_databases_store_utc() -> None:
    local_time = NOW.astimezone(timezone(timedelta(hours=2)))

    assert UtcDateTime().process_bind_param(local_time, db.sqlite.dialect()) == NOW.replace(tzinfo=None)
    assert UtcDateTime().process_bind_param(local_time, db.postgresql.dialect()) == NOW
    assert UtcDateTime().process_result_value(local_time, db.postgresql.dialect()) == NOW


def test_both_databases_have_an_insert_with_on_conflict(database: Database) -> None:
    with database.reading() as session:
        statement = db.insert(session, Workspace)

    module = db.sqlite if database.is_sqlite else db.postgresql
    assert isinstance(statement, module.Insert)


@pytest.mark.usefixtures("production_settings")
def test_sqlite_is_durable_and_overwrites_deleted_data(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/new.sqlite3")

    with database.reading() as session:
        rows = {
            name: session.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        }

    assert rows == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}
    database.close()


def test_sqlite_takes_the_write_lock_at_the_beginning_for_writers_only(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/new.sqlite3")
    statements: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2]))

    use(database)
    use(database, reading=True)

    assert statements == ["BEGIN IMMEDIATE", "SELECT 1", "BEGIN", "SELECT 1"]
    database.close()


@pytest.fixture
def one_connection(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A PostgreSQL database with a pool of one connection, which has been used once."""
    monkeypatch.setattr(engines, "POOL_SIZE", 1)
    small = Database(database.engine.url.render_as_string(hide_password=False))
    use(small)
    yield small
    small.close()


@pytest.mark.skipif(not POSTGRES, reason="SQLite has no connection that could die; see TEST_DATABASE_URL")
def test_a_connection_closed_by_the_server_is_replaced_transparently(
    database: Database, one_connection: Database
) -> None:
    with one_connection.reading() as session:
        number = session.scalar(text("SELECT pg_backend_pid()"))
    with database.transaction() as session:
        session.execute(text("SELECT pg_terminate_backend(:number, 5000)"), {"number": number})

    with one_connection.reading() as session:
        assert session.scalar(text("SELECT pg_backend_pid()")) != number


@pytest.mark.skipif(not POSTGRES, reason="SQLite has no connection that could die; see TEST_DATABASE_URL")
@pytest.mark.parametrize(("idle", "expected"), [(3600.0, []), (0.0, ["SELECT 1"])])
def test_only_a_long_idle_connection_is_tested_with_a_query(
    one_connection: Database, monkeypatch: pytest.MonkeyPatch, idle: float, expected: list[str]
) -> None:
    monkeypatch.setattr(engines, "IDLE_SECONDS", idle)
    statements: list[str] = []
    execute = psycopg.Connection.execute
    monkeypatch.setattr(
        psycopg.Connection, "execute", lambda self, query: (statements.append(query), execute(self, query))[1]
    )

    with one_connection.engine.connect():
        assert statements == expected
