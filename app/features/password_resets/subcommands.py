"""`flask accounts reset-password`: a link with which an account gets a new password."""

from __future__ import annotations

import click
from flask.cli import with_appcontext

from app.features.password_resets import resets, rules
from app.infra import clock
from app.infra.database import database_clock
from app.web.services import services
from cli.account_commands.changes import find_account
from cli.account_commands.options import email_argument
from cli.groups.command_group import as_json_option, database, show


@click.command("reset-password")
@email_argument
@as_json_option
@with_appcontext
def reset_password(email: str, *, as_json: bool) -> None:
    """Show a link with which EMAIL chooses a new password; the present one works until then."""
    settings = services().settings
    with database().transaction() as session:
        account = find_account(session, email)
        if reason := rules.refusal(account, settings):
            raise click.ClickException(reason)
        token, expires_at = resets.issue(session, account, now=database_clock.value(session))
    url = f"{settings.public_url}/sign-in/reset?token={token}"
    end = clock.rfc3339(expires_at)
    show({"url": url, "expires_at": end}, f"{url}\nIt works once, until {end}.", as_json=as_json)


SUBCOMMANDS = {"accounts": (reset_password,)}
