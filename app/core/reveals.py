"""What each workspace owns: a contact's field, revealed once, paid once, owned until it is refunded."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ForeignKey, String, bindparam, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.workspaces import foreign_key
from app.infra.db import Base, insert


class Reveal(Base):
    """A contact's e-mails or phones (`field`: email or phone) that a workspace may see in full.

    `credits` is what it cost; `refunded_at` when they were given back: since then it is not owned, and
    revealing it again is charged again.
    """

    __tablename__ = "reveals"

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    contact_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("contacts.id", ondelete="CASCADE"), primary_key=True
    )
    field: Mapped[str] = mapped_column(primary_key=True)
    job_id: Mapped[str]
    credits: Mapped[int]
    created_at: Mapped[datetime]
    refunded_at: Mapped[datetime | None]


@dataclass(frozen=True, slots=True)
class Paid:
    """What a reveal cost, and the job that was charged."""

    job_id: str
    credits: int


_OWNED = select(Reveal.contact_id, Reveal.field).where(
    Reveal.workspace_id == bindparam("workspace_id"),
    Reveal.contact_id.in_(bindparam("contact_ids", expanding=True)),
    Reveal.refunded_at.is_(None),
)


def owned(session: Session, workspace_id: str, contact_ids: Collection[str]) -> frozenset[tuple[str, str]]:
    """Give the pairs of contact id and field, among these contacts, that the workspace owns."""
    if not contact_ids:
        return frozenset()
    rows = session.execute(_OWNED, {"workspace_id": workspace_id, "contact_ids": list(contact_ids)})
    return frozenset((row.contact_id, row.field) for row in rows)


def record(
    session: Session,
    *,
    workspace_id: str,
    contact_id: str,
    field: str,
    job_id: str,
    price: int,
    now: datetime,
) -> bool:
    """Write down that the workspace owns the field; False if it did before: then nothing may be charged.

    On PostgreSQL this waits for a refund of the same reveal that is under way.
    """
    paid = {"job_id": job_id, "credits": price, "created_at": now, "refunded_at": None}
    written = session.execute(
        insert(session, Reveal)
        .values(workspace_id=workspace_id, contact_id=contact_id, field=field, **paid)
        .on_conflict_do_update(
            index_elements=["workspace_id", "contact_id", "field"],
            set_=paid,
            where=Reveal.refunded_at.is_not(None),
        )
        .returning(Reveal.contact_id)
    )
    return written.first() is not None


def lock(session: Session, contact_id: str, field: str, workspace_ids: Collection[str]) -> frozenset[str]:
    """Lock these workspaces' reveals of the field; return the workspaces that paid for theirs."""
    query = (
        select(Reveal.workspace_id, Reveal.credits)
        .where(
            Reveal.contact_id == contact_id,
            Reveal.field == field,
            Reveal.workspace_id.in_(workspace_ids),
        )
        .order_by(Reveal.workspace_id)
    )
    rows = session.execute(query.with_for_update()).all()
    return frozenset(row.workspace_id for row in rows if row.credits)


def give_back(
    session: Session, *, workspace_id: str, contact_id: str, field: str, since: datetime, now: datetime
) -> Paid | None:
    """Mark the reveal as refunded; return what is to be paid back.

    None if nothing is: it cost nothing, is from before `since`, or was refunded already.
    """
    row = session.execute(
        update(Reveal)
        .where(
            Reveal.workspace_id == workspace_id,
            Reveal.contact_id == contact_id,
            Reveal.field == field,
            Reveal.credits > 0,
            Reveal.created_at >= since,
            Reveal.refunded_at.is_(None),
        )
        .values(refunded_at=now)
        .returning(Reveal.job_id, Reveal.credits)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return None if row is None else Paid(row.job_id, row.credits)
