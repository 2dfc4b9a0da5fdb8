"""Readiness: what `/readyz` and `/metrics` ask the parts of the service, and what the answers mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from app.api.http.services import AppServices
from app.api.ops.probes import Probe, ProbeTimeout, Unreachable
from app.core.audit import audits
from app.core.audit.audits import Audit
from app.core.queues import backlog, worker_heartbeats
from app.core.queues import queue_health as standing
from app.core.queues.backlog import Count
from app.core.queues.queue_health import QueueHealth
from app.core.queues.worker_heartbeats import WorkerRecord, WorkerState
from app.domain.kinds import CLICKS, Queue
from app.infra import database_clock, redis_client

T = TypeVar("T")

PROBE_SECONDS = 0.8
"""How long a part may take to answer; there are two, and the caller is promised two seconds."""
PROBE_KEY = "contact-lookup:readiness"
PROBE_KEY_TTL_SECONDS = 10
READY = "ok"
WARNINGS = frozenset({"clocks"})
"""Parts that an operator should mend, but without which jobs get done: times are the database's."""
CLOCK_TOLERANCE = 1.0
"""Seconds that the clock of a process may differ from the database's."""
ADVICE = {
    ("database", "unreachable"): "The database cannot be reached: is it running, and is DATABASE_URL right?",
    ("database", "no_answer"): "The database does not answer in time: is it frozen, or overloaded?",
    ("queue", "unreachable"): (
        "Redis cannot be reached: start it. Jobs are taken in meanwhile, and workers connect by themselves."
    ),
    ("queue", "no_answer"): (
        "Redis does not answer in time: is it frozen? Jobs are taken in meanwhile, and done when it answers."
    ),
    ("queue", "refuses_writes"): (
        "Redis answers, but refuses to store anything: it is a read-only replica, has no memory left "
        "(maxmemory), or cannot save to its disk (MISCONF); its log says which. Jobs are taken in meanwhile."
    ),
}
WORKERS_ADVICE = {
    "missing": "No worker is there for the queue {queue}: start worker_{queue} of the Procfile.",
    "without_queue": (
        "The workers for the queue {queue} do not consume: if Redis is there, they end themselves within "
        "seconds and must be started again."
    ),
}


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """What the database said: how the queues stand, the jobs that are not over, the last audit, who works.

    `clock_offset` is by how many seconds this process's clock is ahead of the database's.
    """

    standings: dict[Queue, QueueHealth]
    counts: list[Count]
    audit: Audit | None
    workers: list[WorkerRecord]
    clock_offset: float
    now: datetime


@dataclass(frozen=True, slots=True)
class Messages:
    """What Redis said: how many messages wait in each queue, and whether it takes new ones."""

    lengths: dict[Queue, int]
    is_writable: bool


class Readiness:
    """The probes of this process."""

    def __init__(self, services: AppServices) -> None:
        self.services = services
        self.limit = timedelta(seconds=services.settings.ready_progress_seconds)
        self.database = Probe(self._ask_database, seconds=PROBE_SECONDS)
        self.queue = Probe(self._ask_queue, seconds=PROBE_SECONDS)
        self._redis = redis_client.connect(services.settings.redis_url)

    def _ask_database(self) -> DatabaseStatus:
        with self.services.database.reading() as session:
            now = database_clock.value(session)
            living = [
                row
                for row in worker_heartbeats.known(session)
                if worker_heartbeats.state(row, now=now) is not WorkerState.OFFLINE
            ]
            return DatabaseStatus(
                standing.standings(session, now=now),
                backlog.counts(session),
                audits.last(session),
                living,
                database_clock.offset(session),
                now,
            )

    def _ask_queue(self) -> Messages:
        """Write a key that expires, and count the messages in each queue."""
        with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.set(PROBE_KEY, 1, ex=PROBE_KEY_TTL_SECONDS)
            for queue in Queue:
                pipeline.llen(queue.value)
            written, *lengths = pipeline.execute(raise_on_error=False)
        for length in lengths:
            if isinstance(length, Exception):
                raise length
        return Messages(dict(zip(Queue, lengths, strict=True)), is_writable=written is True)


def readiness(parts: Readiness) -> tuple[dict[str, str], str]:
    """Give a word on each part, and sentences on what to do."""
    database, found = _asked(parts.database)
    queue, messages = _asked(parts.queue)
    if messages is not None and not messages.is_writable:
        queue = "refuses_writes"
    checks = {
        "database": database,
        "queue": queue,
        "workers": "unknown",
        "progress": "unknown",
        "clocks": "unknown",
    }
    advice = list[str]()
    if found is not None:
        stalled = [one for one in found.standings.values() if one.is_stalled(parts.limit)]
        wrong = {name: by for name, by in clocks(found).items() if abs(by) > CLOCK_TOLERANCE}
        checks["workers"], absent = _workers([found.standings[name] for name in CLICKS])
        checks["progress"] = "stalled" if stalled else READY
        checks["clocks"] = "differ" if wrong else READY
        advice = [*absent, *_delays(stalled), *_differences(wrong)]
    advice = [*(ADVICE[check] for check in checks.items() if check in ADVICE), *advice]
    return checks, " ".join(advice) or "Everything answers, and jobs get done."


def _asked(probe: Callable[[], T]) -> tuple[str, T | None]:
    try:
        return READY, probe()
    except ProbeTimeout:
        return "no_answer", None
    except Unreachable:
        return "unreachable", None


def _workers(standings: Iterable[QueueHealth]) -> tuple[str, list[str]]:
    """Return a word on the workers of these queues, the worst, and a sentence for each queue without."""
    found = {
        one.queue: "without_queue" if one.living else "missing" for one in standings if not one.consuming
    }
    advice = [WORKERS_ADVICE[word].format(queue=queue.value) for queue, word in found.items()]
    return min(found.values(), default=READY), advice


def clocks(found: DatabaseStatus) -> dict[str, float]:
    """Return by how many seconds the clock of each process is ahead of the database's."""
    return {"web": found.clock_offset} | {worker.name: worker.clock_offset for worker in found.workers}


def _differences(wrong: dict[str, float]) -> list[str]:
    return [
        f"The clock of {name} is {abs(by):.1f} s {'ahead of' if by > 0 else 'behind'} the database's: "
        "synchronize both with NTP. Jobs get done meanwhile."
        for name, by in wrong.items()
    ]


def _delays(stalled: Iterable[QueueHealth]) -> list[str]:
    return [
        f"The oldest job of the queue {one.queue} has waited {one.wait.total_seconds():.0f} s: "
        + (
            f"start more of worker_{one.queue}, or look at its log."
            if one.consuming
            else f"start worker_{one.queue} of the Procfile."
        )
        for one in stalled
    ]
