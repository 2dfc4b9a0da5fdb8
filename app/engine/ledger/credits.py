"""Credits: an append-only ledger. A workspace's balance is the sum of its entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    CTE,
    BigInteger,
    BindParameter,
    Boolean,
    ColumnElement,
    FromClause,
    Index,
    Row,
    String,
    Table,
    Update,
    bindparam,
    func,
    insert,
    literal,
    or_,
    select,
    text,
    update,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql.dml import ReturningInsert, ReturningUpdate
from sqlalchemy.types import TypeEngine

from app.domain.audit_actions import Action
from app.domain.errors import InsufficientCredits
from app.domain.ids import new_id
from app.domain.spending import LimitUsage
from app.engine.accounts.workspaces import Balance, Workspace, balance, foreign_key, lock_several
from app.engine.audit_log import entries as audit_log
from app.engine.ledger import limit_alerts, next_grants, spending_limits
from app.infra.database.database_clock import DatabaseNow, Moment, column
from app.infra.database.db import Base
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of, rows_of

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
        Index("ix_ledger_workspace_id_created_at", "workspace_id", "created_at"),
        Index("ix_ledger_refund", "job_id", sqlite_where=_REFUND, postgresql_where=_REFUND),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    job_id: Mapped[str | None]
    kind: Mapped[str]
    available: Mapped[int] = mapped_column(BigInteger)
    held: Mapped[int] = mapped_column(BigInteger)
    spent: Mapped[int] = mapped_column(BigInteger)
    reason: Mapped[str | None]
    created_at: Mapped[datetime]


class Hold(NamedTuple):
    """Credits to reserve for a job."""

    job_id: str
    workspace_id: str
    amount: int


_LEDGER = cast("Table", LedgerEntry.__table__)
_WORKSPACES = cast("Table", Workspace.__table__)
_AMOUNTS = ("available", "held", "spent")
_COLUMNS = ("id", "workspace_id", "job_id", "kind", "available", "held", "spent", "reason")
_PAST_LIMITS: BindParameter[bool] = bindparam("past_limits", type_=Boolean())
"""Whether an entry may be written in a workspace with spending limits; the first hold may not."""

# PostgreSQL executes the writing CTEs of one statement in no fixed order, and on one snapshot; only a CTE
# that reads the rows returned by another waits for it. So each reads the one before it: first the job, then
# the workspace, then the entry. All transactions lock the rows in this order, and an entry is inserted only
# if the balance was updated. SQLite has no such CTEs, and only one writer: it executes two statements.


def _parameter(name: str) -> BindParameter[Any]:
    """Return the parameter for a column of the entry; the bare names are reserved for the columns."""
    return bindparam(f"entry_{name}", type_=_LEDGER.c[name].type)


def _update_balance() -> Update:
    return (
        update(_WORKSPACES)
        .where(
            _WORKSPACES.c.id == _parameter("workspace_id"),
            _WORKSPACES.c.available + _parameter("available") >= 0,
            or_(~_WORKSPACES.c.is_limited, _PAST_LIMITS),
        )
        .values({name: _WORKSPACES.c[name] + _parameter(name) for name in _AMOUNTS})
    )


def _insert_entry(dialect: str, *, is_fixed: bool) -> ReturningInsert[Any]:
    """Return the statement that inserts an entry, at a fixed time or at the database's current time.

    On PostgreSQL it first updates the balance, and inserts only if that succeeds.
    """
    if dialect == "sqlite":
        return _insertion(is_fixed=is_fixed, source=None)
    updated = _update_balance().returning(_WORKSPACES.c.is_limited).cte("updated")
    insertion = _insertion(is_fixed=is_fixed, source=updated)
    return insertion.returning(select(updated.c.is_limited).scalar_subquery().label("is_limited"))


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
    """Return the CTE that holds credits if the condition is true; it has a row if it did so.

    It holds nothing in a workspace with spending limits; `hold` must follow. For PostgreSQL;
    `hold_parameters` returns its parameters.
    """
    updated = _update_balance().where(condition).returning(_WORKSPACES.c.id).cte("updated")
    return _insertion(is_fixed=is_fixed, source=updated).cte("held")


def hold_parameters(workspace_id: str, job_id: str, amount: int, *, now: Moment) -> dict[str, Any]:
    """Return the parameters of `held_if`."""
    return _parameters(
        workspace_id, "hold", job_id=job_id, available=-amount, held=amount, now=now, past_limits=False
    )


_UPDATE_BALANCE = Statement(tuple, lambda _dialect: _update_balance().returning(_WORKSPACES.c.is_limited))
_INSERT_ENTRY = {
    is_fixed: Statement(tuple, partial(_insert_entry, is_fixed=is_fixed)) for is_fixed in (True, False)
}


def grant(session: Session, workspace_id: str, amount: int, *, reason: str, now: Moment) -> Balance:
    """Add a positive amount of credits to the workspace and return its balance."""
    _post(session, workspace_id, "grant", available=amount, reason=reason, now=now)
    audit_log.record(session, Action.CREDITS_GRANT, object_id=workspace_id, workspace_id=workspace_id)
    return balance(session, workspace_id)


def expire(session: Session, workspace_id: str, amount: int, *, reason: str, now: Moment) -> None:
    """Take available credits that were granted for a period and not spent in it."""
    _must_post(session, workspace_id, "expire", available=-amount, reason=reason, now=now)
    audit_log.record(session, Action.CREDITS_EXPIRE, object_id=workspace_id, workspace_id=workspace_id)


def hold(session: Session, workspace_id: str, job_id: str, amount: int, *, now: Moment) -> None:
    """Reserve credits for a job. An amount of 0 writes no entry.

    The row of the job must exist: its account and key may have spending limits.

    Raises:
        InsufficientCredits: the workspace has fewer available.
        SpendingLimitReached: a spending limit allows less.

    """
    if not amount:
        return
    values: dict[str, Any] = {"job_id": job_id, "available": -amount, "held": amount, "now": now}
    # Most workspaces have no limits and enough credits, so this one statement decides without reading first.
    if _post(session, workspace_id, "hold", past_limits=False, **values) is not None:
        return
    available = _locked(session, workspace_id).available
    if available < amount:
        raise InsufficientCredits(amount, available, next_grants.of_workspace(session, workspace_id))
    spending_limits.count_hold(session, job_id, amount, balance=available)
    _post(session, workspace_id, "hold", **values)


def hold_all(session: Session, holds: Sequence[Hold], *, now: Moment) -> frozenset[str]:
    """Reserve credits for jobs of many workspaces; return the ids of those that have them.

    For one workspace on PostgreSQL in one statement, otherwise in two.

    A workspace that has too few credits for all of its holds, or has spending limits, gets none of them:
    `hold` decides about each.
    """
    if not holds:
        return frozenset()
    rows = [hold._asdict() | {"id": new_id("led")} for hold in holds]
    workspace_ids = sorted({hold.workspace_id for hold in holds})
    parameters: dict[str, Any] = {"holds": rows, "workspace_ids": workspace_ids}
    lock_several(session, workspace_ids)
    is_one = session.get_bind().dialect.name == "postgresql"
    parameters["paying"] = [] if is_one else [id_ for (id_,) in _RESERVE_ALL.all(session, parameters)]
    return frozenset(job_id for (job_id,) in _insert_holds(now).all(session, parameters))


_HOLDS: dict[str, TypeEngine[Any]] = {
    **{name: String() for name in ("id", "workspace_id", "job_id")},
    "amount": BigInteger(),
}


def _reserve_all(dialect: str) -> ReturningUpdate[Any]:
    """Return the update of all balances."""
    holds = rows_of(dialect, "holds", _HOLDS).c
    sums = (
        select(holds.workspace_id, sql_cast(func.sum(holds.amount), BigInteger).label("amount"))
        .group_by(holds.workspace_id)
        .cte("sums")
    )
    return (
        update(_WORKSPACES)
        .where(
            any_of(dialect, _WORKSPACES.c.id, "workspace_ids"),
            _WORKSPACES.c.id == sums.c.workspace_id,
            _WORKSPACES.c.available >= sums.c.amount,
            ~_WORKSPACES.c.is_limited,
        )
        .values(available=_WORKSPACES.c.available - sums.c.amount, held=_WORKSPACES.c.held + sums.c.amount)
        .returning(_WORKSPACES.c.id)
    )


_RESERVE_ALL = Statement(tuple, _reserve_all)


@lru_cache(maxsize=8)
def _insert_holds(now: Moment) -> Statement[tuple[str]]:
    return Statement(tuple, lambda dialect: _holds_insertion(dialect, now))


def _holds_insertion(dialect: str, now: Moment) -> ReturningInsert[Any]:
    holds = rows_of(dialect, "holds", _HOLDS).c
    amounts = (-holds.amount, holds.amount, literal(0))
    ids = (holds.id, holds.workspace_id, holds.job_id)
    paying = (
        holds.workspace_id.in_(select(_reserve_all(dialect).cte("paying").c.id))
        if dialect == "postgresql"
        else any_of(dialect, holds.workspace_id, "paying")
    )
    entries = select(*ids, literal("hold"), *amounts, column(now)).where(paying)
    names = ["id", "workspace_id", "job_id", "kind", *_AMOUNTS, "created_at"]
    return insert(_LEDGER).from_select(names, entries).returning(_LEDGER.c.job_id)


def hold_up_to(
    session: Session, workspace_id: str, job_id: str, amount: int, *, now: Moment
) -> tuple[int, LimitUsage | None]:
    """Reserve as much of the amount as the workspace has available and the spending limits allow.

    Return the amount reserved, and the limit that made it smaller, if one did, with its use after the hold.
    """
    workspace = _locked(session, workspace_id)
    affordable = min(amount, workspace.available)
    usage = spending_limits.tightest(session, job_id) if workspace.is_limited else None
    if usage is not None and usage.left < affordable:
        affordable = usage.left
        usage = replace(usage, held=usage.held + affordable)
    else:
        usage = None
    hold(session, workspace_id, job_id, affordable, now=now)
    return affordable, usage


def _locked(session: Session, workspace_id: str) -> Row[int, bool]:
    """Return the available credits, and whether there are spending limits; lock the workspace's row.

    FOR NO KEY UPDATE: inserts with a foreign key to the workspace take a key-share lock, so FOR UPDATE would
    deadlock two concurrent requests.
    """
    query = select(Workspace.available, Workspace.is_limited).where(Workspace.id == workspace_id)
    return session.execute(query.with_for_update(key_share=True)).one()


def close(session: Session, workspace_id: str, job_id: str, *, held: int, charged: int, now: Moment) -> None:
    """Close the hold of a finished job: spend `charged` credits of it and release the rest."""
    if not held:
        return
    kind = "settle" if charged else "release"
    amounts = {"available": held - charged, "held": -held, "spent": charged}
    if _must_post(session, workspace_id, kind, job_id=job_id, **amounts, now=now):
        count_close(session, job_id, held=held, charged=charged, now=now)


def count_close(session: Session, job_id: str, *, held: int, charged: int, now: Moment) -> None:
    """Count the closed hold of a job against its spending limits, and record events about them."""
    spending_limits.adjust_counters(session, job_id, held=-held, spent=charged)
    if charged:
        limit_alerts.record_for(session, job_id, now=now)


def refund(
    session: Session, workspace_id: str, job_id: str, amount: int, *, reason: str, now: Moment
) -> None:
    """Return the cost of a job's reveal to the workspace. The caller ensures that this happens once."""
    amounts = {"available": amount, "spent": -amount}
    if _must_post(session, workspace_id, "refund", job_id=job_id, **amounts, reason=reason, now=now):
        spending_limits.adjust_counters(session, job_id, spent=-amount)


