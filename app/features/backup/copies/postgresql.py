"""Dumps and restores a PostgreSQL database with `pg_dump` and `pg_restore`, in their custom format."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import psycopg
from psycopg import sql
from sqlalchemy import URL

from app.features.backup.copies import programs
from app.features.backup.copies.archive import BackupError, Readable, Sink
from app.features.backup.copies.snapshots import NO_TABLES, Snapshot, tables_of
from app.infra.database.table_versions import REVISION_TABLE

_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
_FUNCTIONS = """
    SELECT oid::regprocedure::text FROM pg_proc
    WHERE pronamespace = current_schema()::regnamespace AND prokind = 'f'
      AND oid NOT IN (SELECT objid FROM pg_depend WHERE deptype = 'e')
"""
_ENDING_SECONDS, _PAUSE_SECONDS = 2.0, 0.05
_CONNECTIONS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


@contextmanager
def snapshot(url: URL) -> Iterator[Snapshot]:
    """Dump the database as it is now, while the service runs; its rows are counted in the same snapshot."""
    with connected(url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        name, taken_at = connection.execute("SELECT pg_export_snapshot(), now()").fetchone() or ("", None)
        rows = _rows(connection)
        query = sql.SQL("SELECT version_num FROM {}").format(sql.Identifier(REVISION_TABLE))
        revision = (connection.execute(query).fetchone() or (NO_TABLES,))[0]
        server = f"PostgreSQL {connection.info.server_version // 10000}"
        command = [programs.find("pg_dump"), "--format=custom", f"--snapshot={name}", "--no-password"]
        command += ["--no-owner", "--no-privileges", f"--dbname={programs.address(url)}"]
        with programs.running(command, programs.environment(url), stdout=subprocess.PIPE) as process:
            dump = _Output(process)
            yield Snapshot(taken_at, server, str(revision), rows, dump)


@contextmanager
def loading(url: URL) -> Iterator[Sink]:
    """Load the dump that the block writes, in one transaction, into a database without tables."""
    command = [programs.find("pg_restore"), "--single-transaction", "--exit-on-error", "--no-password"]
    command += ["--no-owner", "--no-privileges", f"--dbname={programs.address(url)}"]
    with programs.running(command, programs.environment(url), stdin=subprocess.PIPE) as process:
        yield _Input(process)


def count_rows(url: URL) -> dict[str, int]:
    """Return the number of rows by table; empty if there are no tables."""
    with connected(url) as connection:
        try:
            return _rows(connection)
        except BackupError:
            return {}


def count_connections(url: URL) -> int:
    """Return how many clients are connected to the database, and stay so.

    The server needs a moment to end the process of a connection that was closed, such as our own.
    """
    deadline = time.monotonic() + _ENDING_SECONDS
    with connected(url) as connection:
        connection.autocommit = True  # a transaction would see the same activity until its end
        while True:
            count = int((connection.execute(_CONNECTIONS).fetchone() or (0,))[0])
            if not count or time.monotonic() >= deadline:
                return count
            time.sleep(_PAUSE_SECONDS)


def clear(url: URL) -> None:
    """Drop every table and every function of the schema."""
    with connected(url) as connection:
        for (name,) in connection.execute(_TABLES).fetchall():
            connection.execute(sql.SQL("DROP TABLE {} CASCADE").format(sql.Identifier(name)))
        for (signature,) in connection.execute(_FUNCTIONS).fetchall():
            connection.execute(sql.SQL("DROP FUNCTION {} CASCADE").format(sql.SQL(signature)))


@contextmanager
def scratch_database(url: URL, name: str) -> Iterator[URL]:
    """Create an empty database on the same server for the time of the block."""
    database = sql.Identifier(name)
    create = sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(database)
    with connected(url) as connection:
        connection.autocommit = True
        try:
            connection.execute(create)
        except psycopg.errors.InsufficientPrivilege:
            message = (
                "The database user may not create a database to verify in. Name a server for it with --on, or"
                " allow it: ALTER ROLE … CREATEDB"
            )
            raise BackupError(message) from None
        try:
            yield url.set(database=name)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))


@contextmanager
def connected(url: URL) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """Connect without the time limits of the service, because a dump may take hours.

    The message of a failure does not quote the URL, which contains the password.
    """
    try:
        connection = psycopg.connect(programs.address(url), password=url.password)
    except psycopg.OperationalError:
        message = "The database cannot be reached. Check DATABASE_URL, and that its server runs: flask doctor"
        raise BackupError(message) from None
    with connection:
        yield connection


def _rows(connection: psycopg.Connection[tuple[Any, ...]]) -> dict[str, int]:
    stored = {str(name) for (name,) in connection.execute(_TABLES)}
    count = sql.SQL("SELECT count(*) FROM {}")
    return {
        name: int((connection.execute(count.format(sql.Identifier(name))).fetchone() or (0,))[0])
        for name in tables_of(stored)
    }


class _Output:
    """The output of a program; its end is reported only after the program has succeeded."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def read(self, size: int = -1) -> bytes:
        output = cast("Readable", self._process.stdout)
        piece = output.read(size)
        if not piece and self._process.wait():
            raise programs.ProgramEnded
        return piece


class _Input:
    """The input of a program."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def write(self, piece: bytes) -> None:
        cast("Sink", self._process.stdin).write(piece)
