"""The database: one engine and its transactions."""

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
from app.infra.encoding import require_utf8
from app.infra.transaction_deadlines import TransactionReaper, limited_to
from app.settings import SettingsError

BUSY_SECONDS = 5
TRANSACTION_SECONDS = 10.0
"""How long a transaction may last, unless it is known to be long; then its connection is hung up on."""
POOL_SIZE = 10
IDLE_SECONDS = 30.0
"""A connection that was not used for so long is asked whether it still leads anywhere."""
_USED_AT = "used_at"
_RETRY_SECONDS = (0.001, 0.003)
"""Between two looks whether another process has written to SQLite."""
# What the server shall do about a client that is gone or frozen, so that its locks are not held for hours.
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
    """Aware UTC times in, aware UTC times out, whatever the database stores."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive times; store UTC."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time must be aware")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 -- SQLAlchemy's signature
        """Give the time back as UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


class Base(DeclarativeBase):
    """What every table inherits: named constraints, so that migrations can find them again."""

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
    """One engine of a process and its transactions.

    `seconds` is how long a transaction may last on a server that others wait for; None where nobody waits.
    """

    def __init__(self, url: str, *, seconds: float | None = TRANSACTION_SECONDS) -> None:
        self.engine = _engine(url)
        self.seconds = seconds
        # SQLite has one writer. Waiting for it here lets other threads and greenlets run; waiting inside
        # SQLite would stop a whole gevent process.
        self._writer = threading.Lock() if self.is_sqlite else nullcontext()
        self._reader = (
            self.engine.execution_options(sqlite_begin="BEGIN")
            if self.is_sqlite
            else self.engine.execution_options(postgresql_readonly=True)
        )

    @property
    def is_sqlite(self) -> bool:
        """Tell whether this is the embedded database."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def transaction(self, *, no_deadline: bool = False) -> Iterator[Session]:
        """Open a session, commit at the end, roll back on any error; `at_leisure` it may take its time.

        Raises:
            Unavailable: the database cannot be reached, is too busy, or did not answer in time. Nothing was
                written, unless the very last answer, that to the commit, was lost.

        """
        with (
            self._writer,
            _as_unavailable(),
            limited_to(None if no_deadline else self.seconds),
            Session(self.engine, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    @contextmanager
    def reading(self, *, no_deadline: bool = False) -> Iterator[Session]:
        """Open a session that takes no write lock; `at_leisure` it may take its time.

        Raises:
            Unavailable: the database cannot be reached, or did not answer in time.

        """
        with (
            _as_unavailable(),
            limited_to(None if no_deadline else self.seconds),
            Session(self._reader, expire_on_commit=False) as session,
        ):
            yield session


def insert(session: Session, table: type[Base]) -> sqlite.Insert | postgresql.Insert:
    """Begin an INSERT that can say `on_conflict_do_nothing` or `…_update` on the session's database."""
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
    """Read the URL of a database; a bare `postgresql` names the driver that is installed.

    Raises:
        SettingsError: it is not a URL, or of another database.

    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # it quotes pieces, and there is a password in it
        message = (
            "DATABASE_URL is no URL such as postgresql://user:password@host/database."
            " Write / as %2F, @ as %40 and # as %23 in the password."
        )
        raise SettingsError(message) from None
    if parsed.drivername in {"postgres", "postgresql"}:
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in {"postgresql+psycopg", "sqlite", "sqlite+pysqlite"}:
        raise SettingsError(
            "DATABASE_URL names no database that is known here. Write postgresql:// or sqlite:///"
        )
    return parsed


def _engine(url: str) -> Engine:
    parsed = parsed_url(url)
    if parsed.get_backend_name() != "sqlite":
        # The driver's own limit for connecting is two minutes.
        usual = {"connect_timeout": str(BUSY_SECONDS), "options": _SERVER_SIDE}
        engine = create_engine(
            parsed.set(query={**usual, **parsed.query}),
            hide_parameters=True,
            isolation_level="READ COMMITTED",  # conditional updates look again after waiting for a row
            pool_size=POOL_SIZE,
            max_overflow=POOL_SIZE,
            pool_timeout=BUSY_SECONDS,
        )
        event.listen(engine, "connect", require_utf8, insert=True)  # before SQLAlchemy's own first queries
        TransactionReaper(engine)
        event.listen(engine, "checkout", _require_alive)  # under the time limit
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
    """Check that the pooled connection still leads to the server, with no round trip if it was used lately.

    A server that ends a connection says so on the socket, which is read without waiting: first its last
    message, then the end. Only a network that drops connections silently, as firewalls do with idle ones,
    takes a question to find out. Where a connection dies later, the transaction raises `Unavailable`.

    Raises:
        InvalidatePoolError: it does not; SQLAlchemy then makes a new one, and keeps none of the old.

    """
    idle = time.monotonic() - record.info.get(_USED_AT, -math.inf)
    try:
        connection.pgconn.consume_input()
        connection.pgconn.consume_input()
        if idle > IDLE_SECONDS:
            connection.autocommit = True  # or it would begin a transaction
            connection.execute("SELECT 1")
            connection.autocommit = False
    except connection.Error as error:
        raise InvalidatePoolError from error


def _note_use(_connection: Any, record: Any) -> None:  # noqa: ANN401 -- psycopg's connection
    record.info[_USED_AT] = time.monotonic()


def _configure_sqlite(connection: Any, _record: Any) -> None:  # noqa: ANN401 -- a driver's connection
    connection.isolation_level = None  # the driver would open transactions by itself, and too late
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Any) -> None:  # noqa: ANN401 -- a connection of any engine
    """Begin, and wait here for a writer in another process: SQLite would wait with the whole process."""
    begin = connection.get_execution_options().get("sqlite_begin", "BEGIN IMMEDIATE")
    if begin == "BEGIN":  # takes no lock yet
        connection.exec_driver_sql(begin)
        return
    until = time.monotonic() + BUSY_SECONDS
    driver = connection.connection.driver_connection
    driver.execute("PRAGMA busy_timeout=0")
    try:
        while True:
            try:
                connection.exec_driver_sql(begin)
            except OperationalError as error:
                busy = getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
                if not busy or time.monotonic() >= until:
                    raise
                time.sleep(random.uniform(*_RETRY_SECONDS))  # noqa: S311 -- no secret
            else:
                return
    finally:
        driver.execute(f"PRAGMA busy_timeout={round(BUSY_SECONDS * 1000)}")
