"""User accounts, each of one workspace. Changing the password or disabling one revokes all its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, String, exists, false, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.audit_actions import Action
from app.domain.errors import ApiAccessRequired, NotFound
from app.domain.ids import is_id, new_id
from app.engine.accounts import api_keys, sessions, workspaces
from app.engine.accounts.workspaces import foreign_key
from app.engine.audit_log import entries as audit_log
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session


class EmailTaken(ValueError):  # noqa: N818 -- named after what is wrong with the value
    """Another account has this e-mail."""


class DisabledByOperator(Exception):  # noqa: N818 -- named after what happened
    """An operator disabled the account, so only an operator enables it."""


class Role(StrEnum):
    """The role of an account in its workspace."""

    MEMBER = "member"
    ADMIN = "admin"


class Account(Base):
    """A user who signs in with an e-mail address, which is stored normalised.

    `permissions` are those that the account has or lacks whatever its workspace gives to members, by name.
    `language` is that of the user's messages, None until one is chosen on a page.
    """

    __tablename__ = "accounts"
    __table_args__ = (CheckConstraint("role IN ('member', 'admin')", name="role_known"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    email: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    role: Mapped[str]
    permissions: Mapped[dict[str, Any] | None]
    api_access: Mapped[bool]
    password_hash: Mapped[str]
    disabled_at: Mapped[datetime | None]
    disabled_by_operator: Mapped[bool] = mapped_column(default=False, server_default=false())
    totp_enabled_at: Mapped[datetime | None]
    language: Mapped[str | None] = mapped_column(String(8))
    created_at: Mapped[datetime]


def create(
    session: Session,
    workspace_id: str,
    *,
    email: str,
    name: str,
    password_hash: str,
    role: Role = Role.MEMBER,
    api_access: bool = False,
    now: Moment,
) -> Account:
    """Insert an account; the e-mail must be normalised.

    Raises:
        EmailTaken: another account has this e-mail.

    """
    account_id = session.scalar(
        insert(session, Account)
        .values(
            id=new_id("acc"),
            workspace_id=workspace_id,
            email=email,
            name=name,
            role=role.value,
            api_access=api_access,
            password_hash=password_hash,
            created_at=now,
        )
        .on_conflict_do_nothing(index_elements=[Account.email])
        .returning(Account.id)
    )
    if account_id is None:
        raise EmailTaken
    account = session.get_one(Account, account_id)
    _record(session, Action.ACCOUNT_CREATE, account)
    return account


def default_role(session: Session, workspace_id: str) -> Role:
    """Return the role of a new account: an admin if it is the workspace's first one, else a member.

    Lock the workspace, so that of two first accounts only one is.
    """
    workspaces.lock(session, [workspace_id])
    has_accounts = session.scalar(select(exists().where(Account.workspace_id == workspace_id)))
    return Role.MEMBER if has_accounts else Role.ADMIN


def by_email(session: Session, email: str) -> Account | None:
    """Return the account with this normalised e-mail, or None."""
    return session.scalar(select(Account).where(Account.email == email))


def list_all(session: Session) -> Sequence[Account]:
    """Return all accounts, ordered by workspace and e-mail."""
    return session.scalars(select(Account).order_by(Account.workspace_id, Account.email)).all()


def of_workspace(session: Session, workspace_id: str) -> Sequence[Account]:
    """Return the accounts of the workspace, ordered by e-mail."""
    query = select(Account).where(Account.workspace_id == workspace_id).order_by(Account.email)
    return session.scalars(query).all()


def workspaces_of_domain(session: Session, domain: str) -> set[str]:
    """Return the ids of the workspaces that have an account with an address of this e-mail domain."""
    of_domain = Account.email.endswith(f"@{domain}", autoescape=True)
    return set(session.scalars(select(Account.workspace_id).where(of_domain).distinct()))


def get(session: Session, workspace_id: str, account_id: str) -> Account:
    """Return the account of the workspace."""
    query = select(Account).where(Account.id == account_id, Account.workspace_id == workspace_id)
    account = session.scalar(query) if is_id(account_id, "acc") else None
    if account is None:
        raise NotFound("The workspace has no such account. List its accounts with GET /api/permissions.")
    return account


def locked(session: Session, account_id: str) -> Account:
    """Return the current account and lock its row until the transaction ends.

    FOR NO KEY UPDATE: inserts with a foreign key to an account take a key-share lock, which it permits.
    """
    return session.get_one(Account, account_id, with_for_update={"key_share": True}, populate_existing=True)


def require_api_access(session: Session, account_id: str) -> None:
    """Raise unless the account may have API keys; lock its row until the transaction ends."""
    if not locked(session, account_id).api_access:
        raise ApiAccessRequired


def set_password(session: Session, account_id: str, password_hash: str, *, now: Moment) -> None:
    """Change the password and revoke all sessions and API keys of the account."""
    account = locked(session, account_id)
    account.password_hash = password_hash
    _record(session, Action.PASSWORD_CHANGE, account)
    end_all(session, account_id, now=now)


def choose_language(session: Session, account_id: str, language: str) -> None:
    """Store the language in which the user reads."""
    locked(session, account_id).language = language


def disable(session: Session, account_id: str, *, by_operator: bool = True, now: Moment) -> None:
    """Disable the account and revoke all its sessions and API keys."""
    account = locked(session, account_id)
    account.disabled_at = account.disabled_at or now
    account.disabled_by_operator = account.disabled_by_operator or by_operator
    _record(session, Action.ACCOUNT_DISABLE, account)
    end_all(session, account_id, now=now)


def enable(session: Session, account_id: str, *, by_operator: bool = True) -> None:
    """Enable the account again; revoked sessions and API keys stay revoked.

    Raises:
        DisabledByOperator: an operator disabled it, and an admin of the workspace would enable it.

    """
    account = locked(session, account_id)
    if account.disabled_by_operator and not by_operator:
        raise DisabledByOperator
    account.disabled_at = None
    account.disabled_by_operator = False
    _record(session, Action.ACCOUNT_ENABLE, account)


def set_role(session: Session, account_id: str, role: Role) -> None:
    """Make the account a member or an admin of its workspace; its next request has the new role."""
    account = locked(session, account_id)
    if account.role != role:
        account.role = role.value
        _record(session, Action.ACCOUNT_ROLE, account, reason=role.value)


def grant_api_access(session: Session, account_id: str) -> None:
    """Allow the account to create API keys."""
    account = locked(session, account_id)
    account.api_access = True
    _record(session, Action.API_ACCESS_GRANT, account)


def revoke_api_access(session: Session, account_id: str, *, now: Moment) -> None:
    """Withdraw API access and revoke the account's API keys; its sessions remain valid."""
    account = locked(session, account_id)
    account.api_access = False
    _record(session, Action.API_ACCESS_REVOKE, account)
    api_keys.revoke_all(session, account_id, now=now)


def end_all(session: Session, account_id: str, *, now: Moment) -> None:
    """Revoke all sessions and API keys of the account."""
    sessions.end_all(session, account_id, now=now)
    api_keys.revoke_all(session, account_id, now=now)


def _record(session: Session, action: Action, account: Account, *, reason: str | None = None) -> None:
    audit_log.record(session, action, object_id=account.id, workspace_id=account.workspace_id, reason=reason)
