"""`flask database`: migrate the tables, and generate a migration."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, event, func, select
from sqlalchemy.exc import OperationalError

from app import migrations
from app.infra.database import table_versions
from app.infra.database.advisory_locks import AdvisoryLock
from app.infra.database.db import Database
from app.settings import SettingsError
from cli import database_move
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.tables import table

RETRY_SECONDS = 1.0
MESSAGE_INTERVAL_SECONDS = 5.0
LOCK_SECONDS = 2.0
"""How long a migration on PostgreSQL waits for a lock: requests that need the table wait behind it."""
LOCK_ATTEMPTS = 30
FROM_STDIN = "-"
_LOCK_FAULTS = {"55P03", "40P01"}  # lock_not_available, deadlock_detected

group = DatabaseGroup("database", help="Migrate the tables, or move them to PostgreSQL.")


@group.command()
@click.option(
    "--wait",
    "seconds",
    type=click.FloatRange(min=0),
    default=60,
    show_default=True,
    help="Seconds to wait for a PostgreSQL server that does not accept connections yet.",
)
@as_json_option
def upgrade(*, seconds: float, as_json: bool) -> None:
    """Migrate the tables to this version; does nothing if they are up to date."""
    migrate(database(), seconds)
    show({"upgraded": True}, "The database is up to date.", as_json=as_json)


def _target(url: str) -> Database:
    """Return the database of `--to`."""
    try:
        return Database(url, seconds=None)
    except SettingsError as error:
        raise click.ClickException(_of_target(str(error))) from None


def _migrate_target(target: Database) -> None:
    """Create the tables of the target."""
    try:
        migrate(target)
    except click.ClickException as error:
        raise click.ClickException(_of_target(error.message)) from error
    except SettingsError as error:  # of another encoding
        raise click.ClickException(_of_target(str(error))) from error


def _of_target(message: str) -> str:
    return message.replace("DATABASE_URL", "TARGET_DATABASE_URL")


@group.command()
@click.option(
    "--to",
    "url",
    required=True,
    envvar="TARGET_DATABASE_URL",
    help="URL of an empty PostgreSQL database; - reads it from standard input. Default: TARGET_DATABASE_URL."
    " Other users see arguments, so a password belongs into one of these, or into PGPASSWORD.",
)
@as_json_option
def move(*, url: str, as_json: bool) -> None:
    """Move the data of a SQLite database to PostgreSQL, and compare the rows of each table.

    Stop the service before. The SQLite database is only read; meanwhile nothing can write to it. If the move
    is interrupted, nothing was moved, and it can be started again.
    """
    if url == FROM_STDIN:
        url = sys.stdin.readline().strip()
    source, target = database(), _target(url)
    try:
        database_move.require_kinds(source, target)
        _migrate_target(target)
        copies = database_move.move(source, target, table_versions.revisions()[0], quiet=as_json)
    finally:
        target.close()
    rows = [(copy.name, f"{copy.rows:,}", copy.checksum) for copy in copies if copy.rows]
    moved = f"Moved {sum(copy.rows for copy in copies):,} rows."
    listed = table(("table", "rows", "checksum of both"), rows)
    text = f"{listed}\n\n{moved} Set DATABASE_URL to the new database."
    show({"tables": [asdict(copy) for copy in copies]}, text, as_json=as_json)


@group.command()
@click.argument("message")
def revision(message: str) -> None:
    """Generate a migration named MESSAGE from the difference between code and tables (for developers)."""
    with database().engine.connect() as connection:
        number = f"{int(table_versions.revisions()[0]) + 1:04}"
        script = command.revision(_config(connection), message, autogenerate=True, rev_id=number)
    click.echo(f"Wrote {script.path if script and not isinstance(script, list) else 'nothing'}. Review it.")


def migrate(database: Database, seconds: float = 0) -> None:
    """Migrate the tables to this version, while processes of the previous version use them.

    On PostgreSQL each migration is a transaction that waits two seconds for a lock at most, so that requests
    are not delayed for longer. If a lock is not free, the migration is rolled back and tried again. A second
    command waits until the first has migrated the tables.

    Raises:
        ClickException: the server accepted no connection within `seconds`, a table stayed locked, or the
            tables are of a later version, or of one before 0.1.0.

    """
    with _connect(database, seconds) as connection:
        _require_upgradable(_revision(connection))
        if database.is_sqlite:
            command.upgrade(_config(connection), "head")
            connection.commit()
            return
        event.listen(connection, "begin", _limit_lock_waits)
        with _migration_lock(database):
            _migrate_between_locks(connection)


def _limit_lock_waits(connection: Connection) -> None:
    """Limit the lock waits of this transaction only: PgBouncer gives the connection to others afterwards."""
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {round(LOCK_SECONDS * 1000)}")


@contextmanager
def _migration_lock(database: Database) -> Iterator[None]:
    """Wait until no other command migrates the tables; then keep others waiting.

    The lock is tried in short transactions, and held by one without a snapshot, because the creation of an
    index waits for snapshots. It belongs to a transaction, because behind PgBouncer there are no sessions.
    """
    due = time.monotonic() + RETRY_SECONDS
    with database.engine.connect() as connection:
        while not _try_migration_lock(connection):
            connection.rollback()
            if time.monotonic() >= due:
                due = time.monotonic() + MESSAGE_INTERVAL_SECONDS
                click.echo("Waiting for another command that migrates the tables.", err=True)
            time.sleep(RETRY_SECONDS)
        yield


def _try_migration_lock(connection: Connection) -> bool:
    is_locked = bool(connection.scalar(select(func.pg_try_advisory_xact_lock(AdvisoryLock.MIGRATION.value))))
    # A migration may take longer, and this statement releases the snapshot of the one before.
    connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
    return is_locked


def _revision(connection: Connection) -> str | None:
    """Return the revision of the tables, in a transaction of its own; None if there are none."""
    revision = MigrationContext.configure(connection).get_current_revision()
    connection.rollback()
    return revision


def _require_upgradable(revision: str | None) -> None:
    if revision is None:
        return
    if table_versions.is_newer(revision):
        message = (
            f"The tables are of revision {revision}, which is newer than this version of the service. Install"
            " the version that migrated them, or restore a backup of this version (docs/backup.md)."
        )
        raise click.ClickException(message)
    if table_versions.is_unreleased(revision):
        message = (
            f"The tables are of revision {revision}, from before version 0.1.0, and cannot be migrated:"
            " recreate the database, or set DATABASE_URL to an empty one, and run the command again."
        )
        raise click.ClickException(message)


def _migrate_between_locks(connection: Connection) -> None:
    for attempt in range(1, LOCK_ATTEMPTS + 1):
        try:
            command.upgrade(_config(connection), "head")
            connection.commit()
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) not in _LOCK_FAULTS:
                raise
            connection.rollback()
            click.echo(
                f"Waiting for a table that is locked (attempt {attempt} of {LOCK_ATTEMPTS}).", err=True
            )
            time.sleep(RETRY_SECONDS)
        else:
            return
    message = (
        "A table stayed locked by another transaction. What was migrated so far is kept. End that transaction"
        " (pg_stat_activity lists it), and run the command again."
    )
    raise click.ClickException(message)


def _connect(database: Database, seconds: float) -> Connection:
    """Connect to the database; wait for its server and report the reason every few seconds."""
    due = started = time.monotonic()
    while True:
        try:
            return database.engine.connect()
        except OperationalError as error:
            reason = str(error.orig).partition("\n")[0]
        now = time.monotonic()
        if database.is_sqlite or now - started >= seconds:
            message = f"The database cannot be used: {reason}. Check DATABASE_URL, and that its server runs."
            raise click.ClickException(message)
        if now >= due:
            due = now + MESSAGE_INTERVAL_SECONDS
            click.echo(f"Waiting for the database: {reason}", err=True)
        time.sleep(RETRY_SECONDS)


def _config(connection: Connection) -> Config:
    """Return Alembic's configuration; there is no alembic.ini."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__path__[0])).replace("%", "%%"))
    config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
    config.attributes["connection"] = connection
    return config
