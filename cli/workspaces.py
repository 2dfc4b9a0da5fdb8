"""`flask workspaces`: create and list workspaces."""

from __future__ import annotations

from typing import Any

import click
from sqlalchemy import or_, select

from app.engine.accounts import workspaces
from app.engine.accounts.workspaces import Workspace
from app.engine.events import endpoints
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.session import Session
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.options.single_lines import SingleLine

group = DatabaseGroup("workspaces", help="Create and list workspaces, which own credits and accounts.")


@group.command()
@click.argument("name", type=SingleLine())
@as_json_option
def create(name: str, *, as_json: bool) -> None:
    """Create a workspace named NAME, with no credits."""
    with database().transaction() as session:
        workspace = workspaces.create(session, name=name, now=database_clock.value(session))
    show(to_json(workspace), f"Created {workspace.id} ({name}).", as_json=as_json)


@group.command("list")
@as_json_option
def list_all(*, as_json: bool) -> None:
    """List all workspaces and their credits."""
    with database().reading() as session:
        rows = session.scalars(select(Workspace).order_by(Workspace.id)).all()
    lines = [f"{workspace.id}  {workspace.available} credits  {workspace.name}" for workspace in rows]
    show(
        {"workspaces": [to_json(workspace) for workspace in rows]},
        "\n".join(lines) or "There are no workspaces. Create one with: flask workspaces create NAME",
        as_json=as_json,
    )


@group.command("webhook-secret")
@click.argument("workspace")
@as_json_option
def webhook_secret(workspace: str, *, as_json: bool) -> None:
    """Show the signing secret of the webhooks of WORKSPACE (id or name)."""
    with database().reading() as session:
        secret = endpoints.workspace_secret(session.keys, find(session, workspace).id)
    show({"secret": secret}, secret, as_json=as_json)


def find(session: Session, id_or_name: str) -> Workspace:
    """Return the workspace with this id, or with this exact name if it is unique."""
    matches = session.scalars(
        select(Workspace).where(or_(Workspace.id == id_or_name, Workspace.name == id_or_name))
    ).all()
    if not matches:
        message = f"There is no workspace {id_or_name!r}. List workspaces with: flask workspaces list"
        raise click.ClickException(message)
    if len(matches) > 1:
        ids = ", ".join(workspace.id for workspace in matches)
        message = f"{len(matches)} workspaces are named {id_or_name!r}: {ids}. Use an id."
        raise click.ClickException(message)
    return matches[0]


def to_json(workspace: Workspace) -> dict[str, Any]:
    """Return the workspace as the API represents it."""
    return {
        "id": workspace.id,
        "name": workspace.name,
        "credits": {"balance": workspace.available, "reserved": workspace.held},
        "created_at": clock.rfc3339(workspace.created_at),
    }
