"""Sessions: what a sign-in hands out, until it is idle too long, comes to its end, or is ended."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import ForeignKey, String, Update, delete, exists, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.domain import tokens
from app.domain.callers import Scope
from app.domain.ids import new_id
from app.domain.tokens import TokenKind
from app.infra.db import Base
from app.settings import load


class SignedIn(Base):
    """One session. `expires_at` is its absolute end; the idle limit counts from `last_used_at`.

    `network` is a keyed digest of the network it was started from, see `app.core.sign_ins`.
    """

    __tablename__ = "sessions"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    hash: Mapped[bytes] = mapped_column(unique=True)
    network: Mapped[bytes]
    client_name: Mapped[str | None]
    client_version: Mapped[str | None]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]

    kind = "session"

    @property
    def granted(self) -> tuple[Scope, ...]:
        """A session may do everything its account may."""
        return tuple(Scope)

    @property
    def ends_at(self) -> datetime:
        """When the token stops working if it is not used again."""
        return min(self.expires_at, self.last_used_at + timedelta(days=load().session_idle_days))


def start(
    session: Session,
    account_id: str,
    *,
    network: bytes,
    client_name: str | None = None,
    client_version: str | None = None,
    now: datetime,
) -> tuple[SignedIn, str]:
    """Begin a session; give it with its token, which is kept nowhere."""
    token = tokens.new_token(TokenKind.SESSION)
    started = SignedIn(
        id=new_id("ses"),
        account_id=account_id,
        hash=tokens.digest(token),
        network=network,
        client_name=client_name,
        client_version=client_version,
        created_at=now,
        expires_at=now + timedelta(days=load().session_absolute_days),
        last_used_at=now,
    )
    session.add(started)
    session.flush()
    return started, token


def end(session: Session, session_id: str, *, now: datetime) -> None:
    """Sign out: the token stops working at once."""
    session.execute(_ending(now).where(SignedIn.id == session_id))


def end_all(session: Session, account_id: str, *, now: datetime) -> None:
    """End every session of the account at once."""
    session.execute(_ending(now).where(SignedIn.account_id == account_id))


def came_from(session: Session, account_id: str | None, network: bytes) -> bool:
    """Tell whether the account has signed in from this network before, as far as is remembered."""
    found = session.scalar(
        select(exists().where(SignedIn.account_id == (account_id or ""), SignedIn.network == network))
    )
    return bool(found)


def forget(session: Session, *, now: datetime) -> int:
    """Delete sessions whose absolute end is over; give how many."""
    ended = session.execute(delete(SignedIn).where(SignedIn.expires_at <= now).returning(SignedIn.id))
    return len(ended.all())


def _ending(now: datetime) -> Update:
    return update(SignedIn).where(SignedIn.revoked_at.is_(None)).values(revoked_at=now)
