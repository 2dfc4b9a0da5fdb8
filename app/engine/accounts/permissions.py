"""The permissions of accounts and API keys: read for work that runs later, and changed by admins."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import select, update

from app.domain import permissions
from app.domain.audit_actions import Action
from app.domain.permissions import Permission
from app.engine.accounts import accounts
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.api_keys import ApiKey
from app.engine.accounts.workspaces import Workspace
from app.engine.audit_log import entries as audit_log
from app.infra.database.session import Session


def of_account(session: Session, account_id: str, key_id: str | None = None) -> frozenset[Permission]:
    """Return what the account may do now, or one of its API keys."""
    query = select(Account.role, Account.permissions, Workspace.denied_to_members, ApiKey.permissions)
    joined = query.join(Workspace, Workspace.id == Account.workspace_id).outerjoin(
        ApiKey, ApiKey.id == key_id
    )
    role, own, denied, of_key = session.execute(joined.where(Account.id == account_id)).one()
    account = permissions.granted(is_admin=role == Role.ADMIN, denied_to_members=denied, own=own)
    return permissions.of_key(account, of_key)


def effective(account: Account, denied_to_members: Collection[str]) -> frozenset[Permission]:
    """Return what the account may do, in a workspace with this default for members."""
    return permissions.granted(
        is_admin=account.role == Role.ADMIN, denied_to_members=denied_to_members, own=account.permissions
    )


def denied_to_members(session: Session, workspace_id: str) -> frozenset[Permission]:
    """Return what members of the workspace may not do, unless their account says otherwise."""
    found = session.scalar(select(Workspace.denied_to_members).where(Workspace.id == workspace_id))
    return frozenset(map(Permission, found or ()))


def set_of_members(session: Session, workspace_id: str, changes: Mapping[Permission, bool]) -> None:
    """Allow or deny permissions to the members of the workspace; the caller has locked the workspace."""
    before = denied_to_members(session, workspace_id)
    denied = {one for one in Permission if not changes.get(one, one not in before)}
    if denied != before:
        session.execute(
            update(Workspace)
            .where(Workspace.id == workspace_id)
            .values(denied_to_members=sorted(denied) or None)
        )
        _record(session, Action.PERMISSIONS_MEMBERS, workspace_id, workspace_id, changes)


def set_of_account(session: Session, account_id: str, changes: Mapping[Permission, bool | None]) -> None:
    """Allow or deny permissions to the account; None makes it follow the workspace again."""
    account = accounts.locked(session, account_id)
    before = account.permissions or {}
    after = before | {one.value: is_allowed for one, is_allowed in changes.items()}
    own = {name: is_allowed for name, is_allowed in after.items() if is_allowed is not None}
    if own != before:
        account.permissions = own or None
        _record(session, Action.PERMISSIONS_ACCOUNT, account_id, account.workspace_id, changes)


def _record(
    session: Session,
    action: Action,
    object_id: str,
    workspace_id: str,
    changes: Mapping[Permission, bool | None],
) -> None:
    words = {True: "allowed", False: "denied", None: "default"}
    reason = " ".join(f"{one}={words[changes[one]]}" for one in Permission if one in changes)
    audit_log.record(session, action, object_id=object_id, workspace_id=workspace_id, reason=reason)
