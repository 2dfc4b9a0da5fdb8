"""Reveals: the fields of contacts and the values that each workspace bought, until they are refunded.

Two contacts may have the same address, because two profiles are treated as two people. A value that the
workspace owns is free under every contact.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from sqlalchemy import (
    ColumnElement,
    ForeignKey,
    Index,
    String,
    Table,
    Update,
    and_,
    column,
    delete,
    func,
    select,
    table,
    text,
    update,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts.workspaces import foreign_key
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, UtcDateTime, insert
from app.infra.database.session import Session

AT_ONCE = datetime.fromtimestamp(0, UTC)
"""The `verify_at` of new reveals, before every other."""
REFUND_WITHIN = timedelta(days=30)
"""How long after a reveal its credits may be refunded."""
OF_EMAILS = text("field = 'email'")
"""The condition for reveals of e-mails. The index is used for the same text only."""
OWNED = text("refunded_at IS NULL")


class Reveal(Base):
    """A contact's e-mails or phones (`field`: email or phone) that a workspace may see in full.

    `credits` is the price paid, `purpose` why the values were obtained, null if it was not stated. After
    `refunded_at` the field is no longer owned, and revealing it again is charged again. No address of the
    contact is due for verification before `verify_at`.
    """

    __tablename__ = "reveals"
    __table_args__ = (
        Index("ix_reveals_contact_id", "contact_id"),
        Index("ix_reveals_job_id", "job_id"),
        Index(
            "ix_reveals_owned",
            "workspace_id",
            "created_at",
            "contact_id",
            sqlite_where=OWNED,
            postgresql_where=OWNED,
        ),
        Index("ix_reveals_verify_at", "verify_at", sqlite_where=OF_EMAILS, postgresql_where=OF_EMAILS),
    )

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    contact_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("contacts.id", ondelete="CASCADE"), primary_key=True
    )
    field: Mapped[str] = mapped_column(primary_key=True)
    job_id: Mapped[str]
    credits: Mapped[int]
    purpose: Mapped[str | None]
    created_at: Mapped[datetime]
    refunded_at: Mapped[datetime | None]
    verify_at: Mapped[datetime] = mapped_column(server_default="1970-01-01 00:00:00+00:00")


class RevealedValue(Base):
    """An e-mail or phone that a workspace may see in full, under every contact that has it.

    `value_index` is its blind index. `contact_id` is the contact under which it was revealed first. `job_id`
    is the job that was charged; null if the value was added to a field owned already. If two jobs reveal the
    same value concurrently, the primary key lets one of them insert it, and only that one charges.
    """

    __tablename__ = "revealed_values"
    __table_args__ = (Index("ix_revealed_values_contact_id", "contact_id"),)

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    field: Mapped[str] = mapped_column(primary_key=True)
    value_index: Mapped[str] = mapped_column(primary_key=True)
    contact_id: Mapped[str] = mapped_column(String(28), ForeignKey("contacts.id", ondelete="CASCADE"))
    job_id: Mapped[str | None]
    created_at: Mapped[datetime]


@dataclass(frozen=True, slots=True)
class RefundableCharge:
    """The price of a reveal and the job that was charged."""

    job_id: str
    credits: int


# Partial definitions of the tables, whose columns have the blind indexes: the modules of e-mails and phones
# import this one, not the other way round.
STORED = {
    field: table(
        name,
        column("id", String),
        column("contact_id", String),
        column(index, String),
        column("first_seen_at", UtcDateTime),
    )
    for field, name, index in (("email", "emails", "email_index"), ("phone", "phones", "e164_index"))
}
_INDEX = {"email": "email_index", "phone": "e164_index"}


def stored_index(field: str) -> ColumnElement[str]:
    """Return the column of the blind indexes of a field, email or phone."""
    return STORED[field].c[_INDEX[field]]


def add_to_owners(session: Session, field: str, value_ids: Collection[str]) -> None:
    """Insert newly stored values for each workspace that owns the field of their contacts."""
    _insert_owned(session, field, STORED[field].c.id.in_(value_ids))


def reassign_shared(session: Session, contact_ids: Collection[str]) -> None:
    """Reassign revealed values of contacts about to be deleted to other contacts with the same values.

    A value that a workspace paid for remains owned under the other contacts.
    """
    for field, values in STORED.items():
        shared = and_(
            stored_index(field) == RevealedValue.value_index, values.c.contact_id.not_in(contact_ids)
        )
        others = select(func.min(values.c.contact_id)).where(shared)
        session.execute(
            update(RevealedValue)
            .where(
                RevealedValue.field == field,
                RevealedValue.contact_id.in_(contact_ids),
                select(values.c.id).where(shared).exists(),
            )
            .values(contact_id=others.scalar_subquery())
            .execution_options(synchronize_session=False)
        )


def first_contact_id(session: Session, workspace_id: str, field: str, value: str) -> str | None:
    """Return the id of the contact under which the value was first revealed to the workspace."""
    query = select(RevealedValue.contact_id).where(
        RevealedValue.workspace_id == workspace_id,
        RevealedValue.field == field,
        RevealedValue.value_index.in_(stored_forms(session, field, [value])),
    )
    return session.scalar(query.order_by(RevealedValue.created_at).limit(1))


def replace_indexes(session: Session, field: str, indexes: Mapping[str, str]) -> None:
    """Replace indexes of revealed values, unless the workspace owns the value under the new one already.

    Call it while the stored values have the old ones.
    """
    having = select(STORED[field].c.contact_id).where(stored_index(field).in_(indexes))
    table = cast("Table", RevealedValue.__table__)
    is_old = and_(table.c.field == field, table.c.value_index.in_(indexes), table.c.contact_id.in_(having))
    rows = session.execute(delete(table).where(is_old).returning(*table.c)).all()
    if rows:
        new = [
            dict(zip(table.c.keys(), row, strict=True)) | {"value_index": indexes[row.value_index]}
            for row in rows
        ]
        session.execute(insert(session, RevealedValue).on_conflict_do_nothing(), new)


def _insert_owned(session: Session, field: str, added: ColumnElement[bool]) -> None:
    """Insert the matching values for each workspace that owns the field of their contacts."""
    values = STORED[field]
    owners = (
        select(
            Reveal.workspace_id,
            Reveal.field,
            stored_index(field),
            values.c.contact_id,
            values.c.first_seen_at,
        )
        .join(values, values.c.contact_id == Reveal.contact_id)
        .where(Reveal.field == field, Reveal.refunded_at.is_(None), added)
    )
    names = ["workspace_id", "field", "value_index", "contact_id", "created_at"]
    session.execute(insert(session, RevealedValue).from_select(names, owners).on_conflict_do_nothing())


def job_ids(session: Session, workspace_id: str, contact_id: str) -> Sequence[str]:
    """Return the ids of the jobs by which the workspace revealed fields of the contact."""
    is_own = (Reveal.workspace_id == workspace_id, Reveal.contact_id == contact_id)
    return session.scalars(select(Reveal.job_id).where(*is_own, OWNED)).all()


def lock(session: Session, contact_id: str, field: str, workspace_ids: Collection[str]) -> frozenset[str]:
    """Lock these workspaces' reveals of the field; return the ids of the workspaces that paid."""
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


