"""Closes the holds of many finished jobs: spends what was charged of each, and releases the rest.

`credits.close` does so for one job.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    CTE,
    BigInteger,
    FromClause,
    Select,
    String,
    Table,
    case,
    func,
    insert,
    select,
    update,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.sql.dml import ReturningInsert, ReturningUpdate
from sqlalchemy.types import TypeEngine

from app.engine.accounts.workspaces import Workspace
from app.engine.ledger.credits import LedgerEntry
from app.infra.database.database_clock import Moment, column
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of, rows_of

_LEDGER = cast("Table", LedgerEntry.__table__)
_WORKSPACES = cast("Table", Workspace.__table__)


class Close(NamedTuple):
    """A finished job, its held and charged credits, and the id of the entry that closes its hold."""

    id: str
    workspace_id: str
    held: int
    charged: int
    entry_id: str


_TYPES: dict[str, TypeEngine[Any]] = {
    **{name: String() for name in ("id", "workspace_id", "entry_id")},
    **{name: BigInteger() for name in ("held", "charged")},
}


def close_all(session: Session, closes: Sequence[Close], *, now: Moment) -> frozenset[str]:
    """Close the holds; a hold of 0 has none. Return the ids of the workspaces that have spending limits.

    The caller has locked the workspaces, if they are several. For each of the jobs of those with limits,
    `credits.count_close` must follow.
    """
    rows = [close._asdict() for close in closes if close.held]
    if not rows:
        return frozenset()
    workspace_ids = sorted({row["workspace_id"] for row in rows})
    balances = _BALANCES.all(session, {"closes": rows, "workspace_ids": workspace_ids})
    _entries(now).all(session, {"closes": rows})
    return frozenset(row.id for row in balances if row.is_limited)


def closed(dialect: str, finished: CTE, *, now: Moment) -> tuple[CTE, CTE]:
    """Return the CTE that closes the holds as `close_all` does, and the CTE of the changed workspaces.

    For PostgreSQL. `finished` has the columns of `Close`, and the workspaces are the parameter
    `workspace_ids`. The changed ones have `id` and `is_limited`.
    """
    balances = _balances(dialect, finished).cte("balances")
    entries = _closing_entries(finished, now).join(balances, balances.c.id == finished.c.workspace_id)
    return _insertion(entries).cte("closed"), balances


class _Balance(NamedTuple):
    id: str
    is_limited: bool


_BALANCES = Statement(_Balance, lambda dialect: _balances(dialect, rows_of(dialect, "closes", _TYPES)))


@lru_cache(maxsize=8)
def _entries(now: Moment) -> Statement[tuple[str]]:
    return Statement(tuple, partial(_entries_of_parameters, now=now))


def _entries_of_parameters(dialect: str, *, now: Moment) -> ReturningInsert[Any]:
    return _insertion(_closing_entries(rows_of(dialect, "closes", _TYPES), now))


def _balances(dialect: str, closes: FromClause) -> ReturningUpdate[Any]:
    """Return the update of the balances."""
    held, charged = (
        sql_cast(func.sum(closes.c[name]), BigInteger).label(name) for name in ("held", "charged")
    )
    sums = (
        select(closes.c.workspace_id, held, charged)
        .where(closes.c.held > 0)
        .group_by(closes.c.workspace_id)
        .cte("sums")
    )
    is_known = any_of(dialect, _WORKSPACES.c.id, "workspace_ids")
    return (
        update(_WORKSPACES)
        .where(is_known, _WORKSPACES.c.id == sums.c.workspace_id)
        .values(
            available=_WORKSPACES.c.available + sums.c.held - sums.c.charged,
            held=_WORKSPACES.c.held - sums.c.held,
            spent=_WORKSPACES.c.spent + sums.c.charged,
        )
        .returning(_WORKSPACES.c.id, _WORKSPACES.c.is_limited)
    )


_ENTRY = ("id", "workspace_id", "job_id", "kind", "available", "held", "spent", "created_at")


def _closing_entries(closes: FromClause, now: Moment) -> Select[Any]:
    held, charged = closes.c.held, closes.c.charged
    kind = case((charged > 0, "settle"), else_="release")
    ids = (closes.c.entry_id, closes.c.workspace_id, closes.c.id)
    return select(*ids, kind, held - charged, -held, charged, column(now)).where(held > 0)


def _insertion(entries: Select[Any]) -> ReturningInsert[Any]:
    return insert(_LEDGER).from_select(_ENTRY, entries).returning(_LEDGER.c.id)
