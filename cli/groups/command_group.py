"""The command groups that use the database: its errors, and output as text or as JSON."""

from __future__ import annotations

import errno
import json
import sqlite3
from typing import Any

import click
from flask.cli import AppGroup
from sqlalchemy.exc import DatabaseError, OperationalError, ProgrammingError

from app.domain.errors import JournalUnwritable, Unavailable
from app.infra.crypto.encryption import Undecryptable
from app.infra.database.db import Database
from app.settings import SettingsError
from app.web.services import services
from cli.groups.command_records import recorded

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")


class DatabaseGroup(AppGroup):
    """A command group that records its commands, and reports an unusable database as a message."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, which the audit log will record."""
        if cmd.callback is not None:
            cmd.callback = recorded(f"{self.name}.{name or cmd.name}", cmd.callback)
        super().add_command(cmd, name)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (Unavailable, OperationalError, ProgrammingError) as error:
            raise click.ClickException(unusable(error)) from error
        except DatabaseError as error:
            if type(error) is not DatabaseError:  # a subclass is a defect
                raise
            raise click.ClickException(unusable(error)) from error
        except JournalUnwritable as error:
            message = (
                "The file in SUPPRESSION_JOURNAL cannot be written, so nothing was suppressed. "
                "Create its folder, let this user write to it, and repeat the command."
            )
            raise click.ClickException(message) from error
        except (SettingsError, Undecryptable) as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # click ends the command without a message
                raise
            message = f"{error.filename or 'A file'} cannot be used: {error.strerror}."
            raise click.ClickException(message) from error


def unusable(error: Exception) -> str:
    """Return a sentence that the database cannot be used, with the reason that SQLite or the server gave.

    The reason of a failed connection is left out: it can quote parts of the URL.
    """
    fault = error.__cause__ if isinstance(error, Unavailable) else error
    orig = getattr(fault, "orig", None)
    is_quoted = isinstance(orig, sqlite3.Error) or getattr(orig, "sqlstate", None) is not None
    reason = f": {str(orig).partition(chr(10))[0]}" if is_quoted else ""
    return (
        f"The database cannot be used{reason}. Is it running, and does it have its tables? See: flask doctor"
    )


def show(body: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Print the body as JSON, or the text."""
    click.echo(json.dumps(body) if as_json else text)


def database() -> Database:
    """Return the application's database, without a statement deadline: commands may run long."""
    application_database = services().database
    application_database.seconds = None
    return application_database
