"""Helpers for tests of the audit log: entries, and tampering with them as only the tables' owner can."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import select, text

from app.domain.audit_actions import Action
from app.engine.audit_log import entries, sealing, verification
from app.engine.audit_log.entries import FIELDS, AuditEntry, PendingEntry
from app.engine.audit_log.sealing import Head
from app.engine.audit_log.triggers import APPEND_ONLY
from app.engine.audit_log.verification import ChainFault
from app.infra.database.db import Database
from app.infra.database.session import Session


def record(database: Database, *object_ids: str) -> None:
    with database.transaction() as session:
        for object_id in object_ids:
            entries.record(session, Action.API_KEY_CREATE, object_id=object_id, workspace_id="wks_1")


def seal(database: Database) -> Head:
    with database.transaction() as session:
        return sealing.seal(session)[1]


def sealed(database: Database, count: int = 5) -> Head:
    """Record and seal entries about the objects 1, 2 and so on; return the head."""
    record(database, *(str(number) for number in range(1, count + 1)))
    return seal(database)


def fault(database: Database, *heads: Head) -> ChainFault | None:
    with database.reading() as session:
        return verification.verify(session, heads).fault


def recorded(database: Database) -> Sequence[Any]:
    """Return the entries that wait to be sealed, in their order."""
    with database.reading() as session:
        return session.execute(
            select(*(getattr(PendingEntry, name) for name in FIELDS)).order_by(PendingEntry.id)
        ).all()


def log(database: Database) -> Sequence[AuditEntry]:
    with database.reading() as session:
        return session.scalars(select(AuditEntry).order_by(AuditEntry.position)).all()


def tamper(database: Database, *statements: str) -> None:
    """Execute statements without the triggers that protect the log."""
    with database.transaction() as session, without_triggers(session):
        for statement in statements:
            session.execute(text(statement))


@contextmanager
def without_triggers(session: Session) -> Any:
    if session.get_bind().dialect.name == "sqlite":
        for name in (APPEND_ONLY, "audit_log_no_update"):
            session.execute(text(f"DROP TRIGGER IF EXISTS {name}"))
    else:
        session.execute(text("SET LOCAL session_replication_role = replica"))
    yield
