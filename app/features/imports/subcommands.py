"""`flask contacts imports`: lists the imports that workers run."""

from __future__ import annotations

from typing import Any

import click
from flask.cli import with_appcontext

from app.features.imports import queued_imports
from app.features.imports.tables import QueuedImport
from app.infra.clock import rfc3339
from cli.groups.command_group import as_json_option, database, show
from cli.tables import table

MAX_LISTED = 100
COLUMNS = ("id", "status", "done", "rows", "new", "updated", "unchanged", "rejected", "suppressed", "file")


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


SUBCOMMANDS = {"contacts": (list_imports,)}
