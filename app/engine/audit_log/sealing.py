"""Sealing: pending entries get a position in the log, and a hash that depends on every entry before.

Sealers take turns, so positions have no gaps. An entry is inserted into the log and deleted from the pending
ones in one transaction: a process that is killed in between loses nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import delete, select

from app.engine.audit_log.entries import FIELDS, AuditEntry, PendingEntry, PrunedSegment
from app.infra.database.advisory_locks import AdvisoryLock, try_acquire
from app.infra.database.bulk_statements import insert_all
from app.infra.database.session import Session

BATCH = 1000


@dataclass(frozen=True, slots=True)
class Head:
    """The position and the hash of an entry, which authenticate it and every entry before it."""

    position: int
    hash: bytes


START = Head(0, bytes(32))
"""What the first entry follows."""


def seal(session: Session, *, limit: int = BATCH) -> tuple[int, Head]:
    """Move up to `limit` pending entries to the log, the oldest first; return their number and the head.

    Returns 0 while another process seals.
    """
    if not try_acquire(session, AdvisoryLock.AUDIT_LOG):
        return 0, head(session)  # only on PostgreSQL
    last = head(session)
    pending = session.execute(
        select(PendingEntry.id, *(getattr(PendingEntry, name) for name in FIELDS))
        .order_by(PendingEntry.id)
        .limit(limit)
    ).all()
    rows: list[dict[str, Any]] = []
    for entry in pending:
        values = entry._asdict()
        pending_id = values.pop("id")
        last = Head(last.position + 1, digest(last.hash, last.position + 1, values))
        rows.append({"position": last.position, "pending_id": pending_id, **values, "hash": last.hash})
    insert_all(session, AuditEntry, rows)
    session.execute(delete(PendingEntry).where(PendingEntry.id.in_([row["pending_id"] for row in rows])))
    return len(rows), last


def head(session: Session) -> Head:
    """Return the head of the log: its last entry, or the last pruned one if there is none."""
    return _last(session, AuditEntry) or pruned_head(session)


def pruned_head(session: Session) -> Head:
    """Return the last pruned entry, which the first stored one follows."""
    return _last(session, PrunedSegment) or START


def _last(session: Session, table: type[AuditEntry | PrunedSegment]) -> Head | None:
    query = select(table.position, table.hash).order_by(table.position.desc()).limit(1)
    row = session.execute(query).one_or_none()
    return None if row is None else Head(row.position, bytes(row.hash))


def digest(previous: bytes, position: int, values: Mapping[str, Any]) -> bytes:
    """Return the hash of an entry: SHA-256 of the previous hash and the values as a JSON array.

    The array has the position, the time in UTC with microseconds, and the other `FIELDS` in their order, in
    ASCII without spaces.
    """
    moment: datetime = values["occurred_at"]
    content = [position, moment.astimezone(UTC).isoformat(timespec="microseconds")]
    content += [values[name] for name in FIELDS[1:]]
    return hashlib.sha256(previous + json.dumps(content, separators=(",", ":")).encode()).digest()
