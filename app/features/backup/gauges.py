"""The gauge of the last backup: the audit log records each `flask backup create`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily, Metric
from sqlalchemy import func, select

from app.engine.audit_log.entries import BACKUP_CREATED, AuditEntry
from app.infra.database.session import Session

_LAST = select(func.max(AuditEntry.occurred_at)).where(BACKUP_CREATED)


def gauges(session: Session, now: datetime) -> Iterator[Metric]:
    """Yield the age of the last complete backup; without a sample if the audit log has no entry of one."""
    created_at = session.scalar(_LAST)
    yield GaugeMetricFamily(
        "ext_backup_age_seconds",
        "Seconds since `flask backup create` last succeeded; absent if it never did.",
        value=None if created_at is None else (now - created_at).total_seconds(),
    )
