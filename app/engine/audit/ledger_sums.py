"""Sums of the ledger by workspace, so that a balance is checked without reading every entry."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from sqlalchemy import BigInteger, ForeignKey, func, select
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts.workspaces import Workspace
from app.engine.audit.slices import Slice
from app.engine.ledger.credits import LedgerEntry
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

Amounts: TypeAlias = tuple[int, int, int]
"""Available, held and spent credits."""
_ZERO: Amounts = (0, 0, 0)
WorkspaceSums: TypeAlias = tuple[str, Amounts, Amounts]
"""The id of a workspace, its sums up to `settled`, and those counted again up to `entries`."""


class LedgerSum(Base):
    """The sums of a workspace's ledger entries up to `settled`, and those counted again up to `entries`."""

    __tablename__ = "ledger_sums"

    workspace_id: Mapped[str] = mapped_column(
        ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True
    )
    available: Mapped[int] = mapped_column(BigInteger)
    held: Mapped[int] = mapped_column(BigInteger)
    spent: Mapped[int] = mapped_column(BigInteger)
    counted_available: Mapped[int] = mapped_column(BigInteger)
    counted_held: Mapped[int] = mapped_column(BigInteger)
    counted_spent: Mapped[int] = mapped_column(BigInteger)


_SUMS = LedgerSum.__table__.c
_COLUMNS = ("available", "held", "spent", "counted_available", "counted_held", "counted_spent")


def compare(
    session: Session, since: str, settled: str, entries: Slice
) -> tuple[frozenset[str], Sequence[WorkspaceSums]]:
    """Compare each balance with the known sums and the entries since; return the workspaces that differ.

    At the end of the ledger the sums of all slices are compared as well. Also return the new sums that differ
    from the stored ones.
    """
    recent, unsettled = _sum(session, since), _sum(session, settled)
    counted = _sum(session, entries.after, entries.upto)
    stored = {row.workspace_id: row for row in session.execute(select(*_SUMS))}
    suspects, sums = [], []
    balances = select(Workspace.id, Workspace.available, Workspace.held, Workspace.spent)
    for workspace_id, *amounts in session.execute(balances):
        row = stored.get(workspace_id, (workspace_id, *_ZERO, *_ZERO))
        balance, known, before = _amounts(amounts), _amounts(row[1:4]), _amounts(row[4:7])
        expected = _subtract(balance, unsettled.get(workspace_id, _ZERO))
        total = _add(before, counted.get(workspace_id, _ZERO))
        is_wrong = _add(known, recent.get(workspace_id, _ZERO)) != balance
        if is_wrong or (entries.is_last and total != expected):
            suspects.append(workspace_id)
        following = _ZERO if entries.is_last else total
        if (known, before) != (expected, following):
            sums.append((workspace_id, expected, following))
    return frozenset(suspects), sums


def store(session: Session, sums: Sequence[WorkspaceSums]) -> None:
    """Insert or update these sums."""
    for workspace_id, known, counted in sums:
        values = dict(zip(_COLUMNS, (*known, *counted), strict=True))
        upsert = insert(session, LedgerSum).values(workspace_id=workspace_id, **values)
        session.execute(upsert.on_conflict_do_update(index_elements=["workspace_id"], set_=values))


def _sum(session: Session, after: str, upto: str | None = None) -> dict[str, Amounts]:
    """Return the sums of the entries with ids after one and up to another, by workspace."""
    columns = (LedgerEntry.available, LedgerEntry.held, LedgerEntry.spent)
    query = select(LedgerEntry.workspace_id, *map(func.sum, columns)).where(LedgerEntry.id > after)
    if upto is not None:
        query = query.where(LedgerEntry.id <= upto)
    rows = session.execute(query.group_by(LedgerEntry.workspace_id))
    return {workspace_id: _amounts(sums) for workspace_id, *sums in rows}


def _amounts(numbers: Iterable[int]) -> Amounts:
    available, held, spent = numbers
    return int(available), int(held), int(spent)  # PostgreSQL's sums are decimals


def _add(left: Amounts, right: Amounts) -> Amounts:
    return _amounts(map(operator.add, left, right))


def _subtract(left: Amounts, right: Amounts) -> Amounts:
    return _amounts(map(operator.sub, left, right))
