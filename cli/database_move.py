"""Moves the data of a SQLite database to an empty PostgreSQL database."""

from __future__ import annotations

from collections.abc import Sequence

import click
from alembic.runtime.migration import MigrationContext
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError

from app.infra.database import table_copies
from app.infra.database.db import Base, Database
from app.infra.database.session import Session
from app.infra.database.table_copies import TableCopy, TableDiffers
from app.infra.database.table_versions import REVISION_TABLE


def move(source: Database, target: Database, latest: str, *, quiet: bool) -> Sequence[TableCopy]:
    """Copy every table to a migrated database, in one transaction, while the source is locked for writers.

    If anything fails or the command is interrupted, the target stays empty, and the move can start again.
    """
    with source.engine.connect() as reading, Session(target.engine) as writing, writing.begin():
        revision = MigrationContext.configure(reading).get_current_revision()
        if revision != latest:
            message = (
                f"The database is of revision {revision}, not {latest}. Run first: flask database upgrade"
            )
            raise click.ClickException(message)
        unknown = set(inspect(reading).get_table_names()) ^ {*Base.metadata.tables, REVISION_TABLE}
        if unknown:
            message = f"These tables are not those of this version: {', '.join(sorted(unknown))}."
            raise click.ClickException(message)
        if table_copies.count_rows(writing.connection()):
            raise click.ClickException("The target has rows. Name an empty database.")
        with _progress(quiet=quiet) as progress:
            bar = progress.add_task("", total=table_copies.count_rows(reading))
            try:
                copies = table_copies.copy_all(
                    reading,
                    writing,
                    lambda table, rows: progress.update(bar, advance=rows, description=table),
                )
            except TableDiffers as error:
                message = f"The copy of the table {error} has other rows. Nothing was moved."
                raise click.ClickException(message) from error
            except DBAPIError as error:
                name = type(error.orig).__name__
                raise click.ClickException(
                    f"PostgreSQL refused a row ({name}). Nothing was moved."
                ) from error
    with target.engine.begin() as connection:
        connection.execute(text("ANALYZE"))
    return copies


def require_kinds(source: Database, target: Database) -> None:
    """Check that the source is SQLite and the target PostgreSQL."""
    if not source.is_sqlite:
        message = "DATABASE_URL already names PostgreSQL. To copy it to another server, use flask backup."
        raise click.ClickException(message)
    if target.is_sqlite:
        raise click.ClickException(
            "The target must be PostgreSQL: TARGET_DATABASE_URL=postgresql://user:password@host/database"
        )


def _progress(*, quiet: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)
