"""User accounts, each of one workspace. Changing the password or disabling one revokes all its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from sqlalchemy import CheckConstraint, String, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.accounts import api_keys, sessions
from app.core.accounts.workspaces import foreign_key
from app.domain.errors import AdminRequired, ApiAccessRequired, NotFound
from app.domain.ids import is_id, new_id
from app.infra.database_clock import Moment
from app.infra.db import Base, insert


class EmailTaken(ValueError):  # noqa: N818 -- named after what is wrong with the value
    """Another account has this e-mail."""


class Role(StrEnum):
    """The role of an account in its workspace."""

    MEMBER = "member"
    ADMIN = "admin"


class Account(Base):
    """A user who signs in with an e-mail address, which is stored normalised."""

    __tablename__ = "accounts"
    __table_args__ = (CheckConstraint("role IN ('member', 'admin')", name="role_known"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    email: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    role: Mapped[str]
    api_access: Mapped[bool]
    password_hash: Mapped[str]
    disabled_at: Mapped[datetime | None]
    totp_enabled_at: Mapped[datetime | None]
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
    return session.get_one(Account, account_id)


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


def get(session: Session, workspace_id: str, account_id: str) -> Account:
    """Return the account of the workspace.

    Raises:
        NotFound: the workspace has no such account.

    """
    query = select(Account).where(Account.id == account_id, Account.workspace_id == workspace_id)
    account = session.scalar(query) if is_id(account_id, "acc") else None
    if account is None:
        raise NotFound
    return account


def locked(session: Session, account_id: str) -> Account:
    """Return the current account and lock its row until the transaction ends.

    FOR NO KEY UPDATE: inserts with a foreign key to an account take a key-share lock, which it permits.
    """
    return session.get_one(Account, account_id, with_for_update={"key_share": True}, populate_existing=True)


def require_api_access(session: Session, account_id: str) -> None:
    """Raise unless the account may have API keys; lock its row until the transaction ends.

    Raises:
        ApiAccessRequired: the account has no API access.

    """
    if not locked(session, account_id).api_access:
        raise ApiAccessRequired


def require_admin(session: Session, account_id: str) -> None:
    """Raise unless the account is an admin of its workspace.

    Raises:
        AdminRequired: it is not.

    """
    if session.scalar(select(Account.role).where(Account.id == account_id)) != Role.ADMIN:
        raise AdminRequired


def set_password(session: Session, account_id: str, password_hash: str, *, now: Moment) -> None:
    """Change the password and revoke all sessions and API keys of the account."""
    locked(session, account_id).password_hash = password_hash
    end_all(session, account_id, now=now)


def disable(session: Session, account_id: str, *, now: Moment) -> None:
    """Disable the account and revoke all its sessions and API keys."""
    account = locked(session, account_id)
    account.disabled_at = account.disabled_at or now
    end_all(session, account_id, now=now)


def enable(session: Session, account_id: str) -> None:
    """Enable the account again; revoked sessions and API keys stay revoked."""
    locked(session, account_id).disabled_at = None


def set_role(session: Session, account_id: str, role: Role) -> None:
    """Make the account a member or an admin of its workspace; its next request has the new role."""
    locked(session, account_id).role = role.value


def grant_api_access(session: Session, account_id: str) -> None:
    """Allow the account to create API keys."""
    locked(session, account_id).api_access = True


def revoke_api_access(session: Session, account_id: str, *, now: Moment) -> None:
    """Withdraw API access and revoke the account's API keys; its sessions remain valid."""
    locked(session, account_id).api_access = False
    api_keys.revoke_all(session, account_id, now=now)


def end_all(session: Session, account_id: str, *, now: Moment) -> None:
    """Revoke all sessions and API keys of the account."""
    sessions.end_all(session, account_id, now=now)
    api_keys.revoke_all(session, account_id, now=now)
