"""`flask workspaces`: make and list those who pay."""

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
from app.settings import SettingsError


class DatabaseGroup(AppGroup):
    """The commands of one noun; a database that cannot be used is a sentence, not a stack trace."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 -- click's signature
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except (Unavailable, ProgrammingError) as error:
            message = "The database cannot be used. Is it running, and does it have its tables?"
            raise click.ClickException(message) from error
        except SettingsError as error:
            raise click.ClickException(str(error)) from error


group = DatabaseGroup("workspaces", help="Make and list workspaces, which own credits and accounts.")
as_json_option = click.option("--json", "as_json", is_flag=True, help="Answer in one line of JSON.")


@group.command()
@click.argument("name")
@as_json_option
def create(name: str, *, as_json: bool) -> None:
    """Make a workspace called NAME, with no credits."""
    name = name.strip()
    if not name:
        raise click.ClickException("A workspace needs a name.")
    with database().transaction() as session:
        workspace = workspaces.create(session, name=name, now=database_clock.value(session))
    show(described(workspace), f"Made {workspace.id} ({name}).", as_json=as_json)


@group.command("list")
@as_json_option
def list_all(*, as_json: bool) -> None:
    """List all workspaces and their credits."""
    with database().reading() as session:
        found = session.scalars(select(Workspace).order_by(Workspace.id)).all()
    lines = [f"{each.id}  {each.available} credits  {each.name}" for each in found]
    show(
        {"workspaces": [described(each) for each in found]},
        "\n".join(lines) or "There are no workspaces. Make one with: flask workspaces create NAME",
        as_json=as_json,
    )


@group.command("webhook-secret")
@click.argument("workspace")
@as_json_option
def webhook_secret(workspace: str, *, as_json: bool) -> None:
    """Show the secret with which the webhooks of WORKSPACE (an id or a name) are signed."""
    with database().reading() as session:
        secret = webhooks.secret(find(session, workspace).id)
    show({"secret": secret}, secret, as_json=as_json)


def find(session: Session, id_or_name: str) -> Workspace:
    """Find a workspace by its id, or by its exact name if only one has it.

    Raises:
        ClickException: there is none, or more than one.

    """
    found = session.scalars(
        select(Workspace).where(or_(Workspace.id == id_or_name, Workspace.name == id_or_name))
    ).all()
    if not found:
        message = f"There is no workspace {id_or_name!r}. See them with: flask workspaces list"
        raise click.ClickException(message)
    if len(found) > 1:
        ids = ", ".join(each.id for each in found)
        message = f"{len(found)} workspaces are called {id_or_name!r}: {ids}. Give an id."
        raise click.ClickException(message)
    return found[0]


def described(workspace: Workspace) -> dict[str, Any]:
    """Write a workspace in the contract's words."""
    return {
        "id": workspace.id,
        "name": workspace.name,
        "credits": {"balance": workspace.available, "reserved": workspace.held},
        "created_at": clock.rfc3339(workspace.created_at),
    }


def show(answer: dict[str, Any], sentence: str, *, as_json: bool) -> None:
    """Print the answer for a program, or the sentence for a person."""
    click.echo(json.dumps(answer) if as_json else sentence)


def database() -> Database:
    """Give the application's database; nobody waits for a command, so it may take its time."""
    found = services().database
    found.seconds = None
    return found
