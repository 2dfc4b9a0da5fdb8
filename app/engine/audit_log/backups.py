"""When `flask backup create` last succeeded: the audit log records each command."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select

from app.engine.audit_log.entries import BACKUP_CREATED, AuditEntry
from app.infra.database.session import Session

_LAST = select(func.max(AuditEntry.occurred_at)).where(BACKUP_CREATED)


def last_created(session: Session) -> datetime | None:
    """Return when the last backup was complete; None if the audit log has no entry of one."""
    return session.scalar(_LAST)
