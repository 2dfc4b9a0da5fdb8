"""`flask permissions`: what the accounts of a workspace may do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from app.domain.permissions import Permission
from app.engine.accounts import permissions, workspaces
from app.features.permissions import seats
from app.features.permissions.seats import Seats
from cli.account_commands.changes import find_account
from cli.account_commands.options import email_argument
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.tables import table
from cli.workspaces import find

group = DatabaseGroup("permissions", help="Set what the accounts of a workspace may do.")
COLUMNS = ("account", "role", *(one.value for one in Permission))
_NAMES = click.Choice([one.value for one in Permission])


def _changes(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that allow and deny permissions."""
    deny = click.option("--deny", type=_NAMES, multiple=True, help="Deny this; may be repeated.")
    return click.option("--allow", type=_NAMES, multiple=True, help="Allow this; may be repeated.")(
        deny(command)
    )


@group.command("list")
@click.argument("workspace")
@as_json_option
def list_all(workspace: str, *, as_json: bool) -> None:
    """List what the members of WORKSPACE (id or name), and each of its accounts, may do."""
    with database().reading() as session:
        found = seats.read(session, find(session, workspace).id)
    _show(found, as_json=as_json)


@group.command("set-members")
@click.argument("workspace")
@_changes
@as_json_option
def set_members(workspace: str, *, allow: Sequence[str], deny: Sequence[str], as_json: bool) -> None:
    """Set what members of WORKSPACE (id or name) may do by default."""
    changes = dict.fromkeys(map(Permission, allow), True) | dict.fromkeys(map(Permission, deny), False)
    with database().transaction() as session:
        workspace_id = find(session, workspace).id
        workspaces.lock(session, [workspace_id])
        permissions.set_of_members(session, workspace_id, changes)
        found = seats.read(session, workspace_id)
    _show(found, as_json=as_json)


@group.command("set")
@email_argument
@_changes
@click.option("--default", type=_NAMES, multiple=True, help="As members of the workspace; may be repeated.")
@as_json_option
def set_account(
    email: str, *, allow: Sequence[str], deny: Sequence[str], default: Sequence[str], as_json: bool
) -> None:
    """Set what EMAIL may do, and its API keys at most."""
    changes: dict[Permission, bool | None] = dict.fromkeys(map(Permission, default))
    changes |= dict.fromkeys(map(Permission, allow), True) | dict.fromkeys(map(Permission, deny), False)
    with database().transaction() as session:
        account = find_account(session, email)
        permissions.set_of_account(session, account.id, changes)
        found = seats.read(session, account.workspace_id)
    _show(found, as_json=as_json)


def _show(found: Seats, *, as_json: bool) -> None:
    rows = [("members by default", "member", *map(found.members.__contains__, Permission))]
    rows += [
        (account.email, account.role, *map(permitted.__contains__, Permission))
        for account, permitted in found.accounts
    ]
    shown = [(name, role, *("yes" if given else "no" for given in flags)) for name, role, *flags in rows]
    show(seats.to_json(found), table(COLUMNS, shown), as_json=as_json)
