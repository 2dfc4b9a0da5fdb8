"""What the `flask accounts` commands share: an account by its e-mail address, its change, and its output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from app.engine.accounts import accounts
from app.engine.accounts.accounts import Account
from app.infra import clock
from app.infra.database.session import Session
from cli.groups.command_group import database, show


def change(email: str, apply: Callable[[Session, str], None], sentence: str, *, as_json: bool) -> None:
    """Change an account, and show it with a sentence about the change."""
    with database().transaction() as session:
        account = find_account(session, email)
        apply(session, account.id)
    show(account_json(account), f"{email} {sentence}", as_json=as_json)


def find_account(session: Session, email: str) -> Account:
    """Return the account with this e-mail address."""
    account = accounts.by_email(session, email)
    if account is None:
        message = f"There is no account with {email}. List accounts with: flask accounts list"
        raise click.ClickException(message)
    return account


def account_json(account: Account) -> dict[str, Any]:
    """Return an account as `--json` shows it."""
    return {
        "id": account.id,
        "email": account.email,
        "name": account.name,
        "role": account.role,
        "api_access": account.api_access,
        "disabled": account.disabled_at is not None,
        "totp": account.totp_enabled_at is not None,
        "workspace_id": account.workspace_id,
        "created_at": clock.rfc3339(account.created_at),
    }
