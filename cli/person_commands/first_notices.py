"""`flask people due-notices` and `notified`: who has to be told that data about them is stored."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import IO, Any

import click

from app.domain import ids
from app.engine.privacy import first_notices
from app.infra.database import database_clock
from app.web.services import services
from cli.groups.command_group import as_json_option, database, show
from cli.lists.list_commands import export_list, opened_for_writing

AHEAD = timedelta(days=7)
"""How far ahead notices are listed without `--by`."""
_DATE = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"])


@click.command("due-notices")
@click.option("--by", type=_DATE, help="List what is due by this time (UTC); default: in 7 days.")
@click.option("--format", "form", type=click.Choice(["csv", "json"]), default="csv", show_default=True)
@click.argument("file", default="-")
def due_notices(by: datetime | None, form: str, file: str) -> None:
    """Write the people whose first notice is due to FILE (GDPR, article 14); `-` is standard output.

    They are those who were not notified, NOTICE_DAYS after they were first stored, or once a workspace
    revealed them. Suppressed people are left out. `notified` marks those in such a file.
    """
    period = timedelta(days=services().settings.notice_days)
    if not period:
        raise click.ClickException("NOTICE_DAYS is 0: first notices are off.")
    with database().reading(no_deadline=True) as session:
        moment = by.replace(tzinfo=UTC) if by else database_clock.value(session) + AHEAD
        people = first_notices.due(session, by=moment, period=period)
        if form == "csv":
            export_list(file, first_notices.COLUMNS, people, as_json=False)
            return
        with opened_for_writing(file) as out:
            listed = [dict.fromkeys(first_notices.COLUMNS) | person for person in people]
            out.write(json.dumps(listed, ensure_ascii=False, indent=2) + "\n")


@click.command("notified")
@click.option("--at", type=_DATE, help="When they were notified (UTC); default: now.")
@click.argument("file", type=click.File("r", encoding="utf-8-sig"))
@as_json_option
def notified(*, at: datetime | None, file: IO[str], as_json: bool) -> None:
    """Mark the people in FILE as notified: CSV with a column contact_id, or JSON, as due-notices writes them.

    People who are marked already keep their time, so that a file can be given twice.
    """
    contact_ids = _contact_ids(file)
    with database().transaction(no_deadline=True) as session:
        moment = at.replace(tzinfo=UTC) if at else database_clock.value(session)
        marked = first_notices.mark(session, contact_ids, at=moment)
    counts = {"marked": marked.marked, "already_marked": marked.already, "not_stored": marked.unknown}
    text = f"Marked: {marked.marked}; marked before: {marked.already}; not stored: {marked.unknown}."
    show(counts, text, as_json=as_json)


def _contact_ids(file: IO[str]) -> list[str]:
    try:
        text = file.read()
        rows: list[Any] = json.loads(text) if text.lstrip().startswith("[") else _csv_rows(text)
        found = [row["contact_id"] for row in rows]
    except (ValueError, KeyError, TypeError) as error:
        raise click.ClickException("The file has no contact_id in each row.") from error
    if invalid := [value for value in found if not (isinstance(value, str) and ids.is_id(value, "con"))]:
        raise click.ClickException(f"{len(invalid)} rows have no valid contact_id. Nothing was marked.")
    return found


def _csv_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))
