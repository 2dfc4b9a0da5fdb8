"""`flask contacts import --queue` and `flask companies import --queue`: workers import the list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from sqlalchemy.exc import IntegrityError

from app.domain.errors import InvalidValue
from app.domain.lists.headers.column_mapping import Entity, check_mapping
from app.features.imports import import_folder, queued_imports
from app.features.imports.queued_imports import QueuedOptions
from app.infra.database import database_clock
from app.web.services import services
from cli.groups.command_group import database, show
from cli.lists import import_files
from cli.lists.import_mode import ImportMode

_NOT_QUEUED = {"rejects": "--rejects", "dry_run": "--dry-run", "sheet": "--sheet"}


def enqueue(entity: Entity, file: str, options: dict[str, Any], *, as_json: bool) -> None:
    """Copy the file into the import folder with its options, and print the id of the import."""
    folder = services().settings.import_folder
    if not folder:
        raise click.ClickException("IMPORT_FOLDER is not set. Set it for this command and the workers.")
    unfit = [flag for name, flag in _NOT_QUEUED.items() if options.pop(name)]
    if unfit:
        message = f"{', '.join(unfit)} cannot be used with --queue."
        raise click.UsageError(message)
    name = "standard-input.csv" if file == "-" else Path(file).name
    if not import_folder.is_list_name(name):
        endings = ", ".join(import_folder.SUFFIXES)
        message = (
            f"Only files with these endings are queued: {endings}. Rename the file, or leave out --queue."
        )
        raise click.ClickException(message)
    try:
        import_id = _add(entity, folder, file, name, options)
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    except (FileExistsError, IntegrityError) as error:
        message = f"The folder has a file {name} already. Wait until it is imported, or rename yours."
        raise click.ClickException(message) from error
    except OSError as error:
        message = f"The folder {folder} cannot be used: {error.strerror}."
        raise click.ClickException(message) from error
    show(
        {"import_id": import_id}, f"Queued {import_id}. Its progress: flask contacts imports", as_json=as_json
    )


def _add(entity: Entity, path: str, file: str, name: str, options: dict[str, Any]) -> str:
    at = options.pop("at")
    queued = QueuedOptions(at=None if at is None else at.isoformat(), **options)
    check_mapping(queued.mapped)
    with import_files.opened(file) as source, import_folder.opened(path) as folder:
        staged = folder.stage(name, source)
        with database().transaction() as session:
            import_id = queued_imports.add(session, staged, entity, queued, now=database_clock.now())
            folder.reveal(name)
    return import_id


IMPORT_MODES = (ImportMode("queue", help="Let the workers import the CSV file.", run=enqueue),)
