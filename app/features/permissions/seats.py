"""The seats of a workspace: its accounts with what each may do, and changes of that by admins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.permissions import Permission
from app.engine.accounts import accounts, permissions, workspaces
from app.engine.accounts.accounts import Account
from app.infra.database.session import Session
from app.web import admission


@dataclass(frozen=True, slots=True)
class Seats:
    """What members may do by default, and the accounts with what each may do."""

    members: frozenset[Permission]
    accounts: tuple[tuple[Account, frozenset[Permission]], ...]


def read(session: Session, workspace_id: str) -> Seats:
    """Return the seats of the workspace, by e-mail."""
    denied = permissions.denied_to_members(session, workspace_id)
    rows = accounts.of_workspace(session, workspace_id)
    seats = tuple((account, permissions.effective(account, denied)) for account in rows)
    return Seats(frozenset(Permission) - denied, seats)


def change_members(workspace_id: str, changes: Mapping[Permission, bool]) -> None:
    """Allow or deny permissions to the members of the workspace; their next request has them."""
    with admission.transaction() as session:
        workspaces.lock(session, [workspace_id])
        permissions.set_of_members(session, workspace_id, changes)


def change_account(workspace_id: str, account_id: str, changes: Mapping[Permission, bool | None]) -> Account:
    """Allow or deny permissions to an account of the workspace; its next request has them."""
    with admission.transaction() as session:
        account = accounts.get(session, workspace_id, account_id)
        permissions.set_of_account(session, account_id, changes)
        return account


def to_json(seats: Seats) -> dict[str, Any]:
    """Return the seats as the API shows them."""
    return {
        "members": {one.value: one in seats.members for one in Permission},
        "accounts": [
            {
                "id": account.id,
                "email": account.email,
                "name": account.name,
                "role": account.role,
                "own": account.permissions or {},
                "permissions": {one.value: one in permitted for one in Permission},
            }
            for account, permitted in seats.accounts
        ],
    }
