"""Periodic maintenance: sweeping, in a thread of every worker and by Celery beat, and purging."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import timedelta
from functools import partial

from app.domain.errors import JobExpired, WorkerLost
from app.domain.kinds import FORGET, SWEEP, Queue
from app.engine.accounts import sessions
from app.engine.contacts import website_readings
from app.engine.events import events
from app.engine.jobs import idempotency, jobs, provider_calls, sweeper
from app.engine.jobs.sweeper import StaleJob
from app.engine.ledger import spending_limits
from app.engine.lists import imported_rows
from app.engine.lookups import people_counts
from app.engine.matching import reverse_lookups
from app.engine.own_records import own_verifications
from app.engine.privacy import contact_retention, redaction
from app.engine.queues import worker_heartbeats as presence
from app.engine.work import items
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.settings import Settings
from workers.execution import maintenance, work
from workers.execution.feature import BatchPurge, Purge, Step, work_parts
from workers.execution.worker_services import WorkerServices
from workers.jobs import audit, audit_log

CALL_RETENTION = timedelta(days=180)
"""How long provider calls are kept for statistics."""
READING_RETENTION = timedelta(days=180)
"""How long it is kept which pages of a website were read; those that are read again are kept longer."""
FEATURES = work_parts()
FULL_QUEUE = 200
"""Queue length above which no messages are republished."""
RARE_TURNS = 60
FOLLOWER_PAUSE = 3
"""How many times as long a worker pauses that found the steps just run by another worker."""


@maintenance.task(SWEEP)
def sweep(services: WorkerServices) -> None:
    """Sweep once; scheduled by Celery beat."""
    sweep_once(services)


@maintenance.task(FORGET)
def purge(services: WorkerServices) -> None:
    """Purge once; scheduled by Celery beat."""
    purge_once(services)


def purge_once(services: WorkerServices) -> None:
    """Delete expired rows and redact the personal data in old job results.

    Each step has its own transaction, so that locks are held only briefly. A step that fails is logged and
    repeated in the next run; the steps after it still run.
    """
    for step in _purges(services.settings):
        maintenance.attempt(partial(step, services))


def _purges(settings: Settings) -> Iterator[Step]:
    """Yield the steps of a purge."""
    now = database_clock.now()
    lookups = now - timedelta(hours=settings.hash_job_retention_hours)
    values = now - timedelta(seconds=2 * settings.job_deadline_seconds)
    jobs_before = now - timedelta(days=settings.job_retention_days)
    expired: tuple[Purge, ...] = (
        partial(idempotency.purge_expired, now=now),
        partial(sessions.purge_expired, now=now),
        partial(spending_limits.purge_expired, now=now),
        partial(events.purge_expired, now=now),
        partial(presence.purge_expired, now=now),
        partial(imported_rows.purge_expired, now=now),
        partial(items.purge_expired, now=now),
        partial(reverse_lookups.purge_expired, now=now),
        partial(own_verifications.purge_expired, before=now - settings.default_max_age),
        partial(jobs.purge_hash_lookups, before=lookups),
        partial(people_counts.purge_expired, before=now - people_counts.MAX_AGE),
        partial(provider_calls.purge_expired, before=now - CALL_RETENTION, replies_before=values),
        partial(website_readings.purge_expired, before=now - READING_RETENTION),
        *(purge for part in FEATURES for purge in part.purges(settings, now)),
    )
    for purge in expired:
        yield partial(_purge, purge)
    in_batches: tuple[BatchPurge, ...] = (
        *(purge for part in FEATURES for purge in part.purges_in_batches(settings, now)),
        partial(redaction.redact_expired, before=jobs_before),
    )
    for purge_batch in in_batches:
        yield partial(_purge_in_batches, purge_batch)
    if settings.contact_retention_days:
        yield partial(_delete_contact_values, timedelta(days=settings.contact_retention_days))


def _purge(purge: Purge, services: WorkerServices) -> None:
    with services.database.transaction(no_deadline=True) as session:
        purge(session)


def _purge_in_batches(purge: BatchPurge, services: WorkerServices) -> None:
    """Purge in short transactions until nothing is left."""
    purged = 1
    while purged:
        with services.database.transaction() as session:
            purged = purge(session)


def _delete_contact_values(period: timedelta, services: WorkerServices) -> None:
    """Delete values in short transactions until no more can be deleted."""
    while True:
        with services.database.transaction() as session:
            deleted = contact_retention.delete_expired(session, period=period, now=database_clock.now())
        if not deleted.is_any:
            return
        log.info("expired contact values deleted", **asdict(deleted))


def sweep_once(services: WorkerServices) -> None:
    """End orphaned jobs and republish those whose message was lost."""
    while _sweep_batch(services) >= sweeper.BATCH:
        pass


def _sweep_batch(services: WorkerServices) -> int:
    """Sweep one batch in one transaction; return the number of jobs ended."""
    settings = services.settings
    now = database_clock.now()
    stale = timedelta(seconds=settings.republish_seconds)
    with services.database.reading() as session:
        if not sweeper.needs_sweeping(session, stale=stale, now=now, empty=tuple(Queue)):
            return 0
    queues = [queue for queue in Queue if not services.publisher.is_full(queue, FULL_QUEUE)]
    empty = [queue for queue in queues if services.publisher.is_empty(queue)]
    with services.database.reading() as session:
        if not sweeper.needs_sweeping(session, stale=stale, now=now, empty=empty):
            return 0
    with services.database.transaction() as session:
        if not sweeper.try_lock(session):
            return 0
        ended = sweeper.finish_orphaned(
            session,
            max_crashes=settings.max_crashes,
            expired=JobExpired().as_dict(),
            crashed=WorkerLost().as_dict(),
            now=now,
        )
        stale_jobs = sweeper.republish(session, stale=stale, now=now, queues=queues, empty=empty)
    for job_id in ended:
        log.info("job ended without a worker", job=job_id)
    services.notifier.notify(ended)
    _publish(services, stale_jobs)
    if ended or stale_jobs:
        log.info("swept", ended=len(ended), republished=len(stale_jobs))
    return len(ended)


def _publish(services: WorkerServices, stale_jobs: list[StaleJob]) -> None:
    groups: defaultdict[tuple[str, Queue], list[str]] = defaultdict(list)
    for job in stale_jobs:
        groups[job.kind, job.queue].append(job.job_id)
    for (kind, target), job_ids in groups.items():
        if not services.publisher.push(kind, target, job_ids):
            with services.database.transaction() as session:
                sweeper.mark_unpublished(session, job_ids)


class Sweeper:
    """A thread that runs the maintenance steps periodically, in turns with the other workers.

    All workers together run them at most twice per `SWEEP_SECONDS`. A worker that finds them just run waits
    longer, so that mostly one worker runs them; a worker that cannot reach Redis runs them on its own.
    """

    STEPS: Sequence[Step] = (
        sweep_once,
        audit_log.seal_pending,
        *(step for part in FEATURES for step in part.sweeps),
        work.send_due,
    )
    RARE_STEPS: Sequence[Step] = (audit.audit_if_due,)
    """Steps that run once in RARE_TURNS turns, because they take longer and are not urgent."""

    def __init__(self, steps: Sequence[Step] = STEPS, rare_steps: Sequence[Step] = RARE_STEPS) -> None:
        self._steps, self._rare_steps = steps, rare_steps
        self._stopped = threading.Event()

    def start(self, services: WorkerServices) -> None:
        """Start the thread."""
        threading.Thread(target=self._run, args=(services,), name="sweeper", daemon=True).start()

    def stop(self) -> None:
        """Stop sweeping, because the process is shutting down."""
        self._stopped.set()

    def _run(self, services: WorkerServices) -> None:
        seconds, turns, is_leading = services.settings.sweep_seconds, 0, True
        while not self._stopped.wait(_pause(seconds, is_leading=is_leading)):
            is_leading = services.publisher.try_lock("sweep", 0.5 * seconds)
            if not is_leading:
                continue
            for step in self._steps if turns % RARE_TURNS else (*self._steps, *self._rare_steps):
                maintenance.attempt(partial(step, services))
            turns += 1


def _pause(seconds: float, *, is_leading: bool) -> float:
    """Return a random number of seconds, so that workers do not act at the same moments."""
    return random.uniform(0.5, 1.5) * seconds * (1 if is_leading else FOLLOWER_PAUSE)  # noqa: S311 -- not a secret
