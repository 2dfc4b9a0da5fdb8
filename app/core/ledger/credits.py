"""Credits: an append-only ledger. A workspace's balance is the sum of its entries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any, cast

from sqlalchemy import (
    CTE,
    BigInteger,
    BindParameter,
    ColumnElement,
    FromClause,
    Index,
    Table,
    Update,
    bindparam,
    case,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.orm import Mapped, Session, mapped_column
from sqlalchemy.sql.dml import ReturningInsert

from app.core.accounts.workspaces import Balance, Workspace, balance, foreign_key
from app.domain.errors import InsufficientCredits
from app.domain.ids import new_id
from app.infra.database_clock import DatabaseNow, Moment
from app.infra.db import Base
from app.infra.statements import Statement

_HOLD = text("kind = 'hold'")
_CLOSE = text("kind IN ('settle', 'release')")
_REFUND = text("kind = 'refund'")


class LedgerEntry(Base):
    """An immutable movement of credits: the amounts added to a workspace's available, held and spent credits.

    A job has at most one hold and at most one close (settle or release), enforced by unique indexes. Each
    reveal of the job can be refunded once, enforced by the row of the reveal.
    """

    __tablename__ = "ledger"
    __table_args__ = (
        Index("uq_ledger_hold", "job_id", unique=True, sqlite_where=_HOLD, postgresql_where=_HOLD),
        Index("uq_ledger_close", "job_id", unique=True, sqlite_where=_CLOSE, postgresql_where=_CLOSE),
        Index("ix_ledger_refund", "job_id", sqlite_where=_REFUND, postgresql_where=_REFUND),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    job_id: Mapped[str | None]
    kind: Mapped[str]
    available: Mapped[int] = mapped_column(BigInteger)
    held: Mapped[int] = mapped_column(BigInteger)
    spent: Mapped[int] = mapped_column(BigInteger)
    reason: Mapped[str | None]
    created_at: Mapped[datetime]


_LEDGER = cast("Table", LedgerEntry.__table__)
_WORKSPACES = cast("Table", Workspace.__table__)
_AMOUNTS = ("available", "held", "spent")
_COLUMNS = ("id", "workspace_id", "job_id", "kind", "available", "held", "spent", "reason")


def _parameter(name: str) -> BindParameter[Any]:
    """Return the parameter for a column of the entry; the bare names are reserved for the columns."""
    return bindparam(f"entry_{name}", type_=_LEDGER.c[name].type)


def _update_balance() -> Update:
    return (
        update(_WORKSPACES)
        .where(
            _WORKSPACES.c.id == _parameter("workspace_id"),
            _WORKSPACES.c.available + _parameter("available") >= 0,
        )
        .values({name: _WORKSPACES.c[name] + _parameter(name) for name in _AMOUNTS})
    )


def _insert_entry(dialect: str, *, is_fixed: bool) -> ReturningInsert[Any]:
    """Return the statement that inserts an entry, at a fixed time or at the database's current time.

    On PostgreSQL it first updates the balance, and inserts only if that succeeds.
    """
    updated = _update_balance().returning(_WORKSPACES.c.id).cte("updated")
    return _insertion(is_fixed=is_fixed, source=updated if dialect == "postgresql" else None)


def _insertion(
    *, is_fixed: bool, source: FromClause | None, values: Mapping[str, ColumnElement[Any]] | None = None
) -> ReturningInsert[Any]:
    """Return the insertion of an entry for each row of the source; `values` replace parameters."""
    created_at = _parameter("created_at") if is_fixed else DatabaseNow()
    columns = ((values or {}).get(name, _parameter(name)) for name in _COLUMNS)
    entry = select(*columns, created_at)
    if source is not None:
        entry = entry.select_from(source)
    return insert(_LEDGER).from_select([*_COLUMNS, "created_at"], entry).returning(_LEDGER.c.id)


def held_if(condition: ColumnElement[bool], *, is_fixed: bool) -> CTE:
    """Return the CTE that holds credits as `hold` does if the condition is true; it has a row if it did so.

    For PostgreSQL; the parameters are those of `hold_parameters`.
    """
    updated = _update_balance().where(condition).returning(_WORKSPACES.c.id).cte("updated")
    return _insertion(is_fixed=is_fixed, source=updated).cte("held")


def hold_parameters(workspace_id: str, job_id: str, amount: int, *, now: Moment) -> dict[str, Any]:
    """Return the parameters of `held_if`."""
    return _parameters(workspace_id, "hold", job_id=job_id, available=-amount, held=amount, now=now)


def closed(finished: CTE, *, is_fixed: bool) -> CTE:
    """Return the CTE that closes the hold of the finished job as `close` does.

    For PostgreSQL. The CTE `finished` has the credits of the job, `held` and `charged`, or no row if it was
    not finished; the parameters are those of `close_parameters`.
    """
    held = cast("ColumnElement[int]", finished.c.held)
    charged = cast("ColumnElement[int]", finished.c.charged)
    amounts = {"available": held - charged, "held": -held, "spent": charged}
    updated = (
        update(_WORKSPACES)
        .where(_WORKSPACES.c.id == _parameter("workspace_id"), held > 0)
        .values({name: _WORKSPACES.c[name] + amount for name, amount in amounts.items()})
        .returning(*(amount.label(name) for name, amount in amounts.items()))
        .cte("updated")
    )
    kind = case((updated.c.spent > 0, "settle"), else_="release")
    values = {"kind": kind} | {name: updated.c[name] for name in _AMOUNTS}
    return _insertion(is_fixed=is_fixed, source=updated, values=values).cte("closed")


def close_parameters(workspace_id: str, job_id: str, *, now: Moment) -> dict[str, Any]:
    """Return the parameters of `closed`."""
    return _parameters(workspace_id, "", job_id=job_id, now=now)


_UPDATE_BALANCE = Statement(lambda _dialect: _update_balance().returning(_WORKSPACES.c.id))
_INSERT_ENTRY = {is_fixed: Statement(partial(_insert_entry, is_fixed=is_fixed)) for is_fixed in (True, False)}


def grant(session: Session, workspace_id: str, amount: int, *, reason: str, now: Moment) -> Balance:
    """Add a positive amount of credits to the workspace and return its balance."""
    _post(session, workspace_id, "grant", available=amount, reason=reason, now=now)
    return balance(session, workspace_id)


def hold(session: Session, workspace_id: str, job_id: str, amount: int, *, now: Moment) -> None:
    """Reserve credits for a job. An amount of 0 writes no entry.

    Raises:
        InsufficientCredits: the workspace has fewer available.

    """
    if not amount:
        return
    if not _post(session, workspace_id, "hold", job_id=job_id, available=-amount, held=amount, now=now):
        raise InsufficientCredits(required=amount, balance=balance(session, workspace_id).available)


def hold_up_to(session: Session, workspace_id: str, job_id: str, amount: int, *, now: Moment) -> int:
    """Reserve as much of the amount as the workspace has available; return the amount reserved.

    FOR NO KEY UPDATE: inserts with a foreign key to the workspace take a key-share lock, so FOR UPDATE would
    deadlock two concurrent requests.
    """
    available = session.scalar(
        select(Workspace.available).where(Workspace.id == workspace_id).with_for_update(key_share=True)
    )
    affordable = min(amount, available or 0)
    hold(session, workspace_id, job_id, affordable, now=now)
    return affordable


def close(session: Session, workspace_id: str, job_id: str, *, held: int, charged: int, now: Moment) -> None:
    """Close the hold of a finished job: spend `charged` credits of it and release the rest."""
    if not held:
        return
    kind = "settle" if charged else "release"
    amounts = {"available": held - charged, "held": -held, "spent": charged}
    _post(session, workspace_id, kind, job_id=job_id, **amounts, now=now)


def refund(
    session: Session, workspace_id: str, job_id: str, amount: int, *, reason: str, now: Moment
) -> None:
    """Return the cost of a job's reveal to the workspace. The caller ensures that this happens once."""
    amounts = {"available": amount, "spent": -amount}
    _post(session, workspace_id, "refund", job_id=job_id, **amounts, reason=reason, now=now)


def _post(session: Session, workspace_id: str, kind: str, *, now: Moment, **values: Any) -> bool:
    """Insert an entry and update the balance; return False, with no change, if too little is available.

    Amounts that are not given are 0.
    """
    parameters = _parameters(workspace_id, kind, now=now, **values)
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    if is_sqlite and _UPDATE_BALANCE.first(session, parameters) is None:
        return False
    return _INSERT_ENTRY[isinstance(now, datetime)].first(session, parameters) is not None


def _parameters(workspace_id: str, kind: str, *, now: Moment, **values: Any) -> dict[str, Any]:
    entry = dict.fromkeys(_COLUMNS) | {"available": 0, "held": 0, "spent": 0}
    entry |= {"id": new_id("led"), "workspace_id": workspace_id, "kind": kind, **values}
    if isinstance(now, datetime):
        entry |= {"created_at": now}
    return {f"entry_{name}": value for name, value in entry.items()}
