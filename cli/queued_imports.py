"""`flask contacts import --queue` and `flask contacts imports`: lists that workers import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from flask.cli import with_appcontext
from sqlalchemy.exc import IntegrityError

from app.domain.errors import InvalidValue
from app.domain.lists.headers.column_mapping import Entity, check_mapping
from app.engine.lists import queued_imports
from app.engine.lists.queued_imports import QueuedImport, QueuedOptions
from app.infra import import_folder
from app.infra.clock import rfc3339
from app.infra.database import database_clock
from app.web.services import services
from cli import import_files
from cli.command_group import as_json_option, database, show
from cli.tables import table

MAX_LISTED = 100
COLUMNS = ("id", "status", "done", "rows", "new", "updated", "unchanged", "rejected", "suppressed", "file")
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


@click.command("imports")
@as_json_option
@with_appcontext
def list_imports(*, as_json: bool) -> None:
    """List the imports that workers run, newest first, with their progress."""
    with database().reading() as session:
        rows = [_to_json(row) for row in queued_imports.latest(session, limit=MAX_LISTED)]
    lines = [[_cell(row, column) for column in COLUMNS] for row in rows]
    none = "No import is queued. Queue one with: flask contacts import FILE --queue"
    show({"imports": rows}, table(COLUMNS, lines) if rows else none, as_json=as_json)


def _to_json(row: QueuedImport) -> dict[str, Any]:
    return {
        "id": row.id,
        "file": row.file,
        "entity": row.entity,
        "status": row.status,
        "done": round(row.share_done, 3),
        "rows": row.rows_done,
        **{name: row.result.get("counts", {}).get(name, 0) for name in COLUMNS[4:9]},
        "detail": row.detail,
        "created_at": rfc3339(row.created_at),
        "started_at": rfc3339(row.started_at),
        "finished_at": rfc3339(row.finished_at),
    }


def _cell(row: dict[str, Any], column: str) -> str:
    return f"{row['done']:.0%}" if column == "done" else str(row[column])
