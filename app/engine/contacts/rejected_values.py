"""Values that a person has had removed from their contact; no import and no provider adds them again."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import ForeignKey, String, select
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.contacts.bulk import batched
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session


class RejectedValue(Base):
    """An e-mail or phone that is not the contact's, as a keyed digest of 8 bytes."""

    __tablename__ = "rejected_values"

    contact_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("contacts.id", ondelete="CASCADE"), primary_key=True
    )
    digest: Mapped[bytes] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]


def reject(session: Session, contact_id: str, value: str, *, now: Moment) -> None:
    """Insert the value of the contact, unless it is known."""
    values = {"contact_id": contact_id, "digest": session.keys.mention_digest(value)}
    session.execute(insert(session, RejectedValue).values(**values, created_at=now).on_conflict_do_nothing())


def rejected(session: Session, pairs: Collection[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return the pairs of contact id and value, among these, that were rejected."""
    ids = {contact_id for contact_id, _value in pairs}
    columns = RejectedValue.contact_id, RejectedValue.digest
    found = {
        (row.contact_id, row.digest)
        for part in batched(ids)
        for row in session.execute(select(*columns).where(RejectedValue.contact_id.in_(part)))
    }
    if not found:
        return frozenset()
    keys = session.keys
    return frozenset(pair for pair in pairs if (pair[0], keys.mention_digest(pair[1])) in found)
