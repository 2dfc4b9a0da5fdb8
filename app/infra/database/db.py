"""The database engine, its transactions and its column types."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import Any, Protocol

from sqlalchemy import (
    JSON,
    Connection,
    DateTime,
    Dialect,
    Engine,
    LargeBinary,
    MetaData,
    event,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine.interfaces import CoreExecuteOptionsParameter
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator

from app.domain.audit_actions import SYSTEM
from app.domain.errors import Unavailable
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import dialect_keys, engines
from app.infra.database.session import DataSettings, Session
from app.infra.database.transaction_deadlines import limited_to
from app.infra.telemetry import tracing

TRANSACTION_SECONDS = 10.0
"""The default time limit of a transaction; after it, its connection is closed."""
_NOT_MIGRATED = {"42P01", "42703"}
"""PostgreSQL's codes for a table and a column that do not exist: before a migration of this version."""
_DEADLOCK = "40P01"
_RETRY_SECONDS = (0.001, 0.003)
"""The range of the delay between two attempts to lock SQLite."""


class UtcDateTime(TypeDecorator[datetime]):
    """A column of timezone-aware UTC times, independent of how the database stores them."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC; naive times are an error."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("the time must be timezone-aware")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 -- SQLAlchemy's signature
        """Return the time in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


class Base(DeclarativeBase):
    """Base of the tables. It names constraints, so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UtcDateTime, dict[str, Any]: Json, list[Any]: Json, bytes: LargeBinary}  # noqa: RUF012 -- SQLAlchemy reads it so


class _ReadingSession(Session):
    """A session on an open connection, in which a `Statement` starts no transaction of the session."""

    bind: Connection

    def connection(
        self,
        bind_arguments: dict[str, Any] | None = None,
        execution_options: CoreExecuteOptionsParameter | None = None,
    ) -> Connection:
        """Return the connection."""
        if execution_options:
            return super().connection(bind_arguments, execution_options)
        return self.bind


class Database:
    """The engines of a process and its transactions: `engine` for those that write, `reader` for reading.

    `keys` are the keys of the digests and the encrypted columns; code that uses neither needs none.
    `settings` and `actor` are given to its sessions. `seconds` limits each transaction, because other
    processes wait for its locks; None means no limit.
    """

    def __init__(
        self,
        url: str,
        *,
        keys: DigestKeys | None = None,
        settings: DataSettings | None = None,
        seconds: float | None = TRANSACTION_SECONDS,
    ) -> None:
        self.engine = engines.create(url)
        self.keys = keys
        self.settings = settings or DataSettings()
        self.actor = SYSTEM
        self.seconds = seconds
        if self.is_sqlite:
            event.listen(self.engine, "begin", _begin_sqlite)
        # SQLite has one writer. Waiting for a lock in Python lets other threads and greenlets run; waiting
        # inside SQLite would block the whole gevent process.
        self._writer = threading.Lock() if self.is_sqlite else nullcontext()
        self.reader = (
            self.engine.execution_options(sqlite_begin="BEGIN")
            if self.is_sqlite
            else engines.create_reader(url)
        )
        event.listen(self.reader, "before_cursor_execute", _refuse_write)
        if keys is not None:
            for engine in (self.engine, self.reader):
                dialect_keys.set_ring(engine.dialect, keys.ring)

    @property
    def is_sqlite(self) -> bool:
        """Return whether this is the embedded database."""
        return self.engine.dialect.name == "sqlite"

    @property
    def engines(self) -> list[Engine]:
        """The engines that have a pool of connections each."""
        return [self.engine] if self.is_sqlite else [self.engine, self.reader]

    def close(self) -> None:
        """Close the pooled connections; the database opens others if it is used again."""
        for engine in self.engines:
            engine.dispose()

    @contextmanager
    def transaction(self, *, no_deadline: bool = False) -> Iterator[Session]:
        """Open a session, commit at the end, roll back on any error; `no_deadline` lifts the time limit.

        Raises:
            Unavailable: the database cannot be reached, is too busy, or did not answer in time. Nothing was
                written, unless only the reply to the commit was lost.

        """
        with (
            tracing.part("database transaction"),
            self._writer,
            _as_unavailable(),
            limited_to(None if no_deadline else self.seconds),
            Session(self.engine, keys=self.keys, settings=self.settings, actor=self.actor) as session,
            session.begin(),
        ):
            yield session

    @contextmanager
    def reading(self, *, no_deadline: bool = False) -> Iterator[Session]:
        """Open a session that only reads and takes no write lock; `no_deadline` lifts the time limit.

        On PostgreSQL each statement is its own transaction, which saves the round trips of BEGIN and
        ROLLBACK: at READ COMMITTED each statement has its own snapshot anyway.

        Raises:
            Unavailable: the database cannot be reached, or did not answer in time.

        """
        with (
            tracing.part("database read"),
            _as_unavailable(),
            limited_to(None if no_deadline else self.seconds),
            self.reader.connect() as connection,
            _ReadingSession(connection, keys=self.keys, settings=self.settings, actor=self.actor) as session,
        ):
            if self.is_sqlite:
                connection.begin()  # the statements read one snapshot
            yield session


def insert(session: Session, table: type[Base]) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT for the session's database that supports `on_conflict_do_nothing` and `…_update`."""
    return insert_into(session.get_bind().dialect.name, table)


def insert_into(dialect: str, table: type[Base]) -> sqlite.Insert | postgresql.Insert:
    """Return such an INSERT for a dialect, `sqlite` or `postgresql`."""
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


def is_deadlock(error: Unavailable) -> bool:
    """Return whether PostgreSQL rolled the transaction back because of a deadlock."""
    return getattr(getattr(error.__cause__, "orig", None), "sqlstate", None) == _DEADLOCK


@contextmanager
def _as_unavailable() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeoutError) as error:
        raise Unavailable from error
    except DBAPIError as error:
        if error.connection_invalidated or getattr(error.orig, "sqlstate", None) in _NOT_MIGRATED:
            raise Unavailable from error
        raise


class _Executed(Protocol):
    """What observers of an execution are given: the context of SQLAlchemy, or of a `Statement`."""

    isinsert: bool
    isupdate: bool
    isdelete: bool


def _refuse_write(
    _connection: Connection,
    _cursor: object,
    _statement: str,
    _parameters: object,
    context: _Executed,
    _is_many: bool,  # noqa: FBT001 -- SQLAlchemy's signature
) -> None:
    """Refuse a statement that writes: on PostgreSQL it would be committed at once."""
    if context.isinsert or context.isupdate or context.isdelete:
        raise RuntimeError("A reading session cannot write. Use Database.transaction().")


def _begin_sqlite(connection: Connection) -> None:
    """Begin, and wait in Python for a writer in another process: SQLite would block the whole process."""
    begin = connection.get_execution_options().get("sqlite_begin", "BEGIN IMMEDIATE")
    if begin == "BEGIN":  # takes no lock yet
        connection.exec_driver_sql(begin)
        return
    deadline = time.monotonic() + engines.BUSY_SECONDS
    driver: Any = connection.connection.driver_connection
    driver.execute("PRAGMA busy_timeout=0")
    try:
        while True:
            try:
                connection.exec_driver_sql(begin)
            except OperationalError as error:
                busy = getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
                if not busy or time.monotonic() >= deadline:
                    raise
                time.sleep(random.uniform(*_RETRY_SECONDS))  # noqa: S311 -- not a secret
            else:
                return
    finally:
        driver.execute(f"PRAGMA busy_timeout={round(engines.BUSY_SECONDS * 1000)}")
