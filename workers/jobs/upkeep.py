"""Upkeep: what nobody asks for. The sweeper runs in every worker; beat only makes sure of it."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from redis.exceptions import RedisError

from app.core.accounts import sessions
from app.core.jobs import idempotency, jobs, provider_calls, sweeper, webhook_attempts
from app.core.jobs.sweeper import StaleJob
from app.core.privacy import redaction
from app.core.queues import worker_heartbeats as presence
from app.domain.errors import JobExpired, Unavailable, WorkerLost
from app.domain.kinds import FORGET, SWEEP, Kind, Queue
from app.infra import database_clock, queue
from app.infra.circuit_breaker import CircuitOpen
from app.infra.database_clock import Moment
from app.infra.log import log
from workers.execution import job_runner
from workers.execution.job_runner import WorkerServices
from workers.jobs import audit, webhooks

CALL_RETENTION = timedelta(days=180)
"""For how long calls count in a provider's figures."""
FULL_QUEUE = 200
"""Messages beyond which resending would only make a long queue longer."""


@queue.celery.task(name=SWEEP)
def sweep() -> None:
    """Sweep once, because beat said so."""
    sweep_once(job_runner.services())


@queue.celery.task(name=FORGET)
def purge() -> None:
    """Drop what need not be kept: old keys, ended sessions, what jobs say of people, what is gone.

    Each in a transaction of its own, so that nobody waits for all of it.
    """
    services = job_runner.services()
    now, settings = database_clock.now(), services.settings
    lookups = now - timedelta(hours=settings.hash_job_retention_hours)
    values = now - timedelta(seconds=2 * settings.job_deadline_seconds)
    for part in (
        partial(idempotency.purge_expired, now=now),
        partial(sessions.forget, now=now),
        partial(webhook_attempts.forget, now=now),
        partial(presence.forget, now=now),
        partial(jobs.purge_hash_lookups, before=lookups),
        partial(provider_calls.purge_expired, before=now - CALL_RETENTION, values_before=values),
    ):
        with services.database.transaction(no_deadline=True) as session:
            part(session)
    while _redact_results(services, now - timedelta(days=settings.job_retention_days)):
        pass


def _redact_results(services: WorkerServices, before: Moment) -> int:
    with services.database.transaction() as session:
        return redaction.redact_expired(session, before=before)


def sweep_once(services: WorkerServices) -> None:
    """End jobs past saving and send again those whose message was lost."""
    while _sweep_batch(services) >= sweeper.BATCH:
        pass


def _sweep_batch(services: WorkerServices) -> int:
    """Sweep as much as goes into one transaction; give how many jobs were ended."""
    settings = services.settings
    now = database_clock.now()
    stale = timedelta(seconds=settings.republish_seconds)
    with services.database.reading() as session:
        if not sweeper.needs_sweeping(session, stale=stale, now=now):
            return 0
    queues = _sendable(services)
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
        waiting = sweeper.republish(session, stale=stale, now=now, queues=queues)
    for job_id in ended:
        services.notifier.notify(job_id)
    _send(services, waiting)
    if ended or waiting:
        log.info("swept", ended=len(ended), sent_again=len(waiting))
    return len(ended)


def _sendable(services: WorkerServices) -> list[Queue]:
    """Return the queues to which sending helps: Redis answers, and not too many messages wait there."""
    try:
        return [one for one in Queue if services.publisher.depth(one) <= FULL_QUEUE]
    except (RedisError, OSError, CircuitOpen):
        return []


def _send(services: WorkerServices, waiting: list[StaleJob]) -> None:
    groups: defaultdict[tuple[Kind, Queue], list[str]] = defaultdict(list)
    for job in waiting:
        groups[job.kind, job.queue].append(job.job_id)
    for (kind, target), job_ids in groups.items():
        if not services.publisher.push(kind.value, target, job_ids):
            with services.database.transaction() as session:
                sweeper.mark_unpublished(session, job_ids)


class Sweeper:
    """A thread that does the parts of the upkeep again and again, whatever happens."""

    PARTS: Sequence[Callable[[WorkerServices], object]] = (sweep_once, webhooks.send_due, audit.audit_if_due)

    def __init__(self, parts: Sequence[Callable[[WorkerServices], object]] = PARTS) -> None:
        self._parts = parts
        self._over = threading.Event()

    def start(self, services: WorkerServices) -> None:
        """Begin sweeping."""
        threading.Thread(target=self._run, args=(services,), name="sweeper", daemon=True).start()

    def stop(self) -> None:
        """Sweep no more; the process is about to end."""
        self._over.set()

    def _run(self, services: WorkerServices) -> None:
        pause = services.settings.sweep_seconds
        while not self._over.wait(random.uniform(0.5, 1.5) * pause):  # noqa: S311 -- jitter
            for part in self._parts:
                _try(part, services)


def _try(part: Callable[[WorkerServices], object], services: WorkerServices) -> None:
    """Do one part of the upkeep; one that fails must not keep the others from being done."""
    name = getattr(part, "__name__", "")
    try:
        part(services)
    except Unavailable:
        log.warning("the database cannot be reached, will sweep later", part=name)
    except Exception as error:  # noqa: BLE001 -- the sweeper must outlive everything
        log.error("sweeping failed, will sweep later", part=name, exc_info=error)
