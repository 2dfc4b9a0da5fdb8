"""Upkeep: what nobody asks for. The sweeper runs in every worker; beat only makes sure of it."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from redis.exceptions import RedisError

from app.core import idempotency, jobs, provider_calls, redaction, sessions, sweeping, webhook_attempts
from app.core import workers as presence
from app.core.sweeping import Stale
from app.domain.errors import JobExpired, Unavailable, WorkerLost
from app.domain.kinds import FORGET, SWEEP, Kind, Queue
from app.infra import database_clock, queue
from app.infra.database_clock import Moment
from app.infra.fuse import Blown
from app.infra.log import log
from workers import base
from workers.base import Machines
from workers.jobs import audit, webhooks

CALLS_KEPT = timedelta(days=180)
"""For how long calls count in a provider's figures."""
FULL_QUEUE = 200
"""Messages beyond which resending would only make a long queue longer."""


@queue.celery.task(name=SWEEP)
def sweep() -> None:
    """Sweep once, because beat said so."""
    sweep_once(base.machines())


@queue.celery.task(name=FORGET)
def forget() -> None:
    """Drop what need not be kept: old keys, ended sessions, what jobs say of people, what is gone.

    Each in a transaction of its own, so that nobody waits for all of it.
    """
    machines = base.machines()
    now, settings = database_clock.now(), machines.settings
    lookups = now - timedelta(hours=settings.hash_job_retention_hours)
    values = now - timedelta(seconds=2 * settings.job_deadline_seconds)
    for part in (
        partial(idempotency.forget, now=now),
        partial(sessions.forget, now=now),
        partial(webhook_attempts.forget, now=now),
        partial(presence.forget, now=now),
        partial(jobs.forget_lookups, before=lookups),
        partial(provider_calls.forget, before=now - CALLS_KEPT, values_before=values),
    ):
        with machines.database.transaction(at_leisure=True) as session:
            part(session)
    while _forget_answers(machines, now - timedelta(days=settings.job_retention_days)):
        pass


def _forget_answers(machines: Machines, before: Moment) -> int:
    with machines.database.transaction() as session:
        return redaction.forget_answers(session, before=before)


def sweep_once(machines: Machines) -> None:
    """End jobs past saving and send again those whose message was lost."""
    while _sweep_batch(machines) >= sweeping.BATCH:
        pass


def _sweep_batch(machines: Machines) -> int:
    """Sweep as much as goes into one transaction; give how many jobs were ended."""
    settings = machines.settings
    now = database_clock.now()
    stale = timedelta(seconds=settings.republish_seconds)
    with machines.database.reading() as session:
        if not sweeping.needs_sweeping(session, stale=stale, now=now):
            return 0
    queues = _sendable(machines)
    with machines.database.transaction() as session:
        if not sweeping.is_sweeper(session):
            return 0
        ended = sweeping.end_lost(
            session,
            max_crashes=settings.max_crashes,
            expired=JobExpired().as_dict(),
            crashed=WorkerLost().as_dict(),
            now=now,
        )
        waiting = sweeping.resend(session, stale=stale, now=now, queues=queues)
    for job_id in ended:
        machines.bell.ring(job_id)
    _send(machines, waiting)
    if ended or waiting:
        log.info("swept", ended=len(ended), sent_again=len(waiting))
    return len(ended)


def _sendable(machines: Machines) -> list[Queue]:
    """Return the queues to which sending helps: Redis answers, and not too many messages wait there."""
    try:
        return [one for one in Queue if machines.sender.waiting(one) <= FULL_QUEUE]
    except (RedisError, OSError, Blown):
        return []


def _send(machines: Machines, waiting: list[Stale]) -> None:
    groups: defaultdict[tuple[Kind, Queue], list[str]] = defaultdict(list)
    for job in waiting:
        groups[job.kind, job.queue].append(job.job_id)
    for (kind, target), job_ids in groups.items():
        if not machines.sender.push(kind.value, target, job_ids):
            with machines.database.transaction() as session:
                sweeping.unsent(session, job_ids)


class Sweeper:
    """A thread that does the parts of the upkeep again and again, whatever happens."""

    PARTS: Sequence[Callable[[Machines], object]] = (sweep_once, webhooks.send_due, audit.audit_if_due)

    def __init__(self, parts: Sequence[Callable[[Machines], object]] = PARTS) -> None:
        self._parts = parts
        self._over = threading.Event()

    def start(self, machines: Machines) -> None:
        """Begin sweeping."""
        threading.Thread(target=self._run, args=(machines,), name="sweeper", daemon=True).start()

    def stop(self) -> None:
        """Sweep no more; the process is about to end."""
        self._over.set()

    def _run(self, machines: Machines) -> None:
        pause = machines.settings.sweep_seconds
        while not self._over.wait(random.uniform(0.5, 1.5) * pause):  # noqa: S311 -- jitter
            for part in self._parts:
                _try(part, machines)


def _try(part: Callable[[Machines], object], machines: Machines) -> None:
    """Do one part of the upkeep; one that fails must not keep the others from being done."""
    name = getattr(part, "__name__", "")
    try:
        part(machines)
    except Unavailable:
        log.warning("the database cannot be reached, will sweep later", part=name)
    except Exception as error:  # noqa: BLE001 -- the sweeper must outlive everything
        log.error("sweeping failed, will sweep later", part=name, exc_info=error)
