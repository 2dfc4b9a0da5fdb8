"""The names of the accounts and API keys in a report on usage."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from app.engine.accounts.accounts import Account
from app.engine.accounts.api_keys import ApiKey
from app.infra.database.session import Session


def accounts(session: Session, workspace_id: str, ids: Collection[str | None]) -> dict[str | None, str]:
    """Return the names of the workspace's accounts with these ids, by id."""
    query = select(Account.id, Account.name).where(Account.workspace_id == workspace_id, Account.id.in_(ids))
    return {row.id: row.name for row in session.execute(query)}


def keys(session: Session, workspace_id: str, ids: Collection[str | None]) -> dict[str | None, str]:
    """Return the names of the workspace's API keys with these ids, by id."""
    query = select(ApiKey.id, ApiKey.name).join(Account, Account.id == ApiKey.account_id)
    query = query.where(Account.workspace_id == workspace_id, ApiKey.id.in_(ids))
    return {row.id: row.name for row in session.execute(query)}
