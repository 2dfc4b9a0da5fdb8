"""The tables of provisioning: the token of a workspace, what the provider says of users, and its groups."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts.workspaces import foreign_key
from app.engine.tables import Tables
from app.infra.database.db import Base


class ScimToken(Base):
    """The only token of a workspace; a hash of it is stored, and its beginning to tell it by.

    `created_by` is the account that made it; null for an operator's command.
    """

    __tablename__ = "scim_tokens"

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    id: Mapped[str] = mapped_column(String(28))
    prefix: Mapped[str]
    digest: Mapped[bytes] = mapped_column(unique=True)
    created_by: Mapped[str | None] = mapped_column(String(28))
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]


class ScimUser(Base):
    """What the provider says of an account: `data` has its attributes, `user_key` its userName in lower case.

    `removed_at` is set while the provider has deleted the user, whose account is then disabled. `has_seat`
    states that the account's permissions are those of its groups.
    """

    __tablename__ = "scim_users"
    __table_args__ = (UniqueConstraint("workspace_id", "user_key"),)

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    user_key: Mapped[str]
    external_id: Mapped[str | None]
    data: Mapped[dict[str, Any]]
    has_seat: Mapped[bool]
    updated_at: Mapped[datetime]
    removed_at: Mapped[datetime | None]


class ScimGroup(Base):
    """A group of the provider, and the role and the permissions that its members get; null for none of it."""

    __tablename__ = "scim_groups"
    __table_args__ = (
        UniqueConstraint("workspace_id", "name_key"),
        CheckConstraint("role IN ('member', 'admin')", name="role_known"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    name: Mapped[str]
    name_key: Mapped[str]
    external_id: Mapped[str | None]
    role: Mapped[str | None]
    permissions: Mapped[list[Any] | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class ScimMember(Base):
    """An account in a group."""

    __tablename__ = "scim_members"

    group_id: Mapped[str] = mapped_column(ForeignKey("scim_groups.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True, index=True
    )


TABLES = Tables()
