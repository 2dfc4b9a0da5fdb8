"""`flask accounts`: make accounts and change what they may do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click
from sqlalchemy.orm import Session

from app.core.accounts import accounts, sessions
from app.core.accounts.accounts import Account, EmailTaken, Role
from app.core.accounts.sessions import LoginSession
from app.domain.errors import InvalidValue
from app.domain.normal.emails import normal_email
from app.infra import clock, database_clock, passwords
from cli.workspaces import DatabaseGroup, as_json_option, database, find, show

group = DatabaseGroup("accounts", help="Make accounts and change what they may do.")
password_option = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input instead of asking."
)


class EmailParam(click.ParamType[str]):
    """An e-mail, brought into its normal form."""

    name = "email"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Bring it into its normal form, or say why it has none."""
        try:
            return normal_email(value)
        except InvalidValue as error:
            self.fail(str(error), param, ctx)


email_argument = click.argument("email", type=EmailParam())


@group.command()
@email_argument
@click.option("--workspace", required=True, help="Its id, or its name if only one has it.")
@click.option("--name", required=True, help="Of the person.")
@click.option("--role", type=click.Choice([role.value for role in Role]), default=Role.MEMBER.value)
@click.option("--api-access", is_flag=True, help="Let the account make API keys.")
@password_option
@as_json_option
def create(
    email: str, workspace: str, name: str, role: str, *, api_access: bool, password_stdin: bool, as_json: bool
) -> None:
    """Make an account that signs in with EMAIL; the password is asked for, never an argument."""
    with database().reading() as session:
        workspace_id = find(session, workspace).id
    password_hash = passwords.hash_password(_password(from_stdin=password_stdin))
    try:
        with database().transaction() as session:
            account = accounts.create(
                session,
                workspace_id,
                email=email,
                name=name,
                password_hash=password_hash,
                role=Role(role),
                api_access=api_access,
                now=database_clock.value(session),
            )
    except EmailTaken as error:
        message = f"There is an account with {email} already."
        raise click.ClickException(message) from error
    show(_described(account), f"Made {account.id} for {email}.", as_json=as_json)


@group.command("list")
@as_json_option
def list_all(*, as_json: bool) -> None:
    """List all accounts."""
    with database().reading() as session:
        found = accounts.list_all(session)
    lines = [
        f"{each.id}  {each.workspace_id}  {each.email}  {each.role}"
        + "  api access" * each.api_access
        + "  disabled" * (each.disabled_at is not None)
        for each in found
    ]
    show(
        {"accounts": [_described(each) for each in found]},
        "\n".join(lines) or "There are no accounts. Make one with: flask accounts create EMAIL",
        as_json=as_json,
    )


@group.command("set-password")
@email_argument
@password_option
@as_json_option
def set_password(email: str, *, password_stdin: bool, as_json: bool) -> None:
    """Give EMAIL a new password; its sessions and API keys end."""
    password_hash = passwords.hash_password(_password(from_stdin=password_stdin))
    _change(
        email,
        lambda session, account_id: accounts.set_password(
            session, account_id, password_hash, now=database_clock.now()
        ),
        "has a new password; its sessions and API keys ended.",
        as_json=as_json,
    )


@group.command()
@email_argument
@as_json_option
def disable(email: str, *, as_json: bool) -> None:
    """Switch EMAIL off; its sessions and API keys end."""
    _change(
        email,
        lambda session, account_id: accounts.disable(session, account_id, now=database_clock.value(session)),
        "is disabled; its sessions and API keys ended.",
        as_json=as_json,
    )


@group.command()
@email_argument
@as_json_option
def enable(email: str, *, as_json: bool) -> None:
    """Switch EMAIL on again; what was ended stays ended."""
    _change(email, accounts.enable, "can sign in again.", as_json=as_json)


@group.command("grant-api-access")
@email_argument
@as_json_option
def grant_api_access(email: str, *, as_json: bool) -> None:
    """Let EMAIL make API keys."""
    _change(email, accounts.grant_api_access, "may make API keys.", as_json=as_json)


@group.command("revoke-api-access")
@email_argument
@as_json_option
def revoke_api_access(email: str, *, as_json: bool) -> None:
    """Take API access from EMAIL; its API keys end, its sessions go on."""
    _change(
        email,
        lambda session, account_id: accounts.revoke_api_access(session, account_id, now=database_clock.now()),
        "may no longer make API keys; those it had ended.",
        as_json=as_json,
    )


@group.command("sessions")
@email_argument
@as_json_option
def list_sessions(email: str, *, as_json: bool) -> None:
    """List where EMAIL is signed in, the last used first."""
    with database().reading() as session:
        found = sessions.of_account(session, _find(session, email).id, now=database_clock.now())
    described = [_session_described(each) for each in found]
    lines = [
        f"{each['id']}  last used {each['last_used_at']}  ends {each['expires_at']}  {each['client'] or '-'}"
        for each in described
    ]
    show({"sessions": described}, "\n".join(lines) or f"{email} is signed in nowhere.", as_json=as_json)


@group.command("sign-out")
@email_argument
@as_json_option
def sign_out(email: str, *, as_json: bool) -> None:
    """Sign EMAIL out everywhere; its API keys go on."""
    with database().transaction() as session:
        ended = sessions.end_all(session, _find(session, email).id, now=database_clock.now())
    show({"ended": ended}, f"{email} is signed out everywhere: {ended} session(s) ended.", as_json=as_json)


def _change(email: str, change: Callable[[Session, str], None], sentence: str, *, as_json: bool) -> None:
    with database().transaction() as session:
        account = _find(session, email)
        change(session, account.id)
    show(_described(account), f"{email} {sentence}", as_json=as_json)


def _find(session: Session, email: str) -> Account:
    account = accounts.by_email(session, email)
    if account is None:
        message = f"There is no account with {email}. See them with: flask accounts list"
        raise click.ClickException(message)
    return account


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        password = sys.stdin.read().rstrip("\r\n")
    else:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    if not passwords.acceptable(password):
        message = f"A password has {passwords.MIN_LENGTH} to {passwords.MAX_LENGTH} characters."
        raise click.ClickException(message)
    return password


def _described(account: Account) -> dict[str, Any]:
    return {
        "id": account.id,
        "email": account.email,
        "name": account.name,
        "role": account.role,
        "api_access": account.api_access,
        "disabled": account.disabled_at is not None,
        "workspace_id": account.workspace_id,
        "created_at": clock.rfc3339(account.created_at),
    }


def _session_described(held: LoginSession) -> dict[str, Any]:
    return {
        "id": held.id,
        "client": " ".join(filter(None, (held.client_name, held.client_version))) or None,
        "created_at": clock.rfc3339(held.created_at),
        "last_used_at": clock.rfc3339(held.last_used_at),
        "expires_at": clock.rfc3339(held.ends_at),
    }
