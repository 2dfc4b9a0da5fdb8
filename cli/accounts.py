"""`flask accounts`: create accounts and change their access."""

from __future__ import annotations

from typing import Any

import click

from app.engine.accounts import accounts, sessions, totp
from app.engine.accounts.accounts import EmailTaken, Role
from app.engine.accounts.sessions import LoginSession, SessionLifetime
from app.infra import clock
from app.infra.crypto import passwords
from app.infra.database import database_clock
from app.web.services import services
from cli.account_commands.changes import account_json, change, find_account
from cli.account_commands.options import email_argument, password_option, read_password
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.options.single_lines import SingleLine
from cli.tables import table
from cli.workspaces import find

group = DatabaseGroup("accounts", help="Create accounts and change their access.")
COLUMNS = ("account", "workspace", "e-mail", "role", "api access", "two-factor", "disabled")
_ROLES = {Role.MEMBER: "a member", Role.ADMIN: "an admin"}


@group.command()
@email_argument
@click.option("--workspace", required=True, help="Workspace id, or its name if unique.")
@click.option("--name", type=SingleLine(), required=True, help="Full name of the person.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    help="By default, the first account of a workspace is an admin, and the others are members.",
)
@click.option("--api-access", is_flag=True, help="Allow the account to create API keys.")
@password_option
@as_json_option
def create(
    email: str,
    workspace: str,
    name: str,
    role: str | None,
    *,
    api_access: bool,
    password_stdin: bool,
    as_json: bool,
) -> None:
    """Create an account that signs in with EMAIL; the password is prompted for, never an argument."""
    with database().reading() as session:
        workspace_id = find(session, workspace).id
    password_hash = passwords.hash_password(read_password(from_stdin=password_stdin))
    try:
        with database().transaction() as session:
            account = accounts.create(
                session,
                workspace_id,
                email=email,
                name=name,
                password_hash=password_hash,
                role=Role(role) if role else accounts.default_role(session, workspace_id),
                api_access=api_access,
                now=database_clock.value(session),
            )
    except EmailTaken as error:
        message = f"An account with {email} already exists."
        raise click.ClickException(message) from error
    sentence = f"Created {account.id} for {email}, {_ROLES[Role(account.role)]} of its workspace."
    show(account_json(account), sentence, as_json=as_json)


@group.command("list")
@as_json_option
def list_all(*, as_json: bool) -> None:
    """List all accounts."""
    with database().reading() as session:
        rows = accounts.list_all(session)
    shown = [
        (
            account.id,
            account.workspace_id,
            account.email,
            account.role,
            _yes(account.api_access),
            _yes(account.totp_enabled_at),
            _yes(account.disabled_at),
        )
        for account in rows
    ]
    show(
        {"accounts": [account_json(account) for account in rows]},
        table(COLUMNS, shown)
        if rows
        else "There are no accounts. Create one with: flask accounts create EMAIL",
        as_json=as_json,
    )


@group.command("set-password")
@email_argument
@password_option
@as_json_option
def set_password(email: str, *, password_stdin: bool, as_json: bool) -> None:
    """Set the password of EMAIL; its sessions and API keys end."""
    password_hash = passwords.hash_password(read_password(from_stdin=password_stdin))
    change(
        email,
        lambda session, account_id: accounts.set_password(
            session, account_id, password_hash, now=database_clock.now()
        ),
        "has a new password; its sessions and API keys ended.",
        as_json=as_json,
    )


@group.command("set-role")
@email_argument
@click.argument("role", type=click.Choice([role.value for role in Role]))
@as_json_option
def set_role(email: str, role: str, *, as_json: bool) -> None:
    """Make EMAIL a member or an admin of its workspace; its sessions continue with the new role."""
    change(
        email,
        lambda session, account_id: accounts.set_role(session, account_id, Role(role)),
        f"is {_ROLES[Role(role)]} of its workspace.",
        as_json=as_json,
    )


@group.command()
@email_argument
@as_json_option
def disable(email: str, *, as_json: bool) -> None:
    """Disable EMAIL; its sessions and API keys end."""
    change(
        email,
        lambda session, account_id: accounts.disable(session, account_id, now=database_clock.value(session)),
        "is disabled; its sessions and API keys ended.",
        as_json=as_json,
    )


@group.command()
@email_argument
@as_json_option
def enable(email: str, *, as_json: bool) -> None:
    """Enable EMAIL again; its ended sessions and API keys stay ended."""
    change(email, accounts.enable, "can sign in again.", as_json=as_json)


@group.command("reset-totp")
@email_argument
@as_json_option
def reset_totp(email: str, *, as_json: bool) -> None:
    """Turn two-factor sign-in of EMAIL off, for a user who lost the app and the recovery codes."""
    change(email, totp.disable, "signs in without a code until it sets up an app again.", as_json=as_json)


@group.command("grant-api-access")
@email_argument
@as_json_option
def grant_api_access(email: str, *, as_json: bool) -> None:
    """Allow EMAIL to create API keys."""
    change(email, accounts.grant_api_access, "may create API keys.", as_json=as_json)


@group.command("revoke-api-access")
@email_argument
@as_json_option
def revoke_api_access(email: str, *, as_json: bool) -> None:
    """Revoke API access of EMAIL; its API keys end, its sessions continue."""
    change(
        email,
        lambda session, account_id: accounts.revoke_api_access(session, account_id, now=database_clock.now()),
        "may no longer create API keys; its existing keys ended.",
        as_json=as_json,
    )


@group.command("sessions")
@email_argument
@as_json_option
def list_sessions(email: str, *, as_json: bool) -> None:
    """List the sessions of EMAIL, most recently used first."""
    lifetime = services().session_lifetime
    with database().reading() as session:
        open_sessions = sessions.of_account(
            session, find_account(session, email).id, lifetime=lifetime, now=database_clock.now()
        )
    rows = [_session_json(login, lifetime) for login in open_sessions]
    lines = [
        f"{row['id']}  last used {row['last_used_at']}  ends {row['expires_at']}  {row['client'] or '-'}"
        for row in rows
    ]
    show({"sessions": rows}, "\n".join(lines) or f"{email} has no sessions.", as_json=as_json)


@group.command("sign-out")
@email_argument
@as_json_option
def sign_out(email: str, *, as_json: bool) -> None:
    """End all sessions of EMAIL; its API keys continue."""
    with database().transaction() as session:
        ended = sessions.end_all(session, find_account(session, email).id, now=database_clock.now())
    show({"ended": ended}, f"{email} is signed out: {ended} session(s) ended.", as_json=as_json)


def _session_json(login: LoginSession, lifetime: SessionLifetime) -> dict[str, Any]:
    return {
        "id": login.id,
        "client": " ".join(filter(None, (login.client_name, login.client_version))) or None,
        "created_at": clock.rfc3339(login.created_at),
        "last_used_at": clock.rfc3339(login.last_used_at),
        "expires_at": clock.rfc3339(login.ends_at(lifetime)),
    }


def _yes(value: object) -> str | None:
    return "yes" if value else None
