"""The database engine, its transactions and its column types."""

from __future__ import annotations

import math
import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    URL,
    DateTime,
    Dialect,
    Engine,
    LargeBinary,
    MetaData,
    create_engine,
    event,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, InvalidatePoolError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import DeclarativeBase, Session
from sqlalchemy.types import TypeDecorator

from app.domain.errors import Unavailable
from app.infra.digest_keys import INFO, DigestKeys
from app.infra.encoding import require_utf8
from app.infra.transaction_deadlines import TransactionReaper, limited_to
from app.settings import SettingsError

BUSY_SECONDS = 5
TRANSACTION_SECONDS = 10.0
"""The default time limit of a transaction; after it, its connection is closed."""
POOL_SIZE = 10
IDLE_SECONDS = 30.0
"""A pooled connection that was idle for longer is tested with a query."""
_USED_AT = "used_at"
_RETRY_SECONDS = (0.001, 0.003)
"""The range of the delay between two attempts to lock SQLite."""
# Settings for the server, so that a client that is gone or frozen does not hold its locks for hours.
_SERVER_SIDE = " ".join(
    f"-c {name}={value}"
    for name, value in {
        "idle_in_transaction_session_timeout": "60s",
        "tcp_keepalives_idle": 30,
        "tcp_keepalives_interval": 10,
        "tcp_keepalives_count": 3,
    }.items()
)


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


class Database:
    """The engine of a process and its transactions.

    `keys` are those of the digests in the database; code that makes none needs none. `seconds` limits each
    transaction, because other processes wait for its locks; None means no limit.
    """

    def __init__(
        self, url: str, *, keys: DigestKeys | None = None, seconds: float | None = TRANSACTION_SECONDS
    ) -> None:
        self.engine = _engine(url)
        self.session_info = {} if keys is None else {INFO: keys}
        self.seconds = seconds
        # SQLite has one writer. Waiting for a lock in Python lets other threads and greenlets run; waiting
        # inside SQLite would block the whole gevent process.
        self._writer = threading.Lock() if self.is_sqlite else nullcontext()
        self._reader = (
            self.engine.execution_options(sqlite_begin="BEGIN")
            if self.is_sqlite
            else self.engine.execution_options(postgresql_readonly=True)
        )

    @property
    def is_sqlite(self) -> bool:
        """Return whether this is the embedded database."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def transaction(self, *, no_deadline: bool = False) -> Iterator[Session]:
        """Open a session, commit at the end, roll back on any error; `no_deadline` lifts the time limit.

        Raises:
            Unavailable: the database cannot be reached, is too busy, or did not answer in time. Nothing was
                written, unless only the reply to the commit was lost.

        """
        with (
            self._writer,
            _as_unavailable(),
            limited_to(None if no_deadline else self.seconds),
            Session(self.engine, expire_on_commit=False, info=self.session_info) as session,
            session.begin(),
        ):
            yield session

    @contextmanager
    def reading(self, *, no_deadline: bool = False) -> Iterator[Session]:
        """Open a session that takes no write lock; `no_deadline` lifts the time limit.

        Raises:
            Unavailable: the database cannot be reached, or did not answer in time.

        """
        with (
            _as_unavailable(),
            limited_to(None if no_deadline else self.seconds),
            Session(self._reader, expire_on_commit=False, info=self.session_info) as session,
        ):
            yield session


def insert(session: Session, table: type[Base]) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT for the session's database that supports `on_conflict_do_nothing` and `…_update`."""
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)


@contextmanager
def _as_unavailable() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeoutError) as error:
        raise Unavailable from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise Unavailable from error
        raise


def parsed_url(url: str) -> URL:
    """Return the parsed URL of a database; a bare `postgresql` selects the installed driver.

    Raises:
        SettingsError: it is not a URL, or is that of another kind of database.

    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # the error quotes the URL, which contains a password
        message = (
            "DATABASE_URL is not a URL such as postgresql://user:password@host/database."
            " Write / as %2F, @ as %40 and # as %23 in the password."
        )
        raise SettingsError(message) from None
    if parsed.drivername in {"postgres", "postgresql"}:
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in {"postgresql+psycopg", "sqlite", "sqlite+pysqlite"}:
        raise SettingsError("DATABASE_URL is not of a supported database. Use postgresql:// or sqlite:///")
    return parsed


def _engine(url: str) -> Engine:
    parsed = parsed_url(url)
    if parsed.get_backend_name() != "sqlite":
        # The driver's own limit for connecting is two minutes.
        defaults = {"connect_timeout": str(BUSY_SECONDS), "options": _SERVER_SIDE}
        engine = create_engine(
            parsed.set(query={**defaults, **parsed.query}),
            hide_parameters=True,
            isolation_level="READ COMMITTED",  # conditional updates see the row as it is after a lock wait
            pool_size=POOL_SIZE,
            max_overflow=POOL_SIZE,
            pool_timeout=BUSY_SECONDS,
        )
        event.listen(engine, "connect", require_utf8, insert=True)  # before the first queries of SQLAlchemy
        TransactionReaper(engine)
        event.listen(engine, "checkout", _require_alive)  # within the time limit
        for use in ("connect", "checkin"):
            event.listen(engine, use, _note_use)
        return engine
    engine = create_engine(
        parsed,
        hide_parameters=True,
        connect_args={"check_same_thread": False, "timeout": BUSY_SECONDS},
        pool_size=POOL_SIZE,
    )
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _require_alive(connection: Any, record: Any, _proxy: Any) -> None:  # noqa: ANN401 -- psycopg's connection
    """Check that the pooled connection is alive, without a round trip if it was used recently.

    A server that closes a connection sends a last message and the end of the stream, which are read here
    without blocking. Only a network that drops connections silently, as firewalls do with idle ones,
    requires a query. If a connection fails later, the transaction raises `Unavailable`.

    Raises:
        InvalidatePoolError: the connection is dead; SQLAlchemy replaces it and the rest of the pool.

    """
    idle = time.monotonic() - record.info.get(_USED_AT, -math.inf)
    try:
        connection.pgconn.consume_input()
        connection.pgconn.consume_input()
        if idle > IDLE_SECONDS:
            connection.autocommit = True  # so that the query does not begin a transaction
            connection.execute("SELECT 1")
            connection.autocommit = False
    except connection.Error as error:
        raise InvalidatePoolError from error


def _note_use(_connection: Any, record: Any) -> None:  # noqa: ANN401 -- psycopg's connection
    record.info[_USED_AT] = time.monotonic()


def _configure_sqlite(connection: Any, _record: Any) -> None:  # noqa: ANN401 -- a driver's connection
    connection.isolation_level = None  # the driver would begin transactions implicitly, and too late
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Any) -> None:  # noqa: ANN401 -- a connection of any engine
    """Begin, and wait in Python for a writer in another process: SQLite would block the whole process."""
    begin = connection.get_execution_options().get("sqlite_begin", "BEGIN IMMEDIATE")
    if begin == "BEGIN":  # takes no lock yet
        connection.exec_driver_sql(begin)
        return
    deadline = time.monotonic() + BUSY_SECONDS
    driver = connection.connection.driver_connection
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
        driver.execute(f"PRAGMA busy_timeout={round(BUSY_SECONDS * 1000)}")
