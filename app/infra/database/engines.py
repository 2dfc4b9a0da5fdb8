"""The engines of SQLite and PostgreSQL: their settings, and the checks of their connections."""

from __future__ import annotations

import math
import sqlite3
import time
from typing import Any

import psycopg
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import IsolationLevel
from sqlalchemy.exc import ArgumentError, InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from app.infra.database import gevent_connection
from app.infra.database.transaction_deadlines import TransactionReaper
from app.settings import SettingsError

BUSY_SECONDS = 5
POOL_SIZE = 8
READER_POOL_SIZE = 4
MAX_OVERFLOW = 4
"""Connections that a process keeps open for writing and for reading, and opens in addition under load.

All processes of one machine together stay below the 100 connections that PostgreSQL accepts by default.
"""
IDLE_SECONDS = 30.0
"""A pooled connection that was idle for longer is tested with a query."""
PGBOUNCER = "pgbouncer"
"""The parameter of a URL behind which PgBouncer listens; Prisma has the same one."""
_USED_AT = "used_at"
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


def create(url: str) -> Engine:
    """Return an engine for this URL; it does not connect yet."""
    parsed = parsed_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(parsed)
    # At READ COMMITTED, an update sees the row as it is after a lock wait.
    return _postgresql(parsed, "READ COMMITTED", POOL_SIZE, is_pooled=is_behind_pgbouncer(url))


def create_reader(url: str) -> Engine:
    """Return an engine for reading on PostgreSQL: each statement is its own transaction.

    It has its own connections, because switching one between both modes costs more than a short statement.
    """
    return _postgresql(parsed_url(url), "AUTOCOMMIT", READER_POOL_SIZE, is_pooled=is_behind_pgbouncer(url))


def _sqlite(url: URL) -> Engine:
    engine = create_engine(
        url,
        hide_parameters=True,
        connect_args={"check_same_thread": False, "timeout": BUSY_SECONDS},
        pool_size=POOL_SIZE,
    )
    event.listen(engine, "connect", _configure_sqlite)
    return engine


def _configure_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.create_function("unhex", 1, _unhex, deterministic=True)  # built in since SQLite 3.41
    connection.isolation_level = None  # the driver would begin transactions implicitly, and too late
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _unhex(digits: str | None) -> bytes | None:
    return None if digits is None else bytes.fromhex(digits)


def _postgresql(url: URL, isolation_level: IsolationLevel, pool_size: int, *, is_pooled: bool) -> Engine:
    # The driver's own limit for connecting is two minutes.
    defaults = {"connect_timeout": str(BUSY_SECONDS)} | ({} if is_pooled else {"options": _SERVER_SIDE})
    engine = create_engine(
        url.set(query={**defaults, **url.query}),
        # With PgBouncer, the next transaction may have another connection to the server, which does not know
        # what was prepared; and PgBouncer refuses settings of a connection.
        connect_args={"prepare_threshold": None} if is_pooled else {},
        hide_parameters=True,
        isolation_level=isolation_level,
        skip_autocommit_rollback=True,
        pool_size=pool_size,
        max_overflow=MAX_OVERFLOW,
        pool_timeout=BUSY_SECONDS,
        pool_use_lifo=True,  # the connection used last has the statements prepared
    )
    gevent_connection.use(engine)
    event.listen(engine, "connect", require_utf8, insert=True)  # before the first queries of SQLAlchemy
    TransactionReaper(engine)
    event.listen(engine, "checkout", _require_alive)  # within the time limit
    for use in ("connect", "checkin"):
        event.listen(engine, use, _record_use)
    return engine


def is_behind_pgbouncer(url: str) -> bool:
    """Return whether the URL has `pgbouncer=true`: each transaction may use another server connection."""
    return make_url(url).query.get(PGBOUNCER) == "true"


def parsed_url(url: str) -> URL:
    """Return the parsed URL of a database; a bare `postgresql` selects the installed driver.

    The parameter `pgbouncer`, which no driver knows, is left out.

    Raises:
        SettingsError: it is not a URL, or names another kind of database.

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
    return parsed.difference_update_query([PGBOUNCER])


def require_utf8(connection: psycopg.Connection[Any], _record: object) -> None:
    """Reject a database that cannot store every name; the server reports its encoding at connection.

    Raises:
        SettingsError: the encoding is not UTF8.

    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding == "UTF8":
        return
    name = connection.info.dbname
    connection.close()
    message = (
        f"The database {name!r} has the encoding {encoding}; it must be UTF8. Create another one"
        " and set DATABASE_URL to it: createdb --template=template0 --encoding=UTF8 NAME"
    )
    raise SettingsError(message)


def _require_alive(connection: psycopg.Connection[Any], record: ConnectionPoolEntry, _proxy: object) -> None:
    """Check that the pooled connection is alive, without a round trip if it was used recently.

    A server that closes a connection sends a last message and the end of the stream, which are read here
    without blocking. Only a network that drops connections silently, as firewalls do with idle ones,
    requires a query. SQLAlchemy replaces a dead connection and the rest of the pool. If a connection fails
    later, the transaction raises `Unavailable`.
    """
    idle = time.monotonic() - record.info.get(_USED_AT, -math.inf)
    try:
        connection.pgconn.consume_input()  # the last message,
        connection.pgconn.consume_input()  # and the end of the stream, which raises
        if idle > IDLE_SECONDS:
            mode = connection.autocommit
            connection.autocommit = True  # so that the query does not begin a transaction
            connection.execute("SELECT 1")
            connection.autocommit = mode
    except connection.Error as error:
        raise InvalidatePoolError from error


def _record_use(_connection: object, record: ConnectionPoolEntry) -> None:
    record.info[_USED_AT] = time.monotonic()
