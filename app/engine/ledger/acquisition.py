"""Acquisition: jobs insert what their workspaces own from now on, and learn what they are charged for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import CTE, Select, bindparam, select, text
from sqlalchemy.sql.dml import ReturningInsert
from sqlalchemy.types import TypeEngine

from app.engine.ledger.reveals import Reveal, RevealedValue
from app.infra.database.db import UtcDateTime, insert_into
from app.infra.database.session import Session
from app.infra.database.statements import Statement, columns_of, rows_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquisition:
    """The values of a contact's field that a workspace is to own, and the job that pays for them.

    `values` are blind indexes, `purpose` is why they are obtained, None if it was not stated.
    """

    workspace_id: str
    contact_id: str
    field: str
    job_id: str
    price: int = 0
    values: Collection[str] = ()
    purpose: str | None = None


_VALUE = ("workspace_id", "field", "value_index", "contact_id", "job_id")
_FIELD = ("workspace_id", "contact_id", "field", "job_id", "credits", "purpose")
_TIME = "created_at"
_NOW = bindparam(_TIME, type_=UtcDateTime())
_VALUE_TYPES: dict[str, TypeEngine[Any]] = {name: RevealedValue.__table__.c[name].type for name in _VALUE}
_FIELD_TYPES: dict[str, TypeEngine[Any]] = {name: Reveal.__table__.c[name].type for name in _FIELD}


def _acquire_values(dialect: str) -> ReturningInsert[Any]:
    """Return the insertion of values; it returns those that the workspaces did not own."""
    rows = rows_of(dialect, "values", _VALUE_TYPES).c
    new = select(*(rows[name] for name in _VALUE), _NOW).where(text("1 = 1"))  # SQLite needs a WHERE
    insertion = insert_into(dialect, RevealedValue).from_select(
        [*_VALUE, _TIME], new.order_by(rows.workspace_id, rows.field, rows.value_index)
    )
    columns: Sequence[Any] = columns_of(RevealedValue, _Value._fields)
    return insertion.on_conflict_do_nothing().returning(*columns)


def _acquire_fields(dialect: str, payers: CTE | None = None) -> ReturningInsert[Any]:
    """Return the insertion of fields that the workspaces do not own, or owned until a refund.

    `payers` has the `job_id` of the jobs whose fields are inserted; without it, all are.
    """
    rows = rows_of(dialect, "fields", _FIELD_TYPES).c
    has_new_value = text("1 = 1") if payers is None else rows.job_id.in_(select(payers.c.job_id))
    new = select(*(rows[name] for name in _FIELD), _NOW).where(has_new_value)
    insertion = insert_into(dialect, Reveal).from_select(
        [*_FIELD, _TIME], new.order_by(rows.workspace_id, rows.contact_id, rows.field)
    )
    paid = {name: insertion.excluded[name] for name in ("job_id", "credits", "purpose", _TIME)}
    return insertion.on_conflict_do_update(
        index_elements=["workspace_id", "contact_id", "field"],
        set_=paid | {"refunded_at": None},
        where=Reveal.refunded_at.is_not(None),
    ).returning(Reveal.job_id)


def _acquire(dialect: str) -> Select[Any]:
    """Return the insertion of values and, for each job with a new one, of its field; it returns these jobs.

    For PostgreSQL: SQLite inserts into one table per statement.
    """
    added = _acquire_values(dialect).cte("added")
    return select(_acquire_fields(dialect, payers=added).cte("acquired").c.job_id)


class _Value(NamedTuple):
    job_id: str
    value_index: str


class _Job(NamedTuple):
    job_id: str


_ACQUIRE_VALUES = Statement(_Value, _acquire_values)
_ACQUIRE_FIELDS = Statement(_Job, _acquire_fields)
_ACQUIRE = Statement(_Job, _acquire)


def acquire_all(session: Session, acquisitions: Sequence[Acquisition], *, now: datetime) -> frozenset[str]:
    """Insert the ownership of the values and of the fields; return the ids of the jobs to be charged.

    No two acquisitions have the same workspace, contact and field. A job is charged unless its workspace
    owned all values or the field already. If two transactions acquire the same value, the second waits for
    the first. On PostgreSQL this also waits for a concurrent refund of the same reveal.
    """
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    fields = [_field(one) for one in acquisitions]
    parameters = {"values": _values(acquisitions), "fields": fields, _TIME: now}
    statement = _ACQUIRE_VALUES if is_sqlite else _ACQUIRE
    jobs = frozenset(row.job_id for row in statement.all(session, parameters))
    new = {"fields": [field for field in fields if field["job_id"] in jobs], _TIME: now}
    return frozenset(row.job_id for row in _ACQUIRE_FIELDS.all(session, new)) if is_sqlite else jobs


def acquire_values(session: Session, acquisitions: Sequence[Acquisition], *, now: datetime) -> list[_Value]:
    """Insert the values as owned by the workspaces; return the new ones, the only ones that may be charged.

    If two transactions acquire the same value, the second waits for the first.
    """
    return _ACQUIRE_VALUES.all(session, {"values": _values(acquisitions), _TIME: now})


def acquire_field(session: Session, acquisition: Acquisition, *, now: datetime) -> bool:
    """Insert the workspace's ownership of the field; return False, nothing to charge, if it owned it already.

    On PostgreSQL this waits for a concurrent refund of the same reveal.
    """
    return _ACQUIRE_FIELDS.first(session, {"fields": [_field(acquisition)], _TIME: now}) is not None


def _field(one: Acquisition) -> dict[str, Any]:
    return {
        "workspace_id": one.workspace_id,
        "contact_id": one.contact_id,
        "field": one.field,
        "job_id": one.job_id,
        "credits": one.price,
        "purpose": one.purpose,
    }


def _values(acquisitions: Sequence[Acquisition]) -> list[dict[str, Any]]:
    return [
        {
            "workspace_id": one.workspace_id,
            "field": one.field,
            "value_index": value,
            "contact_id": one.contact_id,
            "job_id": one.job_id,
        }
        for one in acquisitions
        for value in one.values
    ]
