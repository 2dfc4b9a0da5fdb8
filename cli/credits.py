"""`flask credits`: grant credits to a workspace and show its balance."""

from __future__ import annotations

import click

from app.engine.accounts import workspaces
from app.engine.accounts.workspaces import Balance, Workspace
from app.engine.ledger import credits as ledger
from app.infra.database import database_clock
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.options.single_lines import SingleLine
from cli.workspaces import find

MAX_GRANT = 1_000_000_000
group = DatabaseGroup("credits", help="Grant credits to workspaces.")


@group.command()
@click.argument("workspace")
@click.argument("amount", type=click.IntRange(1, MAX_GRANT))
@click.option("--reason", type=SingleLine(), required=True, help="Reason, stored in the ledger.")
@as_json_option
def grant(workspace: str, amount: int, reason: str, *, as_json: bool) -> None:
    """Grant AMOUNT credits to WORKSPACE (id or name)."""
    with database().transaction() as session:
        row = find(session, workspace)
        balance = ledger.grant(session, row.id, amount, reason=reason, now=database_clock.now())
    _show(row, balance, as_json=as_json)


@group.command("show")
@click.argument("workspace")
@as_json_option
def show_balance(workspace: str, *, as_json: bool) -> None:
    """Show the balance of WORKSPACE (id or name)."""
    with database().reading() as session:
        row = find(session, workspace)
        balance = workspaces.balance(session, row.id)
    _show(row, balance, as_json=as_json)


def _show(workspace: Workspace, balance: Balance, *, as_json: bool) -> None:
    show(
        {
            "workspace": {"id": workspace.id, "name": workspace.name},
            "credits": {"balance": balance.available, "reserved": balance.held},
        },
        f"{workspace.name} has {balance.available} credits, and {balance.held} reserved for open jobs.",
        as_json=as_json,
    )
