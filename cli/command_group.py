"""The command groups that use the database: its errors, and output as text or as JSON."""

from __future__ import annotations

import json
from typing import Any

import click
from flask.cli import AppGroup
from sqlalchemy.exc import ProgrammingError

from app.api.http.services import services
from app.domain.errors import Unavailable
from app.infra.db import Database
from app.settings import SettingsError

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")


class DatabaseGroup(AppGroup):
    """A command group that reports an unusable database as a message, not as a traceback."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 -- click's signature
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (Unavailable, ProgrammingError) as error:
            message = "The database cannot be used. Is it running, and does it have its tables?"
            raise click.ClickException(message) from error
        except SettingsError as error:
            raise click.ClickException(str(error)) from error


def show(body: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Print the body as JSON, or the text."""
    click.echo(json.dumps(body) if as_json else text)


def database() -> Database:
    """Return the application's database, without a statement deadline: commands may run long."""
    application_database = services().database
    application_database.seconds = None
    return application_database
