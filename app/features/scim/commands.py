"""`flask scim`: the token with which an identity provider manages the accounts of a workspace."""

from __future__ import annotations

import click

from app.features.scim import tokens
from app.features.scim.protocol import ROOT
from app.infra.database import database_clock
from app.web.services import services
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.workspaces import find

group = DatabaseGroup("scim", help="Set up provisioning by an identity provider (SCIM 2.0).")


@group.command("rotate-token")
@click.argument("workspace")
@as_json_option
def rotate_token(workspace: str, *, as_json: bool) -> None:
    """Make the token of WORKSPACE (id or name) and show it once; the earlier one ends."""
    with database().transaction() as session:
        made = tokens.rotate(session, find(session, workspace).id, now=database_clock.value(session))
    url = f"{services().settings.public_url}{ROOT}"
    show({"base_url": url, "token": made.text}, f"{url}\n{made.text}", as_json=as_json)


@group.command("revoke-token")
@click.argument("workspace")
@as_json_option
def revoke_token(workspace: str, *, as_json: bool) -> None:
    """End the token of WORKSPACE (id or name); accounts and groups stay."""
    with database().transaction() as session:
        is_ended = tokens.revoke(session, find(session, workspace).id)
    show({"ended": is_ended}, "The token has ended." if is_ended else "There is no token.", as_json=as_json)
