"""API keys: tokens that an account creates for its own programs, with scopes and an optional expiry."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, func, or_, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain import tokens
from app.domain.audit_actions import Action
from app.domain.callers import Scope
from app.domain.errors import FieldError, NotFound, ValidationFailed
from app.domain.ids import is_id, new_id
from app.domain.messages import Message
from app.domain.permissions import ALL, Permission
from app.domain.tokens import TokenKind
from app.engine.audit_log import entries as audit_log
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session

MAX_KEYS = 50
"""Keys of an account that are neither revoked nor expired: rate limits count per key."""


class ApiKey(Base):
    """An API key; only the first characters and a hash of its token are stored.

    `permissions` are those of its account that it has; all without a list.
    """

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    prefix: Mapped[str]
    scopes: Mapped[list[Any]]
    permissions: Mapped[list[Any] | None]
    token_hash: Mapped[bytes] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]

    kind = "api_key"


def create(
    session: Session,
    account_id: str,
    *,
    name: str,
    scopes: Iterable[Scope],
    permissions: Iterable[Permission] = ALL,
    expires_at: datetime | None,
    now: Moment,
) -> tuple[ApiKey, str]:
    """Insert a key and return it with its token, which is not stored.

    The caller checks API access first, which locks the account, so that no other key is added meanwhile.
    """
    _require_room(session, account_id, now)
    token = tokens.new_token(TokenKind.API_KEY)
    granted, permitted = set(scopes), set(permissions)
    key = ApiKey(
        id=new_id("key"),
        account_id=account_id,
        name=name,
        prefix=tokens.shown_prefix(token),
        scopes=[scope.value for scope in Scope if scope in granted],
        permissions=None if permitted == ALL else sorted(permitted),
        token_hash=tokens.digest(token),
        created_at=now,
        expires_at=expires_at,
    )
    session.add(key)
    session.flush()
    audit_log.record_each(session, Action.API_KEY_CREATE, [key.id], account_id=account_id)
    return key, token


def get(session: Session, account_id: str, key_id: str) -> ApiKey:
    """Return a key of the account, revoked or not."""
    query = select(ApiKey).where(ApiKey.id == key_id, ApiKey.account_id == account_id)
    key = session.scalar(query) if is_id(key_id, "key") else None
    if key is None:  # another account's key is not read, so timing does not reveal it
        raise NotFound("There is no such key. List yours with GET /api/keys.")
    return key


def revoke(session: Session, account_id: str, key_id: str, *, now: Moment) -> None:
    """Revoke the key at once; a key that is revoked already stays as it is."""
    key = get(session, account_id, key_id)
    if key.revoked_at is None:
        key.revoked_at = now
        audit_log.record_each(session, Action.API_KEY_REVOKE, [key_id], account_id=account_id)


def revoke_all(session: Session, account_id: str, *, now: Moment) -> None:
    """Revoke every key of the account at once."""
    revoked = session.scalars(
        update(ApiKey)
        .where(ApiKey.account_id == account_id, ApiKey.revoked_at.is_(None))
        .values(revoked_at=now)
        .returning(ApiKey.id)
    ).all()
    audit_log.record_each(session, Action.API_KEY_REVOKE, revoked, account_id=account_id)


def _require_room(session: Session, account_id: str, now: Moment) -> None:
    live = select(func.count()).where(
        ApiKey.account_id == account_id,
        ApiKey.revoked_at.is_(None),
        or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > now),
    )
    if session.scalars(live).one() >= MAX_KEYS:
        detail = Message("The account has {max} API keys. Revoke one that is no longer used.", max=MAX_KEYS)
        raise ValidationFailed(detail, errors=(FieldError("/name", detail),))
