"""What each workspace owns: fields of contacts and the values revealed to it, until they are refunded.

Two contacts may have the same address, because two profiles are treated as two people. A value that the
workspace owns is free under every contact.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    ForeignKey,
    Index,
    Select,
    String,
    Update,
    and_,
    bindparam,
    cast,
    column,
    delete,
    false,
    func,
    literal,
    null,
    or_,
    select,
    table,
    text,
    union_all,
    update,
)
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.accounts.workspaces import foreign_key
from app.infra.database_clock import Moment
from app.infra.db import Base, UtcDateTime, insert, insert_into
from app.infra.statements import Statement, any_of, items_of

AT_ONCE = datetime.fromtimestamp(0, UTC)
"""The `verify_at` of new reveals, before every other."""
OF_EMAILS = text("field = 'email'")
"""The condition for reveals of e-mails. The index is used for the same text only."""


class Reveal(Base):
    """A contact's e-mails or phones (`field`: email or phone) that a workspace may see in full.

    `credits` is the price paid. After `refunded_at` the field is no longer owned, and revealing it again is
    charged again. No address of the contact is due for verification before `verify_at`.
    """

    __tablename__ = "reveals"
    __table_args__ = (
        Index("ix_reveals_contact_id", "contact_id"),
        Index("ix_reveals_job_id", "job_id"),
        Index("ix_reveals_verify_at", "verify_at", sqlite_where=OF_EMAILS, postgresql_where=OF_EMAILS),
    )

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    contact_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("contacts.id", ondelete="CASCADE"), primary_key=True
    )
    field: Mapped[str] = mapped_column(primary_key=True)
    job_id: Mapped[str]
    credits: Mapped[int]
    created_at: Mapped[datetime]
    refunded_at: Mapped[datetime | None]
    verify_at: Mapped[datetime] = mapped_column(server_default="1970-01-01 00:00:00+00:00")


class RevealedValue(Base):
    """An e-mail or phone that a workspace may see in full, under every contact that has it.

    `contact_id` is the contact under which it was revealed first. `job_id` is the job that was charged; null
    if the value was added to a field owned already. If two jobs reveal the same value concurrently, the
    primary key lets one of them insert it, and only that one charges.
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
class Ownership:
    """What a workspace owns of some contacts.

    `fields` are pairs of contact id and field. `values` are pairs of field and value: the contacts' values
    that the workspace owns under any contact.
    """

    fields: frozenset[tuple[str, str]] = frozenset()
    values: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class RefundableCharge:
    """The price of a reveal and the job that was charged."""

    job_id: str
    credits: int


_WORKSPACE: BindParameter[Any] = bindparam("workspace_id")
# Partial table definitions: the modules of e-mails and phones import this one, not the other way round.
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
_CONTACTS = table("contacts", column("id", String), column("linkedin_url", String))


def _value(field: str) -> ColumnElement[str]:
    return _VALUES[field].c[_COLUMN[field]]


def _owned_values(dialect: str, field: str) -> Select[*tuple[Any, ...]]:
    values = _VALUES[field]
    owned = and_(
        RevealedValue.workspace_id == _WORKSPACE,
        RevealedValue.field == field,
        RevealedValue.value == _value(field),
    )
    return (
        select(values.c.contact_id, literal(field).label("field"), _value(field).label("value"))
        .join(RevealedValue, owned)
        .where(any_of(dialect, values.c.contact_id, "contact_ids"))
    )


def owned_queries(dialect: str) -> tuple[Select[*tuple[Any, ...]], ...]:
    """Return the queries of what a workspace owns, with the parameters `workspace_id` and `contact_ids`.

    The rows of the first are owned fields, those of the others owned values.
    """
    fields = select(Reveal.contact_id, Reveal.field, cast(null(), String).label("value")).where(
        Reveal.workspace_id == _WORKSPACE,
        any_of(dialect, Reveal.contact_id, "contact_ids"),
        Reveal.refunded_at.is_(None),
    )
    return fields, *(_owned_values(dialect, field) for field in _VALUES)


