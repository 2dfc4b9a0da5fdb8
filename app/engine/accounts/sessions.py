"""Login sessions, valid until they are idle too long, reach their absolute expiry, or are revoked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ForeignKey, Select, String, Update, delete, exists, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain import tokens
from app.domain.audit_actions import Action
from app.domain.callers import Scope
from app.domain.errors import NotFound
from app.domain.ids import is_id, new_id
from app.domain.tokens import TokenKind
from app.engine.audit_log import entries as audit_log
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session

MAX_LISTED = 100


@dataclass(frozen=True, slots=True)
class SessionLifetime:
    """How long a session is valid: `idle` after its last use, at most `absolute` after its start."""

    idle: timedelta
    absolute: timedelta

    def ends_at(self, expires_at: datetime, last_used_at: datetime) -> datetime:
        """Return the time at which a session expires if it is not used again."""
        return min(expires_at, last_used_at + self.idle)


class Method(StrEnum):
    """How the user of a session signed in."""

    PASSWORD = "password"  # noqa: S105 -- a method, not a secret
    COMPANY = "company"


class LoginSession(Base):
    """A login session. `expires_at` is its absolute expiry; the idle limit counts from `last_used_at`.

    `network_digest` is a keyed digest of the network it was started from (see `login_throttle`).
    """

    __tablename__ = "sessions"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    token_hash: Mapped[bytes] = mapped_column(unique=True)
    network_digest: Mapped[bytes]
    client_name: Mapped[str | None]
    client_version: Mapped[str | None]
    method: Mapped[str] = mapped_column(server_default=Method.PASSWORD.value)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]

    kind = "session"

    @property
    def granted(self) -> tuple[Scope, ...]:
        """All scopes: a session has every permission of its account."""
        return tuple(Scope)

    def ends_at(self, lifetime: SessionLifetime) -> datetime:
        """Return the time at which the token expires if it is not used again."""
        return lifetime.ends_at(self.expires_at, self.last_used_at)


def start(
    session: Session,
    account_id: str,
    *,
    network: bytes,
    client_name: str | None = None,
    client_version: str | None = None,
    method: Method = Method.PASSWORD,
    lifetime: SessionLifetime,
    now: Moment,
) -> tuple[LoginSession, str]:
    """Insert a session and return it with its token, which is not stored."""
    token = tokens.new_token(TokenKind.SESSION)
    started = LoginSession(
        id=new_id("ses"),
        account_id=account_id,
        token_hash=tokens.digest(token),
        network_digest=network,
        client_name=client_name,
        client_version=client_version,
        method=method.value,
        created_at=now,
        expires_at=now + lifetime.absolute,
        last_used_at=now,
    )
    session.add(started)
    session.flush()
    return started, token


def of_account(
    session: Session, account_id: str, *, lifetime: SessionLifetime, now: Moment
) -> Sequence[LoginSession]:
    """Return the account's valid sessions, most recently used first, at most 100."""
    return session.scalars(_valid(account_id, lifetime, now).limit(MAX_LISTED)).all()


def end(session: Session, account_id: str, session_id: str, *, now: Moment) -> None:
    """Revoke one session of the account at once; a session that is revoked already stays as it is."""
    query = select(LoginSession).where(LoginSession.id == session_id, LoginSession.account_id == account_id)
    found = session.scalar(query) if is_id(session_id, "ses") else None
    if found is None:
        raise NotFound("There is no such session. List yours with GET /api/sessions.")
    if found.revoked_at is None:
        found.revoked_at = now
        audit_log.record_each(session, Action.SESSION_END, [session_id], account_id=account_id)


def end_excess(
    session: Session, started: LoginSession, *, limit: int, lifetime: SessionLifetime, now: Moment
) -> None:
    """Revoke the account's sessions above the limit, least recently used first, never the new one."""
    others = _valid(started.account_id, lifetime, now).where(LoginSession.id != started.id)
    excess = others.offset(limit - 1).with_only_columns(LoginSession.id)
    ended = session.scalars(_ending(now).where(LoginSession.id.in_(excess)).returning(LoginSession.id)).all()
    audit_log.record_each(session, Action.SESSION_END, ended, account_id=started.account_id)


def end_all(session: Session, account_id: str, *, spared: str | None = None, now: Moment) -> int:
    """Revoke every session of the account except `spared`; return their number."""
    ending = _ending(now).where(LoginSession.account_id == account_id)
    if spared is not None:
        ending = ending.where(LoginSession.id != spared)
    ended = [row.id for row in session.execute(ending.returning(LoginSession.id))]
    audit_log.record_each(session, Action.SESSION_END, ended, account_id=account_id)
    return len(ended)


def end_everywhere(session: Session, *, now: Moment) -> int:
    """Revoke every session of every account; return their number."""
    return len(session.execute(_ending(now).returning(LoginSession.id)).all())


def has_signed_in_from(session: Session, account_id: str | None, network: bytes) -> bool:
    """Return whether a stored session of the account was started from this network."""
    found = session.scalar(
        select(
            exists().where(
                LoginSession.account_id == (account_id or ""), LoginSession.network_digest == network
            )
        )
    )
    return bool(found)


def purge_expired(session: Session, *, now: Moment) -> int:
    """Delete sessions past their absolute expiry; return their number."""
    expired = session.execute(
        delete(LoginSession).where(LoginSession.expires_at <= now).returning(LoginSession.id)
    )
    return len(expired.all())


def _valid(account_id: str, lifetime: SessionLifetime, now: Moment) -> Select[LoginSession]:
    return (
        select(LoginSession)
        .where(
            LoginSession.account_id == account_id,
            LoginSession.revoked_at.is_(None),
            LoginSession.expires_at > now,
            LoginSession.last_used_at > now - lifetime.idle,
        )
        .order_by(LoginSession.last_used_at.desc(), LoginSession.id.desc())
    )


def _ending(now: Moment) -> Update:
    return update(LoginSession).where(LoginSession.revoked_at.is_(None)).values(revoked_at=now)
