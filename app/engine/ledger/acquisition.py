"""Acquisition: a job inserts what its workspace owns from now on, and learns what it is to be charged for."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, false, select, text
from sqlalchemy.sql.dml import ReturningInsert

from app.engine.ledger.reveals import Reveal, RevealedValue
from app.infra.database.db import insert_into
from app.infra.database.session import Session
from app.infra.database.statements import Statement, items_of


def _acquire_values(dialect: str) -> ReturningInsert[Any]:
    """Return the insertion of values; it returns those that the workspace did not own."""
    names = ("workspace_id", "field", "contact_id", "job_id", "created_at")
    columns = RevealedValue.__table__.c
    shared = (bindparam(name, type_=columns[name].type) for name in names)
    rows = select(*shared, items_of(dialect, "values").c.value).where(text("1 = 1"))  # SQLite needs a WHERE
    insertion = insert_into(dialect, RevealedValue).from_select([*names, "value_index"], rows)
    return insertion.on_conflict_do_nothing().returning(RevealedValue.value_index)


def _acquire_field(dialect: str, is_wanted: ColumnElement[bool] | None = None) -> ReturningInsert[Any]:
    """Return the insertion of a field that the workspace does not own, or owned until a refund."""
    names = ("workspace_id", "contact_id", "field", "job_id", "credits", "purpose", "created_at")
    values = {name: bindparam(name, type_=Reveal.__table__.c[name].type) for name in names}
    insertion = insert_into(dialect, Reveal)
    insertion = (
        insertion.values(values)
        if is_wanted is None
        else insertion.from_select(names, select(*values.values()).where(is_wanted))
    )
    paid = {name: insertion.excluded[name] for name in ("job_id", "credits", "purpose", "created_at")}
    return insertion.on_conflict_do_update(
        index_elements=["workspace_id", "contact_id", "field"],
        set_=paid | {"refunded_at": None},
        where=Reveal.refunded_at.is_not(None),
    ).returning(Reveal.contact_id)


def _acquire(dialect: str) -> ReturningInsert[Any] | Select[Any]:
    """Return the insertion of values; on PostgreSQL it acquires the field too if any value was new.

    It returns the new values, and whether it has acquired the field.
    """
    insertion = _acquire_values(dialect)
    if dialect == "sqlite":
        return insertion.returning(false().label("is_acquired"))
    added = insertion.cte("added")
    acquired = _acquire_field(dialect, is_wanted=select(added.c.value_index).exists()).cte("acquired")
    return select(added.c.value_index, select(acquired.c.contact_id).exists().label("is_acquired"))


class _Value(NamedTuple):
    value_index: str


class _Acquired(NamedTuple):
    value_index: str
    is_acquired: bool


_ACQUIRE_VALUES = Statement(_Value, _acquire_values)
_ACQUIRE_FIELD = Statement(tuple, _acquire_field)
_ACQUIRE = Statement(_Acquired, _acquire)


def acquire(  # noqa: PLR0913 -- the columns of a reveal
    session: Session,
    *,
    workspace_id: str,
    contact_id: str,
    field: str,
    values: Collection[str],
    job_id: str,
    price: int,
    purpose: str | None = None,
    now: datetime,
) -> bool:
    """Insert the workspace's ownership of the values and of the field; return whether it is to be charged.

    `purpose` is why the values are obtained, None if it was not stated. Return False if the workspace owned
    all values or the field already. If two transactions acquire the same value, the second waits for the
    first. On PostgreSQL this also waits for a concurrent refund of the same reveal.
    """
    parameters: dict[str, Any] = {"workspace_id": workspace_id, "contact_id": contact_id, "field": field}
    parameters |= {"job_id": job_id, "credits": price, "purpose": purpose, "created_at": now}
    added = _ACQUIRE.all(session, parameters | {"values": sorted(set(values))})
    if not added or added[0].is_acquired:
        return bool(added)
    return _ACQUIRE_FIELD.first(session, parameters) is not None


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
    parameters: dict[str, Any] = {"workspace_id": workspace_id, "contact_id": contact_id, "field": field}
    parameters |= {"job_id": job_id, "created_at": now, "values": sorted(set(values))}
    added = _ACQUIRE_VALUES.all(session, parameters)
    return frozenset(row.value_index for row in added)


def acquire_field(
    session: Session,
    *,
    workspace_id: str,
    contact_id: str,
    field: str,
    job_id: str,
    price: int,
    purpose: str | None = None,
    now: datetime,
) -> bool:
    """Insert the workspace's ownership of the field; return False, nothing to charge, if it owned it already.

    On PostgreSQL this waits for a concurrent refund of the same reveal.
    """
    parameters: dict[str, Any] = {"workspace_id": workspace_id, "contact_id": contact_id, "field": field}
    parameters |= {"job_id": job_id, "credits": price, "purpose": purpose, "created_at": now}
    return _ACQUIRE_FIELD.first(session, parameters) is not None
