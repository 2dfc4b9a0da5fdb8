"""`flask accounts link` and `unlink`: the company accounts with which an account signs in."""

from __future__ import annotations

import click
from flask.cli import with_appcontext

from app.features.company_sign_in import identities
from app.infra.database import database_clock
from app.web.services import services
from cli.account_commands.changes import find_account
from cli.account_commands.options import email_argument
from cli.groups.command_group import as_json_option, database, show


@click.command()
@email_argument
@click.argument("subject")
@as_json_option
@with_appcontext
def link(email: str, subject: str, *, as_json: bool) -> None:
    """Link the company account with this SUBJECT (its claim `sub`) to EMAIL, to sign in with."""
    issuer = services().settings.oidc_issuer
    if not issuer:
        message = "OIDC_ISSUER is not set, so there are no company accounts. See docs/sign-in.md."
        raise click.ClickException(message)
    with database().transaction() as session:
        account_id = find_account(session, email).id
        is_linked = identities.link(session, issuer, subject, account_id, now=database_clock.value(session))
    if not is_linked:
        message = "This company account signs in to another account. Remove it there: flask accounts unlink"
        raise click.ClickException(message)
    show({"issuer": issuer, "subject": subject}, f"{email} signs in with {subject}.", as_json=as_json)


@click.command()
@email_argument
@as_json_option
@with_appcontext
def unlink(email: str, *, as_json: bool) -> None:
    """Remove the company accounts of EMAIL; its sessions and API keys continue."""
    with database().transaction() as session:
        removed = identities.unlink(session, find_account(session, email).id)
    show({"removed": removed}, f"{email} has no company account now: {removed} removed.", as_json=as_json)


SUBCOMMANDS = {"accounts": (link, unlink)}