_OWNED = Statement(lambda dialect: union_all(*owned_queries(dialect)))


def _acquire_values(dialect: str) -> Any:  # noqa: ANN401 -- an INSERT of either dialect
    """Return the insertion of values; it returns those that the workspace did not own."""
    names = ("workspace_id", "field", "contact_id", "job_id", "created_at")
    columns = RevealedValue.__table__.c
    shared = (bindparam(name, type_=columns[name].type) for name in names)
    rows = select(*shared, items_of(dialect, "values").c.value).where(text("1 = 1"))  # SQLite needs a WHERE
    insertion = insert_into(dialect, RevealedValue).from_select([*names, "value"], rows)
    return insertion.on_conflict_do_nothing().returning(RevealedValue.value)


def _acquire_field(dialect: str, is_wanted: ColumnElement[bool] | None = None) -> Any:  # noqa: ANN401 -- likewise
    """Return the insertion of a field that the workspace does not own, or owned until a refund."""
    names = ("workspace_id", "contact_id", "field", "job_id", "credits", "created_at")
    values = {name: bindparam(name, type_=Reveal.__table__.c[name].type) for name in names}
    insertion = insert_into(dialect, Reveal)
    insertion = (
        insertion.values(values)
        if is_wanted is None
        else insertion.from_select(names, select(*values.values()).where(is_wanted))
    )
    paid = {name: insertion.excluded[name] for name in ("job_id", "credits", "created_at")}
    return insertion.on_conflict_do_update(
        index_elements=["workspace_id", "contact_id", "field"],
        set_=paid | {"refunded_at": None},
        where=Reveal.refunded_at.is_not(None),
    ).returning(Reveal.contact_id)


