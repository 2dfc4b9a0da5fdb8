"""Checks of the database: reachable, UTF-8, migrated to this version, and its clock."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from sqlalchemy import URL

from app.infra.database import database_clock, table_versions
from app.infra.database.db import Database
from app.infra.database.engines import parsed_url, require_utf8
from app.settings import SettingsError
from cli.checks import clocks
from cli.checks.findings import Finding, error, note, ok, warning

SUBJECT = "database"
TABLES = "tables"
CONNECT_SECONDS = 5
UPGRADE = "run: flask database upgrade"
RECREATE = "recreate the database, and run: flask database upgrade"
_REFUSALS = {
    "password authentication failed": ("refuses the user or password", "correct them in DATABASE_URL"),
    "no password supplied": (
        "needs a password",
        "add it to DATABASE_URL: postgresql://user:password@host/name",
    ),
    "does not exist": (
        "has no such database or user",
        "create them, see docs/install.md; the database with ENCODING 'UTF8' TEMPLATE template0",
    ),
    "no pg_hba.conf entry": (
        "does not accept this user from this host",
        "allow it in the server's pg_hba.conf",
    ),
    "too many": ("has no free connection", "raise the server's max_connections"),
    "starting up": ("is starting", "wait a moment"),
}
_UNREACHABLE = ("cannot be reached", "start it, and compare host and port in DATABASE_URL")


def findings(url: str) -> Iterator[Finding]:
    """Check the database of this URL; writes nothing."""
    try:
        parsed = parsed_url(url)
    except SettingsError as fault:
        state, _, remedy = str(fault).removeprefix("DATABASE_URL ").partition(". ")
        yield error("DATABASE_URL", state, remedy)
        return
    yield from (_sqlite(parsed) if parsed.get_backend_name() == "sqlite" else _postgresql(parsed))


def _sqlite(url: URL) -> Iterator[Finding]:
    file = Path(url.database or ":memory:")
    if str(file) == ":memory:":
        yield error(
            SUBJECT,
            "is in memory and lost when the process ends",
            "name a file or PostgreSQL in DATABASE_URL",
        )
        return
    if not file.exists():
        yield error(SUBJECT, "the SQLite file does not exist yet", UPGRADE)
        return
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master")
            yield ok(SUBJECT, "SQLite, for one machine")
            yield _revision(connection, sqlite3.Error)
    except sqlite3.Error:
        yield error(
            SUBJECT,
            "the SQLite file cannot be read",
            "make it readable, correct DATABASE_URL, or move the file away and restore a backup",
        )


def _postgresql(url: URL) -> Iterator[Finding]:
    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        connection = psycopg.connect(address, autocommit=True, connect_timeout=CONNECT_SECONDS)
    except psycopg.Error as refusal:
        yield error(SUBJECT, *_refused(refusal))
        return
    with connection:
        try:
            require_utf8(connection, None)
        except SettingsError as fault:
            state, _, remedy = str(fault).partition(". ")
            yield error(SUBJECT, state, remedy)
            return
        yield ok(SUBJECT, f"PostgreSQL {connection.info.server_version // 10000}, UTF-8")
        yield clocks.clock_finding("the database", _clock_offset(url))
        found = _revision(connection, psycopg.Error)
        yield found
        yield from _rights(connection, creates_tables=found.remedy == UPGRADE)


def _clock_offset(url: URL) -> float:
    database = Database(url.render_as_string(hide_password=False))
    try:
        with database.reading() as session:
            return database_clock.offset(session)
    finally:
        database.close()


def _refused(refusal: psycopg.Error) -> tuple[str, str]:
    """Describe a refusal without quoting it: drivers quote parts of the URL."""
    text = str(refusal)
    return next(
        (description for fragment, description in _REFUSALS.items() if fragment in text), _UNREACHABLE
    )


def _revision(connection: sqlite3.Connection | psycopg.Connection[Any], failure: type[Exception]) -> Finding:
    """Compare the revision of the tables with the migrations that this version has."""
    try:
        rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    except failure:
        rows = []
    if not rows:
        return error(TABLES, "there are none yet", UPGRADE)
    revision = str(rows[0][0])
    if table_versions.is_newer(revision):
        return error(
            TABLES, f"of revision {revision}, which is newer than this version", "install that version"
        )
    if table_versions.is_unreleased(revision):
        return error(TABLES, f"of revision {revision}, from before version 0.1.0", RECREATE)
    revisions = table_versions.revisions()
    behind = revisions.index(revision)
    if behind:
        return error(TABLES, f"of revision {revision}, {behind} behind {revisions[0]}", UPGRADE)
    return ok(TABLES, f"of revision {revision}, the latest")


def _rights(connection: psycopg.Connection[Any], *, creates_tables: bool) -> Iterator[Finding]:
    """Check that the user may create tables, as since PostgreSQL 15 only the owner may, and databases."""
    if creates_tables and not _value(connection, "SELECT has_schema_privilege(current_schema(), 'CREATE')"):
        yield warning(
            "database user",
            "may not create tables",
            "as an administrator: ALTER DATABASE … OWNER TO that user",
        )
    elif not _value(connection, "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"):
        yield note(
            "database user",
            "may not create databases, as flask backup verify does",
            "as an administrator: ALTER USER … CREATEDB; or name another server with --on",
        )


def _value(connection: psycopg.Connection[Any], query: LiteralString) -> object:
    row = connection.execute(query).fetchone()
    return row and row[0]
