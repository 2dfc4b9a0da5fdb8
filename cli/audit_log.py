"""`flask audit verify`, `head`, `export` and `prune`: the audit log of who did what."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import click
from flask.cli import with_appcontext
from sqlalchemy.exc import ProgrammingError

from app.domain.errors import InvalidValue
from app.engine.audit import rule_checks
from app.engine.audit_log import heads, listing, retention, sealing, verification
from app.engine.audit_log.listing import EntryFilter
from app.engine.audit_log.sealing import Head
from app.engine.audit_log.verification import Verification
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.web.services import services
from cli.groups.command_group import as_json_option, database, show
from cli.lists.list_commands import export_list

BATCH = 2000
MIN_KEPT_DAYS = 30


@click.command()
@click.option(
    "--heads",
    "path",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="File of heads that were kept apart, or - (default: AUDIT_HEADS_FILE, if it is set).",
)
@as_json_option
@with_appcontext
def verify(path: str | None, *, as_json: bool) -> None:
    """Check that no entry of the audit log was changed, moved or deleted; exit 1 at the first fault."""
    kept = _heads(path)
    with database().reading(no_deadline=True) as session:
        rule_checks.use_repeatable_read(session)
        result = verification.verify(session, kept)
    show(_to_json(result), _sentences(result), as_json=as_json)
    if result.fault is not None:
        raise SystemExit(1)


@click.command()
@with_appcontext
def head() -> None:
    """Print the head of the audit log as a line of JSON; keep it in another place for `verify --heads`."""
    with database().transaction() as session:
        while sealing.seal(session)[0]:
            pass
        click.echo(heads.line(sealing.head(session)))


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@as_json_option
@with_appcontext
def export(file: str, *, as_json: bool) -> None:
    """Write the audit log to FILE as CSV, newest entry first, with the hash of each entry."""
    with database().reading(no_deadline=True) as session:
        export_list(file, listing.COLUMNS, _rows(session), as_json=as_json)


@click.command()
@click.option("--before", type=click.DateTime(["%Y-%m-%d"]), required=True, help="Delete older entries.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@as_json_option
@with_appcontext
def prune(before: datetime, *, yes: bool, as_json: bool) -> None:
    """Delete the oldest entries of the audit log, up to the first that is not older than the date.

    The rest can still be verified. This needs the database role that owns the tables.
    """
    moment = before.replace(tzinfo=UTC)
    with database().reading() as session:
        if (database_clock.value(session) - moment).days < MIN_KEPT_DAYS:
            message = f"The last {MIN_KEPT_DAYS} days are always kept. Choose an earlier date."
            raise click.ClickException(message)
        last = retention.last_before(session, moment)
        fault = verification.verify(session, _heads(None)).fault
    if fault is not None:
        message = f"{fault} Nothing was deleted: deleting would hide it."
        raise click.ClickException(message)
    if last is not None and not yes:
        click.confirm(f"Delete the entries up to {last.position} permanently?", abort=True, err=True)
    number = 0 if last is None else _prune(last)
    show({"deleted": number}, f"Deleted {number} entries of the audit log.", as_json=as_json)


def _prune(last: Head) -> int:
    try:
        with database().transaction(no_deadline=True) as session:
            return retention.prune(session, last, now=database_clock.now())
    except ProgrammingError as error:
        message = "The database role does not own the tables. Use the role that migrates them."
        raise click.ClickException(message) from error


def _heads(path: str | None) -> list[Head]:
    """Return the heads of the file, by default the file of the setting."""
    path = path or services().settings.audit_heads_file
    if not path:
        return []
    try:
        with click.open_file(path, encoding="utf-8", errors="replace") as file:
            return list(heads.parse(file))
    except OSError as error:
        message = f"The heads in {path} cannot be read: {error.strerror}."
        raise click.ClickException(message) from error
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error


def _rows(session: Session) -> Iterator[dict[str, str]]:
    before = None
    while batch := listing.page(session, EntryFilter(), before=before, limit=BATCH):
        yield from map(listing.row, batch)
        before = batch[-1].position
        session.expunge_all()


def _to_json(result: Verification) -> dict[str, Any]:
    fault = result.fault
    return {
        "ok": fault is None,
        "entries": result.entries,
        "pruned": result.pruned,
        "pending": result.pending,
        "heads": result.heads,
        "head": {"position": result.head.position, "hash": result.head.hash.hex()},
        "fault": None
        if fault is None
        else {"position": fault.position, "kind": fault.kind, "message": str(fault)},
    }


def _sentences(result: Verification) -> str:
    parts = []
    if result.fault is not None:
        parts.append(f"{result.fault} The {result.entries} entries before it are as they were sealed.")
    else:
        parts.append(f"All {result.entries} entries are as they were sealed; {result.pending} are pending.")
        parts.append(f"Head: {heads.line(result.head)}")
    if result.pruned:
        parts.append(f"The first {result.pruned} entries were pruned.")
    if not result.heads:
        parts.append("No head that was kept apart was compared, so missing entries at the end go unnoticed.")
    return "\n".join(parts)
