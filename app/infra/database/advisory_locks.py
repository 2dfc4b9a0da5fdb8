"""PostgreSQL's advisory locks: what only one process at a time does. SQLite has one writer anyway.

A lock belongs to the transaction: behind PgBouncer in transaction mode there are no sessions.
"""

from __future__ import annotations

from enum import Enum, unique

from sqlalchemy import func, select

from app.infra.database.session import Session


@unique
class AdvisoryLock(Enum):
    """The locks of this application. The values are arbitrary, but must stay: two releases run at once."""

    AUDIT = 0x6175_6469
    AUDIT_LOG = 0x636C_6175
    MIGRATION = 0x6D69_6772
    RESOLUTION = 7_461_001
    REVERSE_LOOKUPS = 0x7265_766C
    SWEEP = 0x636C_7377


def acquire(session: Session, lock: AdvisoryLock) -> None:
    """Wait for the lock, and hold it until the transaction ends."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(lock.value)))


def acquire_for(session: Session, lock: AdvisoryLock, key: str) -> None:
    """Wait for the lock of this key only, and hold it until the transaction ends.

    Keys with the same hash wait for each other, too.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(lock.value, func.hashtext(key))))


def try_acquire(session: Session, lock: AdvisoryLock) -> bool:
    """Return whether this transaction holds the lock until it ends; never wait."""
    if session.get_bind().dialect.name == "sqlite":
        return True
    return bool(session.scalar(select(func.pg_try_advisory_xact_lock(lock.value))))
