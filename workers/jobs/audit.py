"""The audit: every few minutes the ledger's rules are looked at, and what breaks one is told to the log."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

from app.core.audit import audits
from app.domain.errors import Unavailable
from app.domain.kinds import AUDIT
from app.infra import database_clock, queue
from app.infra.log import log
from app.infra.queue import SECONDS_BETWEEN_AUDITS
from workers.execution import job_runner
from workers.execution.job_runner import WorkerServices

BY_BEAT = timedelta(seconds=SECONDS_BETWEEN_AUDITS / 2)
"""Beat says when; an audit younger than this was somebody else's who heard the same."""
WITHOUT_BEAT = timedelta(seconds=2 * SECONDS_BETWEEN_AUDITS)


@queue.celery.task(name=AUDIT)
def audit() -> None:
    """Look at the ledger, because beat said so."""
    services = job_runner.services()
    try:
        audit_id = _begin(services, BY_BEAT)
        if audit_id is not None:
            audit_once(services, audit_id)
    except Exception as error:  # noqa: BLE001 -- the last net of the thread
        log.error("the audit failed", exc_info=error)


def audit_if_due(services: WorkerServices) -> bool:
    """Look at the ledger in a thread of its own if nobody has for too long: beat is only one process.

    Raises:
        Unavailable: the database cannot be reached.

    """
    with services.database.reading() as session:
        if not audits.is_due(session, every=WITHOUT_BEAT, now=database_clock.now()):
            return False
    audit_id = _begin(services, WITHOUT_BEAT)
    if audit_id is not None:
        threading.Thread(
            target=_audit_with_lock, args=(services, audit_id), name="audit", daemon=True
        ).start()
    return audit_id is not None


def audit_once(services: WorkerServices, audit_id: str) -> None:
    """Look at every rule in one snapshot, write down what came of it, and tell the log of each fault.

    Raises:
        Unavailable: the database cannot be reached; the audit stays without an end.

    """
    started = time.monotonic()
    with services.database.reading(no_deadline=True) as session:
        audits.use_repeatable_read(session)
        now = database_clock.value(session)
        extent = audits.scope(session)
        checked = list(audits.check(session, stuck_after=audits.stuck_after(services.settings), now=now))
    milliseconds = round((time.monotonic() - started) * 1000)
    with services.database.transaction() as session:
        audits.finish(session, audit_id, extent, checked, milliseconds=milliseconds, now=now)
    faults = [fault for one in checked for fault in one.faults]
    for fault in faults:
        log.error("ledger fault", rule=fault.rule, id=fault.id)
    log.info("ledger audited", jobs=extent.jobs, entries=extent.entries, faults=len(faults), ms=milliseconds)


def _begin(services: WorkerServices, every: timedelta) -> str | None:
    with services.database.transaction() as session:
        return audits.begin(session, every=every, now=database_clock.now())


def _audit_with_lock(services: WorkerServices, audit_id: str) -> None:
    try:
        audit_once(services, audit_id)
    except Unavailable:
        log.warning("the database cannot be reached, will audit later")
    except Exception as error:  # noqa: BLE001 -- the last net of the thread
        log.error("the audit failed", exc_info=error)
