"""Retention of the audit log: deletes its oldest entries, and remembers where the rest begins."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select, text

from app.engine.audit_log import sealing
from app.engine.audit_log.entries import AuditEntry, PrunedSegment
from app.engine.audit_log.sealing import Head
from app.engine.audit_log.triggers import APPEND_ONLY, SQLITE_NO_DELETE
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session


def last_before(session: Session, before: datetime) -> Head | None:
    """Return the last entry of those to delete: all entries up to it are older than this time."""
    first_kept = (
        select(AuditEntry.position)
        .where(AuditEntry.occurred_at >= before)
        .order_by(AuditEntry.position)
        .limit(1)
        .scalar_subquery()
    )
    query = select(AuditEntry.position, AuditEntry.hash).order_by(AuditEntry.position.desc()).limit(1)
    is_any_kept = session.scalar(select(first_kept)) is not None
    row = session.execute(
        query.where(AuditEntry.position < first_kept) if is_any_kept else query
    ).one_or_none()
    return None if row is None else Head(row.position, bytes(row.hash))


def prune(session: Session, last: Head, *, now: Moment) -> int:
    """Delete the entries up to `last`, and record that; return their number.

    The database refuses deletions to everybody, so this lifts its trigger within the transaction, which
    requires the role that owns the tables. Other processes do not see the tables without the trigger.

    Raises:
        ProgrammingError: the role does not own the tables.

    """
    number = last.position - sealing.pruned_head(session).position
    session.add(PrunedSegment(position=last.position, hash=last.hash, pruned_at=now))
    session.flush()
    _lift(session)
    session.execute(
        delete(AuditEntry).where(AuditEntry.position <= last.position),
        execution_options={"synchronize_session": False},
    )
    _restore(session)
    return number


def _lift(session: Session) -> None:
    if _is_sqlite(session):
        session.execute(text(f"DROP TRIGGER IF EXISTS {APPEND_ONLY}"))
    else:
        session.execute(text(f"ALTER TABLE audit_log DISABLE TRIGGER {APPEND_ONLY}"))  # only on PostgreSQL


def _restore(session: Session) -> None:
    if _is_sqlite(session):
        session.execute(text(SQLITE_NO_DELETE))
    else:
        session.execute(text(f"ALTER TABLE audit_log ENABLE TRIGGER {APPEND_ONLY}"))  # only on PostgreSQL


def _is_sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"
