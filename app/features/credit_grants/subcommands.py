"""`flask credits grants`: monthly grants of credits to workspaces."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import click
from flask.cli import with_appcontext

from app.domain.errors import NotFound
from app.engine.accounts.workspaces import Workspace
from app.engine.ledger import credit_schedules
from app.engine.ledger.credit_schedules import Terms
from app.engine.ledger.next_grants import CreditSchedule
from app.infra.clock import rfc3339
from app.infra.database.session import Session
from cli.credits import MAX_GRANT
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.tables import table
from cli.workspaces import find

COLUMNS = ("workspace", "credits", "per", "day", "carried over", "next grant")
group = DatabaseGroup("grants", help="Grant credits to workspaces every month.")


@group.command("set")
@click.argument("workspace")
@click.argument("amount", type=click.IntRange(1, MAX_GRANT))
@click.option("--per-seat", is_flag=True, help="For each account that is enabled when it is granted.")
@click.option(
    "--day",
    type=click.IntRange(1, 31),
    default=1,
    show_default=True,
    help="Day of the month, at midnight UTC; the last day of a month that does not have it.",
)
@click.option(
    "--carry-over",
    "carried",
    default="none",
    show_default=True,
    help="Unspent granted credits that are kept at the next grant: none, all, or a number.",
)
@click.option(
    "--from",
    "starts_at",
    type=click.DateTime(["%Y-%m-%d"]),
    help="First day on which a grant may be made. A day in the past makes up for the months since.",
)
@as_json_option
@with_appcontext
def set_schedule(
    *,
    workspace: str,
    amount: int,
    per_seat: bool,
    day: int,
    carried: str,
    starts_at: datetime | None,
    as_json: bool,
) -> None:
    """Grant AMOUNT credits to WORKSPACE (id or name) every month, from the next such day on."""
    terms = Terms(credits=amount, per_seat=per_seat, day=day, carried=_carried(carried))
    start = None if starts_at is None else starts_at.replace(tzinfo=UTC)
    with database().transaction() as session:
        workspace_id = find(session, workspace).id
        credit_schedules.put(session, workspace_id, terms, starts_at=start)
        [(row, name)] = credit_schedules.list_all(session, workspace_id)
    seat = " for each seat" if per_seat else ""
    text = f"{name} is granted {amount} credits{seat} every month, next on {row.next_at:%Y-%m-%d}."
    show(_to_json(row, name), text, as_json=as_json)


@group.command("list")
@as_json_option
@with_appcontext
def list_all(*, as_json: bool) -> None:
    """List the monthly grants."""
    with database().reading() as session:
        rows = credit_schedules.list_all(session)
    cells = [
        (
            name,
            f"{row.credits:,}",
            "seat" if row.per_seat else "workspace",
            row.day,
            "all" if row.carried is None else f"{row.carried:,}",
            f"{row.next_at:%Y-%m-%d}" if row.paused_at is None else "paused",
        )
        for row, name in rows
    ]
    text = table(COLUMNS, cells) if rows else "There are no monthly grants. Add one: flask credits grants set"
    show({"grants": [_to_json(row, name) for row, name in rows]}, text, as_json=as_json)


@group.command()
@click.argument("workspace")
@as_json_option
@with_appcontext
def pause(workspace: str, *, as_json: bool) -> None:
    """Grant nothing to WORKSPACE (id or name) until it is resumed; nothing expires meanwhile."""
    row = _change(workspace, credit_schedules.pause)
    show({"paused": row.id}, f"The monthly grant of {row.name} is paused.", as_json=as_json)


@group.command()
@click.argument("workspace")
@as_json_option
@with_appcontext
def resume(workspace: str, *, as_json: bool) -> None:
    """Grant to WORKSPACE (id or name) again; the months of the pause are not made up for."""
    row = _change(workspace, credit_schedules.resume)
    show({"resumed": row.id}, f"The monthly grant of {row.name} is resumed.", as_json=as_json)


@group.command()
@click.argument("workspace")
@as_json_option
@with_appcontext
def remove(workspace: str, *, as_json: bool) -> None:
    """Remove the monthly grant of WORKSPACE (id or name); what was granted stays, and no longer expires."""
    row = _change(workspace, credit_schedules.remove)
    show({"removed": row.id}, f"{row.name} no longer has a monthly grant.", as_json=as_json)


def _change(name: str, change: Callable[[Session, str], None]) -> Workspace:
    """Change the grant of a workspace, and return the workspace."""
    try:
        with database().transaction() as session:
            row = find(session, name)
            change(session, row.id)
    except NotFound as error:
        raise click.ClickException(str(error.detail)) from error
    return row


def _carried(text: str) -> int | None:
    """Return the credits that are carried over, None for all."""
    if text == "all":
        return None
    if text == "none":
        return 0
    if not (text.isascii() and text.isdecimal() and int(text) <= MAX_GRANT):
        raise click.BadParameter("Write none, all, or a number of credits.", param_hint="--carry-over")
    return int(text)


def _to_json(row: CreditSchedule, name: str) -> dict[str, Any]:
    return {
        "workspace": {"id": row.workspace_id, "name": name},
        "credits": row.credits,
        "per_seat": row.per_seat,
        "day": row.day,
        "carried_over": row.carried,
        "next_at": rfc3339(row.next_at),
        "paused_at": rfc3339(row.paused_at),
    }


SUBCOMMANDS = {"credits": (group,)}
