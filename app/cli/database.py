"""`flask database`: bring the tables up to date, and write down a change of them."""

from __future__ import annotations

from pathlib import Path

import click
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from app import migrations
from app.cli.workspaces import Noun, as_json_option, database, show

group = Noun("database", help="Bring the tables up to date.")


@group.command()
@as_json_option
def upgrade(*, as_json: bool) -> None:
    """Make or change the tables so that they fit this version; harmless when they do."""
    with database().engine.connect() as connection:
        command.upgrade(_config(connection), "head")
        connection.commit()
    show({"upgraded": True}, "The database is up to date.", as_json=as_json)


@group.command()
@click.argument("message")
def revision(message: str) -> None:
    """Write a migration called MESSAGE: what the code declares and the tables lack (for developers)."""
    with database().engine.connect() as connection:
        script = command.revision(_config(connection), message, autogenerate=True)
    click.echo(f"Wrote {script.path if script and not isinstance(script, list) else 'nothing'}. Read it.")


def _config(connection: Connection) -> Config:
    """Put Alembic's settings together; there is no alembic.ini."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__path__[0])).replace("%", "%%"))
    config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
    config.attributes["connection"] = connection
    return config