def is_field_owned(workspace_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a workspace owns a field of a contact; see `field_parameters`."""
    by_key = or_(
        _CONTACTS.c.id == bindparam("owned_contact_id"),
        _CONTACTS.c.linkedin_url == bindparam("owned_linkedin_url"),
    )
    return (
        select(Reveal.field)
        .join(_CONTACTS, _CONTACTS.c.id == Reveal.contact_id)
        .where(
            by_key,
            Reveal.workspace_id == workspace_id,
            Reveal.field == bindparam("owned_field"),
            Reveal.refunded_at.is_(None),
        )
        .exists()
    )


def field_parameters(
    field: str | None = None, *, contact_id: str | None = None, linkedin_url: str | None = None
) -> dict[str, str | None]:
    """Return the parameters of `is_field_owned`: the contact by id or profile; without any, none is owned."""
    return {"owned_field": field, "owned_contact_id": contact_id, "owned_linkedin_url": linkedin_url}


def _acquire(dialect: str) -> Any:  # noqa: ANN401 -- likewise
    """Return the insertion of values; on PostgreSQL it acquires the field too if any value was new.

    It returns the new values, and whether it has acquired the field.
    """
    insertion = _acquire_values(dialect)
    if dialect == "sqlite":
        return insertion.returning(false().label("is_acquired"))
    added = insertion.cte("added")
    acquired = _acquire_field(dialect, is_wanted=select(added.c.value).exists()).cte("acquired")
    return select(added.c.value, select(acquired.c.contact_id).exists().label("is_acquired"))


_ACQUIRE_VALUES, _ACQUIRE_FIELD = Statement(_acquire_values), Statement(_acquire_field)
_ACQUIRE = Statement(_acquire)


def owned(session: Session, workspace_id: str, contact_ids: Collection[str]) -> Ownership:
    """Return what the workspace owns of these contacts, in one query."""
    if not contact_ids:
        return Ownership()
    parameters = {"workspace_id": workspace_id, "contact_ids": list(contact_ids)}
    return ownership(_OWNED.all(session, parameters))


def ownership(rows: Sequence[Any]) -> Ownership:
    """Return the ownership that the rows of `owned_queries` describe."""
    return Ownership(
        fields=frozenset((row.contact_id, row.field) for row in rows if row.value is None),
        values=frozenset((row.field, row.value) for row in rows if row.value is not None),
    )


def acquire(
    session: Session,
    *,
    workspace_id: str,
    contact_id: str,
    field: str,
    values: Collection[str],
    job_id: str,
    price: int,
    now: datetime,
) -> bool:
    """Insert the workspace's ownership of the values and of the field; return whether it is to be charged.

    False if it owned all values or the field already. If two transactions acquire the same value, the second
    waits for the first. On PostgreSQL this also waits for a concurrent refund of the same reveal.
    """
    shared: dict[str, Any] = {"workspace_id": workspace_id, "contact_id": contact_id, "field": field}
    shared |= {"job_id": job_id, "created_at": now}
    added = _ACQUIRE.all(session, shared | {"values": sorted(set(values)), "credits": price})
    if not added or added[0].is_acquired:
        return bool(added)
    return _ACQUIRE_FIELD.first(session, shared | {"credits": price}) is not None


def acquire_values(
    session: Session,
    *,
    workspace_id: str,
    contact_id: str,
    field: str,
    values: Collection[str],
    job_id: str,
    now: datetime,
) -> frozenset[str]:
    """Insert the values as owned by the workspace; return the new ones, the only ones that may be charged.

    If two transactions acquire the same value, the second waits for the first.
    """
    shared: dict[str, Any] = {"workspace_id": workspace_id, "contact_id": contact_id, "field": field}
    shared |= {"job_id": job_id, "created_at": now}
    added = _ACQUIRE_VALUES.all(session, shared | {"values": sorted(set(values))})
    return frozenset(row.value for row in added)


def add_to_owners(session: Session, field: str, value_ids: Collection[str]) -> None:
    """Insert newly stored values for each workspace that owns the field of their contacts."""
    _insert_owned(session, field, _VALUES[field].c.id.in_(value_ids))


def reassign_shared(session: Session, contact_ids: Collection[str]) -> None:
    """Reassign revealed values of contacts about to be deleted to other contacts with the same values.

    A value that a workspace paid for remains owned under the other contacts.
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


def first_contact_id(session: Session, workspace_id: str, field: str, value: str) -> str | None:
    """Return the id of the contact under which the value was first revealed to the workspace."""
    row = session.get(RevealedValue, (workspace_id, field, value))
    return None if row is None else row.contact_id


def _insert_owned(session: Session, field: str, added: ColumnElement[bool]) -> None:
    """Insert the matching values for each workspace that owns the field of their contacts."""
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


def acquire_field(
    session: Session,
    *,
    workspace_id: str,
    contact_id: str,
    field: str,
    job_id: str,
    price: int,
    now: datetime,
) -> bool:
    """Insert the workspace's ownership of the field; return False, nothing to charge, if it owned it already.

    On PostgreSQL this waits for a concurrent refund of the same reveal.
    """
    paid: dict[str, Any] = {"job_id": job_id, "credits": price, "created_at": now}
    key = {"workspace_id": workspace_id, "contact_id": contact_id, "field": field}
    return _ACQUIRE_FIELD.first(session, key | paid) is not None


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
    """Have the contact's addresses verified next. The caller has locked the workspace's reveal."""
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
    """Delete the values revealed under the contact, except those of other contacts owned by the workspace."""
    statement = delete(RevealedValue).where(
        RevealedValue.workspace_id == workspace_id,
        RevealedValue.contact_id == contact_id,
        RevealedValue.field == field,
    )
    deleted = session.scalars(statement.returning(RevealedValue.value)).all()
    if deleted:
        _insert_owned(session, field, and_(_value(field).in_(deleted), Reveal.workspace_id == workspace_id))
