"""Checks the ledger's invariants every few minutes and logs each violation."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from functools import partial

from app.domain.kinds import AUDIT
from app.engine.audit import audits, incremental, rule_checks
from app.engine.audit.coverage import EVERYTHING
from app.infra import clock
from app.infra.broker.celery_app import SECONDS_BETWEEN_AUDITS
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from workers.execution import maintenance
from workers.execution.worker_services import WorkerServices

BEAT_MIN_AGE = timedelta(seconds=SECONDS_BETWEEN_AUDITS / 2)
"""Minimum age of the last audit when beat schedules one; a younger one ran for the same beat message."""
OVERDUE_AGE = timedelta(seconds=2 * SECONDS_BETWEEN_AUDITS)
"""Age of the last audit after which a worker starts one itself: beat is a single process."""


@maintenance.task(AUDIT)
def audit(services: WorkerServices) -> None:
    """Audit the ledger; scheduled by Celery beat."""
    audit_id = _begin(services, BEAT_MIN_AGE)
    if audit_id is not None:
        audit_once(services, audit_id)


def audit_if_due(services: WorkerServices) -> bool:
    """Start an audit in its own thread if the last one is too old; return whether it was started."""
    with services.database.reading() as session:
        if not audits.is_due(session, every=OVERDUE_AGE, now=database_clock.now()):
            return False
    audit_id = _begin(services, OVERDUE_AGE)
    if audit_id is not None:
        work = partial(maintenance.attempt, partial(audit_once, services, audit_id), step=AUDIT)
        threading.Thread(target=work, name="audit", daemon=True).start()
    return audit_id is not None


def audit_once(services: WorkerServices, audit_id: str) -> None:
    """Check every rule in one snapshot, store the results, and log each violation.

    The rules are checked for what changed since the last audit and for a slice of everything else; after an
    audit that found a violation for everything, so that it is reported until it is repaired.
    """
    started = time.monotonic()
    with services.database.reading(no_deadline=True) as session:
        rule_checks.use_repeatable_read(session)
        now = database_clock.value(session)
        last = audits.last(session, now=now)
        increment = None if last is not None and last.faults else incremental.plan(session, now=now)
        coverage = EVERYTHING if increment is None else increment.coverage
        audit_scope = rule_checks.scope(session, coverage=coverage)
        stuck_after = rule_checks.stuck_after(services.settings)
        results = list(rule_checks.check(session, stuck_after=stuck_after, now=now, coverage=coverage))
    milliseconds = clock.milliseconds_since(started)
    with services.database.transaction() as session:
        audits.finish(session, audit_id, audit_scope, results, milliseconds=milliseconds, now=now)
        if increment is not None:
            incremental.store(session, increment)
    faults = [fault for result in results for fault in result.faults]
    for fault in faults:
        log.error("ledger fault", rule=fault.rule, id=fault.id)
    log.info(
        "ledger audited",
        jobs=audit_scope.jobs,
        entries=audit_scope.entries,
        faults=len(faults),
        ms=milliseconds,
    )


def _begin(services: WorkerServices, every: timedelta) -> str | None:
    with services.database.transaction() as session:
        return audits.begin(session, every=every, now=database_clock.now())
