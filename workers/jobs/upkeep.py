"""Upkeep: what nobody asks for. The sweeper runs in every worker; beat only makes sure of it."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from datetime import timedelta

from redis import Redis
from redis.exceptions import RedisError

from app.core import idempotency, jobs, provider_calls, sessions, sweeping, webhook_attempts
from app.core.sweeping import Stale
from app.domain.errors import JobExpired, Unavailable, WorkerLost
from app.domain.kinds import FORGET, SWEEP, Kind, Queue
from app.infra import clock, presence, queue, redis
from app.infra.fuse import Blown
from app.infra.log import log
from workers import base
from workers.base import Machines
from workers.jobs import webhooks

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
    """Drop what need not be kept: old idempotency keys, ended sessions, old hash lookups, old attempts."""
    machines = base.machines()
    now = clock.now()
    with machines.database.transaction() as session:
        idempotency.forget(session, now=now)
        sessions.forget(session, now=now)
        webhook_attempts.forget(session, now=now)
        kept = timedelta(hours=machines.settings.hash_job_retention_hours)
        jobs.forget_lookups(session, before=now - kept)
        over = timedelta(seconds=2 * machines.settings.job_deadline_seconds)
        provider_calls.forget(session, before=now - CALLS_KEPT, values_before=now - over)


def sweep_once(machines: Machines) -> None:
    """End jobs past saving and send again those whose message was lost."""
    settings = machines.settings
    now = clock.now()
    stale = timedelta(seconds=settings.republish_seconds)
    with machines.database.reading() as session:
        if not sweeping.needs_sweeping(session, stale=stale, now=now):
            return
    full = _is_full(machines)
    with machines.database.transaction() as session:
        if not sweeping.is_sweeper(session):
            return
        ended = sweeping.end_lost(
            session,
            max_crashes=settings.max_crashes,
            expired=JobExpired().as_dict(),
            crashed=WorkerLost().as_dict(),
            now=now,
        )
        waiting = [] if full else sweeping.resend(session, stale=stale, now=now)
    for job_id in ended:
        machines.bell.ring(job_id)
    _send(machines, waiting)
    if ended or waiting:
        log.info("swept", ended=len(ended), sent_again=len(waiting))


def _is_full(machines: Machines) -> bool:
    """Tell whether sending would not help: too much waits already, or Redis is away."""
    try:
        return machines.sender.waiting(Queue.INTERACTIVE) > FULL_QUEUE
    except (RedisError, OSError, Blown):
        return True


def _send(machines: Machines, waiting: list[Stale]) -> None:
    by_kind: defaultdict[Kind, list[str]] = defaultdict(list)
    for job in waiting:
        by_kind[job.kind].append(job.job_id)
    for kind, job_ids in by_kind.items():
        if not machines.sender.send(kind, job_ids):
            with machines.database.transaction() as session:
                sweeping.unsent(session, job_ids)


class Sweeper:
    """A thread that sweeps again and again, and says in Redis that its worker lives."""

    def __init__(self) -> None:
        self._over = threading.Event()

    def start(self, machines: Machines, *, name: str) -> None:
        """Begin sweeping for the worker of this name."""
        threading.Thread(target=self._run, args=(machines, name), name="sweeper", daemon=True).start()

    def stop(self) -> None:
        """Sweep no more; the process is about to end."""
        self._over.set()

    def _run(self, machines: Machines, name: str) -> None:
        client = redis.connect(machines.settings.redis_url)
        pause = machines.settings.sweep_seconds
        while not self._over.wait(random.uniform(0.5, 1.5) * pause):  # noqa: S311 -- jitter
            try:
                sweep_once(machines)
                webhooks.send_due(machines)
            except Unavailable:
                log.warning("the database cannot be reached, will sweep later")
            except Exception as error:  # noqa: BLE001 -- the sweeper must outlive everything
                log.error("sweeping failed, will sweep later", exc_info=error)
            _say_alive(client, name)


def _say_alive(client: Redis, name: str) -> None:
    try:
        presence.say_alive(client, name)
    except (RedisError, OSError):
        log.debug("could not say that this worker lives")
