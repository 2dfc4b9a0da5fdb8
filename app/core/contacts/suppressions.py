"""The suppression list: identifiers of people who must not be disclosed or looked up, as keyed digests."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.infra.database_clock import Moment
from app.infra.db import Base, insert
from app.settings import load


class Suppression(Base):
    """A suppressed identifier: HMAC-SHA256 of its kind and normalised value; the value is not stored."""

    __tablename__ = "suppressions"

    digest: Mapped[bytes] = mapped_column(primary_key=True)
    kind: Mapped[str]
    reason: Mapped[str]
    created_at: Mapped[datetime]


@dataclass(frozen=True, slots=True)
class Identifier:
    """An identifier of a person: `kind` is email, linkedin_url or phone; `value` is normalised."""

    kind: str
    value: str

    @property
    def digest(self) -> bytes:
        """Return the 32-byte digest used in the suppression list."""
        message = f"{self.kind}\0{self.value}".encode()
        return hmac.digest(load().suppression_key.encode(), message, hashlib.sha256)


def suppress(session: Session, identifiers: Iterable[Identifier], *, reason: str, now: Moment) -> int:
    """Insert the identifiers; return how many were new."""
    return sum(suppress_digest(session, one.kind, one.digest, reason=reason, now=now) for one in identifiers)


def suppress_digest(session: Session, kind: str, digest: bytes, *, reason: str, now: Moment) -> bool:
    """Insert an identifier of which only the digest is known; return whether it was new."""
    row = session.execute(
        insert(session, Suppression)
        .values(digest=digest, kind=kind, reason=reason, created_at=now)
        .on_conflict_do_nothing()
        .returning(Suppression.digest)
    )
    return row.first() is not None


def remove(session: Session, identifiers: Iterable[Identifier]) -> int:
    """Delete the identifiers, regardless of the reason; return how many were suppressed."""
    digests = [one.digest for one in identifiers]
    gone = delete(Suppression).where(Suppression.digest.in_(digests)).returning(Suppression.digest)
    return len(session.scalars(gone).all())


def remove_all(session: Session, *, reason: str) -> int:
    """Delete all identifiers suppressed for this reason; return how many."""
    gone = delete(Suppression).where(Suppression.reason == reason).returning(Suppression.digest)
    return len(session.scalars(gone).all())


_AMONG = select(Suppression.digest).where(Suppression.digest.in_(bindparam("digests", expanding=True)))


def suppressed(session: Session, identifiers: Iterable[Identifier]) -> frozenset[Identifier]:
    """Return the identifiers that are suppressed."""
    by_digest = {identifier.digest: identifier for identifier in identifiers}
    if not by_digest:
        return frozenset()
    found = session.scalars(_AMONG, {"digests": list(by_digest)})
    return frozenset(by_digest[digest] for digest in found)


def latest(session: Session) -> datetime | None:
    """Return the time of the latest suppression, or None."""
    return session.scalar(select(func.max(Suppression.created_at)))
