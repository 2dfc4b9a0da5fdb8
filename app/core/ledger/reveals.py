"""What each workspace owns: fields of contacts, and every value it was given, each until it is refunded.

Two contacts may have one address, since two profiles are two people. A value that the workspace owns costs
nothing under any of them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    ForeignKey,
    Index,
    Select,
    String,
    and_,
    bindparam,
    cast,
    column,
    delete,
    func,
    literal,
    null,
    select,
    table,
    union_all,
    update,
)
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.accounts.workspaces import foreign_key
from app.infra.db import Base, UtcDateTime, insert


class Reveal(Base):
    """A contact's e-mails or phones (`field`: email or phone) that a workspace may see in full.

    `credits` is what it cost; `refunded_at` when they were given back: since then it is not owned, and
    revealing it again is charged again.
    """

    __tablename__ = "reveals"
    __table_args__ = (Index("ix_reveals_contact_id", "contact_id"),)

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    contact_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("contacts.id", ondelete="CASCADE"), primary_key=True
    )
    field: Mapped[str] = mapped_column(primary_key=True)
    job_id: Mapped[str]
    credits: Mapped[int]
    created_at: Mapped[datetime]
    refunded_at: Mapped[datetime | None]


class RevealedValue(Base):
    """An e-mail or phone that a workspace may see in full, whichever contact it is asked for under.

    `contact_id` is the contact under which it was given first, and `job_id` the job that was charged then;
    None if the value came to a contact that was owned already. Of two jobs that reveal one value at once, the
    primary key lets one insert it, and only that one charges.
    """

    __tablename__ = "revealed_values"
    __table_args__ = (Index("ix_revealed_values_contact_id", "contact_id"),)

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    field: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True)
    contact_id: Mapped[str] = mapped_column(String(28), ForeignKey("contacts.id", ondelete="CASCADE"))
    job_id: Mapped[str | None]
    created_at: Mapped[datetime]


@dataclass(frozen=True, slots=True)
class Owned:
    """What a workspace owns of some contacts.

    `fields` are pairs of contact id and field. `values` are pairs of field and value that it owns under any
    contact, as far as these contacts have them.
    """

    fields: frozenset[tuple[str, str]] = frozenset()
    values: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class RefundableCharge:
    """What a reveal cost, and the job that was charged."""

    job_id: str
    credits: int


_IDS: BindParameter[Any] = bindparam("contact_ids", expanding=True)
_WORKSPACE: BindParameter[Any] = bindparam("workspace_id")
# Values know their workspaces' reveals, not the other way round: this is what is needed of their tables.
_VALUES = {
    field: table(
        name,
        column("id", String),
        column("contact_id", String),
        column(value, String),
        column("first_seen_at", UtcDateTime),
    )
    for field, name, value in (("email", "emails", "email"), ("phone", "phones", "e164"))
}
_COLUMN = {"email": "email", "phone": "e164"}


def _value(field: str) -> ColumnElement[str]:
    return _VALUES[field].c[_COLUMN[field]]


def _owned_values(field: str) -> Select[str, str, str]:
    values = _VALUES[field]
    owned = and_(
        RevealedValue.workspace_id == _WORKSPACE,
        RevealedValue.field == field,
        RevealedValue.value == _value(field),
    )
    return (
        select(values.c.contact_id, literal(field), _value(field))
        .join(RevealedValue, owned)
        .where(values.c.contact_id.in_(_IDS))
    )


_OWNED = union_all(
    select(Reveal.contact_id, Reveal.field, cast(null(), String).label("value")).where(
        Reveal.workspace_id == _WORKSPACE, Reveal.contact_id.in_(_IDS), Reveal.refunded_at.is_(None)
    ),
    *(_owned_values(field) for field in _VALUES),
)


def owned(session: Session, workspace_id: str, contact_ids: Collection[str]) -> Owned:
    """Return what the workspace owns of these contacts, in one query."""
    if not contact_ids:
        return Owned()
    asked = {"workspace_id": workspace_id, "contact_ids": list(contact_ids)}
    rows = session.execute(_OWNED, asked).all()
    return Owned(
        fields=frozenset((row.contact_id, row.field) for row in rows if row.value is None),
        values=frozenset((row.field, row.value) for row in rows if row.value is not None),
    )


def claim(
    session: Session,
    *,
    workspace_id: str,
    contact_id: str,
    field: str,
    values: Collection[str],
    job_id: str,
    now: datetime,
) -> frozenset[str]:
    """Insert the values as the workspace's and return those that it did not own; only they may be charged.

    Of two transactions that claim one value, the second waits for the first.
    """
    shared = {"workspace_id": workspace_id, "contact_id": contact_id, "field": field}
    shared |= {"job_id": job_id}
    rows = [shared | {"value": value, "created_at": now} for value in sorted(set(values))]
    added = insert(session, RevealedValue).values(rows).on_conflict_do_nothing()
    return frozenset(session.scalars(added.returning(RevealedValue.value)))


def extend(session: Session, field: str, value_ids: Collection[str]) -> None:
    """Insert the values, which have just been added, for whoever owns the field of their contacts."""
    _own(session, field, _VALUES[field].c.id.in_(value_ids))


def keep_shared(session: Session, contact_ids: Collection[str]) -> None:
    """Move what was given under these contacts to others that have the same values, before these are deleted.

    What a workspace paid for stays its own under whoever else has it.
    """
    for field, values in _VALUES.items():
        shared = and_(_value(field) == RevealedValue.value, values.c.contact_id.not_in(contact_ids))
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


def given_under(session: Session, workspace_id: str, field: str, value: str) -> str | None:
    """Return the id of the contact under which the workspace was given the value first."""
    row = session.get(RevealedValue, (workspace_id, field, value))
    return None if row is None else row.contact_id


def _own(session: Session, field: str, added: ColumnElement[bool]) -> None:
    """Insert these values for whoever owns the field of their contacts."""
    values = _VALUES[field]
    owners = (
        select(
            Reveal.workspace_id,
            Reveal.field,
            _value(field),
            values.c.contact_id,
            values.c.first_seen_at,
        )
        .join(values, values.c.contact_id == Reveal.contact_id)
        .where(Reveal.field == field, Reveal.refunded_at.is_(None), added)
    )
    names = ["workspace_id", "field", "value", "contact_id", "created_at"]
    session.execute(insert(session, RevealedValue).from_select(names, owners).on_conflict_do_nothing())


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


def mark_refunded(
    session: Session, *, workspace_id: str, contact_id: str, field: str, since: datetime, now: datetime
) -> RefundableCharge:
    """Mark the reveal, which cost something and was not refunded so far, as refunded; return what it cost.

    The caller has locked it (`lock`) and has seen that it is no older than `since`.
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
    _disown(session, workspace_id, contact_id, field)
    return RefundableCharge(row.job_id, row.credits)


def _disown(session: Session, workspace_id: str, contact_id: str, field: str) -> None:
    """Delete what the workspace was given under the contact, unless it owns another one that has it, too."""
    given = delete(RevealedValue).where(
        RevealedValue.workspace_id == workspace_id,
        RevealedValue.contact_id == contact_id,
        RevealedValue.field == field,
    )
    gone = session.scalars(given.returning(RevealedValue.value)).all()
    if gone:
        _own(session, field, and_(_value(field).in_(gone), Reveal.workspace_id == workspace_id))
