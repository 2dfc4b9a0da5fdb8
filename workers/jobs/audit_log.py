"""Seals the audit log: gives recorded entries their positions and hashes, every second or so."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from app.engine.audit_log import heads, sealing
from app.engine.audit_log.entries import PendingEntry
from app.engine.audit_log.sealing import Head
from app.infra.database.statements import Statement
from app.infra.telemetry.log import log
from workers.execution.worker_services import WorkerServices

_ANY_PENDING = Statement(tuple, lambda _dialect: select(PendingEntry.id).limit(1))


def seal_pending(services: WorkerServices) -> int:
    """Seal all pending entries in batches, and keep the head apart; return the number of entries."""
    with services.database.reading() as session:
        if _ANY_PENDING.first(session, {}) is None:
            return 0
    total = 0
    while True:
        with services.database.transaction() as session:
            number, head = sealing.seal(session)
        total += number
        if number < sealing.BATCH:
            break
    if total:
        _keep_apart(services.settings.audit_heads_file, head, total)
    return total


def _keep_apart(path: str, head: Head, entries: int) -> None:
    """Write the head to the log, and to the file of heads if there is one."""
    log.info("audit log sealed", entries=entries, position=head.position, hash=head.hash.hex())
    if not path:
        return
    try:
        heads.append(Path(path), head)
    except OSError as error:
        log.error("file of audit log heads cannot be written", reason=error.strerror)
