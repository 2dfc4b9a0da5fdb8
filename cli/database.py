"""`flask database`: migrate the tables, and generate a migration."""

from __future__ import annotations

import time
from pathlib import Path

import click
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from app import migrations
from app.infra.db import Database
from cli.command_group import DatabaseGroup, as_json_option, database, show

RETRY_SECONDS = 1.0
MESSAGE_INTERVAL_SECONDS = 5.0

group = DatabaseGroup("database", help="Migrate the tables.")


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
    with _connect(database(), seconds) as connection:
        command.upgrade(_config(connection), "head")
        connection.commit()
    show({"upgraded": True}, "The database is up to date.", as_json=as_json)


@group.command()
@click.argument("message")
def revision(message: str) -> None:
    """Generate a migration named MESSAGE from the difference between code and tables (for developers)."""
    with database().engine.connect() as connection:
        script = command.revision(_config(connection), message, autogenerate=True)
    click.echo(f"Wrote {script.path if script and not isinstance(script, list) else 'nothing'}. Review it.")


def _connect(database: Database, seconds: float) -> Connection:
    """Connect to the database; wait for its server and report the reason every few seconds.

    Raises:
        ClickException: the server accepted no connection within `seconds`.

    """
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
