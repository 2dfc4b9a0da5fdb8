"""The ledger of a workspace in pages, newest entry first, with the balance after each entry."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from app.engine.ledger.credits import LedgerEntry
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class BalancedEntry:
    """An entry, and the credits that were available and held after it."""

    entry: LedgerEntry
    available: int
    held: int


def latest(session: Session, workspace_id: str, *, before: str | None, limit: int) -> list[BalancedEntry]:
    """Return the entries of the workspace that are older than entry `before`, newest first."""
    scope = [LedgerEntry.workspace_id == workspace_id]
    if before is not None:
        scope.append(LedgerEntry.id < before)
    entries = session.scalars(
        select(LedgerEntry).where(*scope).order_by(LedgerEntry.id.desc()).limit(limit)
    ).all()
    totals = session.execute(
        select(
            func.coalesce(func.sum(LedgerEntry.available), 0), func.coalesce(func.sum(LedgerEntry.held), 0)
        ).where(*scope)
    ).one()
    available, held = int(totals[0]), int(totals[1])
    balanced = []
    for entry in entries:
        balanced.append(BalancedEntry(entry, available, held))
        available -= entry.available
        held -= entry.held
    return balanced
