"""The suppression list: identifiers of people who must not be disclosed or looked up, as keyed digests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import LargeBinary, bindparam, delete, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.contacts.bulk import batched
from app.infra.database_clock import Moment
from app.infra.db import Base, insert
from app.infra.digest_keys import DigestKeys, digest_keys
from app.infra.statements import Statement


class Suppression(Base):
    """A suppressed identifier: HMAC-SHA256 of its kind and normalised value; the value is not stored."""

    __tablename__ = "suppressions"

    digest: Mapped[bytes] = mapped_column(primary_key=True)
    kind: Mapped[str]
    reason: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(index=True)


@dataclass(frozen=True, slots=True)
class Identifier:
    """An identifier of a person: `kind` is email, linkedin_url or phone; `value` is normalised."""

    kind: str
    value: str


def digest(keys: DigestKeys, identifier: Identifier) -> bytes:
    """Return the 32-byte digest of the identifier in the suppression list."""
    return keys.suppression_digest(identifier.kind, identifier.value)


def suppress(session: Session, identifiers: Iterable[Identifier], *, reason: str, now: Moment) -> int:
    """Insert the identifiers; return how many were new."""
    keys = digest_keys(session)
    return sum(
        suppress_digest(session, item.kind, digest(keys, item), reason=reason, now=now)
        for item in identifiers
    )


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
    keys = digest_keys(session)
    digests = [digest(keys, identifier) for identifier in identifiers]
    deletion = delete(Suppression).where(Suppression.digest.in_(digests)).returning(Suppression.digest)
    return len(session.scalars(deletion).all())


def remove_all(session: Session, *, reason: str) -> int:
    """Delete all identifiers suppressed for this reason; return how many."""
    deletion = delete(Suppression).where(Suppression.reason == reason).returning(Suppression.digest)
    return len(session.scalars(deletion).all())


_PARAMETERS = [bindparam(f"digest_{number}", type_=LargeBinary()) for number in range(8)]
_IS_ONE_OF_FEW = Suppression.digest.in_(_PARAMETERS)
_FEW = Statement(lambda _dialect: select(Suppression.digest).where(_IS_ONE_OF_FEW))
IS_ANY_OF_FEW = select(Suppression.digest).where(_IS_ONE_OF_FEW).exists()
"""The condition that any of a few identifiers is suppressed, with the parameters of `parameters`."""
_MANY = select(Suppression.digest).where(Suppression.digest.in_(bindparam("digests", expanding=True)))


def suppressed(session: Session, identifiers: Iterable[Identifier]) -> frozenset[Identifier]:
    """Return the identifiers that are suppressed."""
    keys = digest_keys(session)
    by_digest = {digest(keys, identifier): identifier for identifier in identifiers}
    if not by_digest:
        return frozenset()
    if len(by_digest) > len(_PARAMETERS):
        return frozenset(by_digest[found] for found in session.scalars(_MANY, {"digests": list(by_digest)}))
    rows = _FEW.all(session, parameters(list(by_digest)))
    return frozenset(by_digest[row.digest] for row in rows)


def any_suppressed(session: Session, identifiers: Iterable[Identifier]) -> frozenset[Identifier]:
    """Return the suppressed ones of any number of identifiers; with an empty list none is digested."""
    if session.scalar(select(Suppression.digest).limit(1)) is None:
        return frozenset()
    return frozenset().union(*(suppressed(session, part) for part in batched(identifiers)))


def parameters(digests: Sequence[bytes] = ()) -> dict[str, bytes | None]:
    """Return the parameters of `IS_ANY_OF_FEW` for up to eight digests; without any, nobody is suppressed."""
    return {
        f"digest_{number}": digests[number] if number < len(digests) else None
        for number in range(len(_PARAMETERS))
    }


LATEST = select(func.max(Suppression.created_at)).scalar_subquery()
"""The time of the latest suppression, or NULL."""