def verify_by(session: Session, contact_id: str | ColumnElement[str], at: Moment) -> None:
    """Move `verify_at` forward to this time, in the first workspace's reveal of the contact's e-mails."""
    first = select(func.min(Reveal.workspace_id)).where(Reveal.contact_id == contact_id, OF_EMAILS)
    session.execute(_earlier(contact_id, first.scalar_subquery(), at))


def verify_at_once(session: Session, workspace_id: str, contact_id: str) -> None:
    """Make the contact's addresses due now. The caller has locked the workspace's reveal."""
    session.execute(_earlier(contact_id, workspace_id, AT_ONCE))


def _earlier(
    contact_id: str | ColumnElement[str], workspace_id: str | ColumnElement[str], at: Moment
) -> Update:
    return (
        update(Reveal)
        .where(
            Reveal.workspace_id == workspace_id,
            Reveal.contact_id == contact_id,
            OF_EMAILS,
            Reveal.verify_at > at,
        )
        .values(verify_at=at)
        .execution_options(synchronize_session=False)
    )


def mark_refunded(
    session: Session, *, workspace_id: str, contact_id: str, field: str, since: datetime, now: datetime
) -> RefundableCharge:
    """Mark a paid reveal as refunded and return its charge.

    The caller has locked the reveal with `lock`, and checked that it is not refunded and not older than
    `since`.
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
    ).one()
    _delete_owned(session, workspace_id, contact_id, field)
    return RefundableCharge(row.job_id, row.credits)


def _delete_owned(session: Session, workspace_id: str, contact_id: str, field: str) -> None:
    """Delete the values revealed under the contact, except values of other owned contacts."""
    statement = delete(RevealedValue).where(
        RevealedValue.workspace_id == workspace_id,
        RevealedValue.contact_id == contact_id,
        RevealedValue.field == field,
    )
    deleted = session.scalars(statement.returning(RevealedValue.value_index)).all()
    # A deleted row also stood for other contacts with the value, whose field the workspace may still own.
    if deleted:
        _insert_owned(
            session, field, and_(stored_index(field).in_(deleted), Reveal.workspace_id == workspace_id)
        )