def _must_post(session: Session, workspace_id: str, kind: str, *, now: Moment, **values: Any) -> bool:
    """Insert an entry as `_post` does, which never takes more than was held; raise RuntimeError otherwise."""
    is_limited = _post(session, workspace_id, kind, now=now, **values)
    if is_limited is None:
        raise RuntimeError(f"The balance does not cover an entry of kind {kind}.")
    return is_limited


def _post(session: Session, workspace_id: str, kind: str, *, now: Moment, **values: Any) -> bool | None:
    """Insert an entry and update the balance; return whether the workspace has spending limits.

    Return None, with no change, if too little is available, or if the workspace has spending limits and
    `past_limits` is false. Amounts that are not given are 0.
    """
    parameters = _parameters(workspace_id, kind, now=now, **values)
    insertion = _INSERT_ENTRY[isinstance(now, datetime)]
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    updated = (_UPDATE_BALANCE if is_sqlite else insertion).first(session, parameters)
    if is_sqlite and updated is not None:
        insertion.first(session, parameters)
    return None if updated is None else bool(updated[-1])


def _parameters(
    workspace_id: str, kind: str, *, now: Moment, past_limits: bool = True, **values: Any
) -> dict[str, Any]:
    entry = dict.fromkeys(_COLUMNS) | {"available": 0, "held": 0, "spent": 0}
    entry |= {"id": new_id("led"), "workspace_id": workspace_id, "kind": kind, **values}
    if isinstance(now, datetime):
        entry |= {"created_at": now}
    return {f"entry_{name}": value for name, value in entry.items()} | {"past_limits": past_limits}
