"""`flask workspaces`: create and list workspaces; helpers shared by the commands."""

from __future__ import annotations

import json
from typing import Any

import click
from flask.cli import AppGroup
from sqlalchemy import or_, select
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.orm import Session

from app.api.http.services import services
from app.core.accounts import workspaces
from app.core.accounts.workspaces import Workspace
from app.core.jobs import webhooks
from app.domain.errors import Unavailable
from app.infra import clock, database_clock
from app.infra.db import Database
from app.infra.digest_keys import digest_keys
from app.settings import SettingsError


class DatabaseGroup(AppGroup):
    """A command group that reports an unusable database as a message, not as a traceback."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 -- click's signature
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (Unavailable, ProgrammingError) as error:
            message = "The database cannot be used. Is it running, and does it have its tables?"
            raise click.ClickException(message) from error
        except SettingsError as error:
            raise click.ClickException(str(error)) from error


group = DatabaseGroup("workspaces", help="Create and list workspaces, which own credits and accounts.")
as_json_option = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")


@group.command()
@click.argument("name")
@as_json_option
def create(name: str, *, as_json: bool) -> None:
    """Create a workspace named NAME, with no credits."""
    name = name.strip()
    if not name:
        raise click.ClickException("A workspace needs a name.")
    with database().transaction() as session:
        workspace = workspaces.create(session, name=name, now=database_clock.value(session))
    show(described(workspace), f"Created {workspace.id} ({name}).", as_json=as_json)


@group.command("list")
@as_json_option
def list_all(*, as_json: bool) -> None:
    """List all workspaces and their credits."""
    with database().reading() as session:
        found = session.scalars(select(Workspace).order_by(Workspace.id)).all()
    lines = [f"{workspace.id}  {workspace.available} credits  {workspace.name}" for workspace in found]
    show(
        {"workspaces": [described(workspace) for workspace in found]},
        "\n".join(lines) or "There are no workspaces. Create one with: flask workspaces create NAME",
        as_json=as_json,
    )


@group.command("webhook-secret")
@click.argument("workspace")
@as_json_option
def webhook_secret(workspace: str, *, as_json: bool) -> None:
    """Show the signing secret of the webhooks of WORKSPACE (id or name)."""
    with database().reading() as session:
        secret = webhooks.secret(digest_keys(session), find(session, workspace).id)
    show({"secret": secret}, secret, as_json=as_json)


def find(session: Session, id_or_name: str) -> Workspace:
    """Return the workspace with this id, or with this exact name if it is unique.

    Raises:
        ClickException: none matches, or several do.

    """
    found = session.scalars(
        select(Workspace).where(or_(Workspace.id == id_or_name, Workspace.name == id_or_name))
    ).all()
    if not found:
        message = f"There is no workspace {id_or_name!r}. List workspaces with: flask workspaces list"
        raise click.ClickException(message)
    if len(found) > 1:
        ids = ", ".join(workspace.id for workspace in found)
        message = f"{len(found)} workspaces are named {id_or_name!r}: {ids}. Use an id."
        raise click.ClickException(message)
    return found[0]


def described(workspace: Workspace) -> dict[str, Any]:
    """Return the workspace as the API represents it."""
    return {
        "id": workspace.id,
        "name": workspace.name,
        "credits": {"balance": workspace.available, "reserved": workspace.held},
        "created_at": clock.rfc3339(workspace.created_at),
    }


def show(answer: dict[str, Any], sentence: str, *, as_json: bool) -> None:
    """Print the answer as JSON, or the sentence."""
    click.echo(json.dumps(answer) if as_json else sentence)


def database() -> Database:
    """Return the application's database, without a statement deadline: commands may run long."""
    found = services().database
    found.seconds = None
    return found
