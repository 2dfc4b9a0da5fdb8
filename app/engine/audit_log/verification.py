"""Verification of the audit log: finds the first entry that was changed, inserted, moved, or is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import func, select

from app.engine.audit_log import sealing
from app.engine.audit_log.entries import FIELDS, AuditEntry, PendingEntry
from app.engine.audit_log.sealing import Head
from app.infra.database.session import Session

BATCH = 2000
_COLUMNS = (AuditEntry.position, AuditEntry.hash, *(getattr(AuditEntry, name) for name in FIELDS))


class FaultKind(StrEnum):
    """What is wrong with an entry."""

    CHANGED = "changed"
    INSERTED = "inserted"
    MISSING = "missing"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class ChainFault:
    """The first entry that is not as it was sealed."""

    position: int
    kind: FaultKind

    def __str__(self) -> str:
        """Return a sentence."""
        return {
            FaultKind.CHANGED: f"Entry {self.position} or its place was changed after it was sealed.",
            FaultKind.INSERTED: f"Entry {self.position} was inserted after it had been pruned.",
            FaultKind.MISSING: f"Entry {self.position} is missing.",
            FaultKind.REPLACED: f"Entry {self.position} has another hash than the head that was kept apart.",
        }[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result: the entries read, those pruned before them and pending, and the first fault.

    `heads` is the number of heads kept apart that were compared.
    """

    entries: int
    pruned: int
    pending: int
    heads: int
    head: Head
    fault: ChainFault | None


def verify(session: Session, heads: Iterable[Head] = ()) -> Verification:
    """Compute every hash again, and compare the log with heads that were kept apart.

    Without heads, missing entries at the end cannot be noticed, nor that the whole chain was recomputed.
    """
    first = sealing.pruned_head(session)
    kept = {kept.position: kept.hash for kept in heads if kept.position > first.position}
    last, fault = first, None
    for row in _rows(session):
        expected = last.position + 1
        if row.position < expected:
            fault = ChainFault(row.position, FaultKind.INSERTED)
        elif row.position > expected:
            fault = ChainFault(expected, FaultKind.MISSING)
        elif row.hash != sealing.digest(last.hash, expected, row._asdict()):
            fault = ChainFault(expected, FaultKind.CHANGED)
        elif kept.get(expected, row.hash) != row.hash:
            fault = ChainFault(expected, FaultKind.REPLACED)
        if fault is not None:
            break
        last = Head(expected, bytes(row.hash))
    if fault is None and max(kept, default=0) > last.position:
        fault = ChainFault(last.position + 1, FaultKind.MISSING)
    return Verification(
        entries=last.position - first.position,
        pruned=first.position,
        pending=session.scalar(select(func.count()).select_from(PendingEntry)) or 0,
        heads=len(kept),
        head=last,
        fault=fault,
    )


def _rows(session: Session) -> Iterator[Any]:
    """Yield the entries in their order."""
    position: int | None = None
    while True:
        query = select(*_COLUMNS).order_by(AuditEntry.position).limit(BATCH)
        batch = session.execute(query if position is None else query.where(AuditEntry.position > position))
        rows = batch.all()
        yield from rows
        if len(rows) < BATCH:
            return
        position = rows[-1].position
