"""The gauges of queued imports."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily, Metric
from sqlalchemy import func, select

from app.features.imports.tables import IS_OPEN, ImportStatus, QueuedImport
from app.infra.database.session import Session

OPEN_STATUSES = (ImportStatus.ARRIVING, ImportStatus.WAITING, ImportStatus.RUNNING)


def gauges(session: Session, _now: datetime) -> Iterator[Metric]:
    """Yield the number of open imports by status, and the bytes of their files that are still to be read."""
    left = func.sum(QueuedImport.size - QueuedImport.bytes_done)
    query = select(QueuedImport.status, func.count(), left).where(IS_OPEN).group_by(QueuedImport.status)
    open_imports = {status: (count, int(size)) for status, count, size in session.execute(query)}
    imports = GaugeMetricFamily("ext_imports", "Queued imports that have not ended.", labels=["status"])
    for status in OPEN_STATUSES:
        imports.add_metric([status.value], open_imports.get(status.value, (0, 0))[0])
    yield imports
    yield GaugeMetricFamily(
        "ext_import_bytes_left",
        "Bytes of queued imports that workers have not read.",
        value=sum(size for _count, size in open_imports.values()),
    )
