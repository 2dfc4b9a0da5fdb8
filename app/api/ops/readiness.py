"""Readiness: the checks behind `/readyz` and `/metrics`, and the advice for each result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from redis.exceptions import ResponseError

from app.api.ops.probes import Probe, ProbeTimeout, Unreachable
from app.domain.kinds import CLICKS, Queue
from app.engine.audit import audits
from app.engine.audit.audits import Audit
from app.engine.queues import backlog, queue_health, worker_heartbeats
from app.engine.queues.backlog import Count
from app.engine.queues.queue_health import QueueHealth
from app.engine.queues.worker_heartbeats import WorkerRecord, WorkerState
from app.infra import clock
from app.infra.broker import broker, redis_client
from app.infra.database import database_clock, table_versions
from app.infra.database.session import Session
from app.web.services import AppServices

T = TypeVar("T")

PROBE_SECONDS = 0.8
"""The time limit of a probe; there are two probes, and /readyz answers within two seconds."""
PROBE_KEY = "contact-lookup:readiness"
PROBE_KEY_TTL_SECONDS = 10
DATA_KEY = "contact-lookup:data-since"
"""Has the Unix time at which Redis was first found without data, and is lost with the data."""
READY = "ok"
WARNINGS = frozenset({"clocks"})
"""Checks whose failure does not stop jobs: times are taken from the database."""
CLOCK_TOLERANCE = 1.0
"""The tolerated difference in seconds between a process's clock and the database's."""
ADVICE = {
    ("database", "unreachable"): "The database cannot be reached: is it running, and is DATABASE_URL right?",
    ("database", "no_answer"): "The database does not answer in time: is it overloaded?",
    ("database", "newer_tables"): (
        "This process was started with the tables of a later version: install that version."
    ),
    ("queue", "unreachable"): (
        "{broker} cannot be reached: start it. "
        "Jobs are accepted meanwhile, and workers reconnect automatically."
    ),
    ("queue", "no_answer"): (
        "{broker} does not answer in time: is it overloaded? Jobs are accepted meanwhile and processed later."
    ),
    ("queue", "refuses_writes"): (
        "Redis answers but refuses writes: it is a read-only replica, has no memory left (maxmemory), or "
        "cannot save to its disk (MISCONF); see its log. Jobs are accepted meanwhile."
    ),
}
WORKERS_ADVICE = {
    "missing": "The queue {queue} has no worker: start worker_{queue} of the Procfile.",
    "without_queue": (
        "The workers of the queue {queue} do not consume: if Redis is available, they exit within seconds "
        "and must be started again."
    ),
}


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """The result of the database probe: queues, unfinished jobs, the last audit and the live workers.

    `clock_offset` is the number of seconds by which this process's clock is ahead of the database's.
    `has_newer_tables` is whether this process was started with the tables of a later version.
    """

    queues: dict[Queue, QueueHealth]
    counts: list[Count]
    audit: Audit | None
    workers: list[WorkerRecord]
    clock_offset: float
    now: datetime
    has_newer_tables: bool


@dataclass(frozen=True, slots=True)
class Messages:
    """The result of the probe of the queues: the messages in each, and whether Redis accepts writes.

    `data_since` is the Unix time since when Redis has kept its data, None if it refuses writes.
    """

    lengths: dict[Queue, int]
    data_since: int | None

    @property
    def is_writable(self) -> bool:
        """Whether Redis accepts writes."""
        return self.data_since is not None


class Readiness:
    """The probes of this process."""

    def __init__(self, services: AppServices) -> None:
        self.services = services
        self.limit = timedelta(seconds=services.settings.ready_progress_seconds)
        self.database = Probe(self._check_database, seconds=PROBE_SECONDS)
        self.queue = Probe(self._check_queue, seconds=PROBE_SECONDS)
        self._redis = redis_client.connect(services.settings.redis_url)
        self._broker = broker.connect(services.settings.queue_url)
        self._has_newer_tables: bool | None = None

    def _check_database(self) -> DatabaseStatus:
        with self.services.database.reading() as session:
            now = database_clock.value(session)
            live_workers = [
                row
                for row in worker_heartbeats.list_all(session)
                if worker_heartbeats.state(row, now=now) is not WorkerState.OFFLINE
            ]
            return DatabaseStatus(
                queue_health.by_queue(session, now=now),
                backlog.counts(session),
                audits.last(session, now=now),
                live_workers,
                database_clock.offset(session),
                now,
                self._started_with_newer_tables(session),
            )

    def _started_with_newer_tables(self, session: Session) -> bool:
        """Return what the first check found: a process may serve while the tables are migrated."""
        if self._has_newer_tables is None:
            self._has_newer_tables = table_versions.are_newer(session)
        return self._has_newer_tables

    def _check_queue(self) -> Messages:
        """Count the messages in each queue, and write a key that expires and one that does not."""
        lengths = self._broker.lengths(Queue)
        return Messages(dict(zip(Queue, lengths, strict=True)), self._data_since())

    def _data_since(self) -> int | None:
        with self._redis.pipeline(transaction=False) as commands:
            commands.set(PROBE_KEY, 1, ex=PROBE_KEY_TTL_SECONDS)
            commands.set(DATA_KEY, int(clock.now().timestamp()), nx=True)
            commands.get(DATA_KEY)
            try:
                return int(commands.execute()[-1])
            except ResponseError:
                return None


def readiness(probes: Readiness) -> tuple[dict[str, str], str]:
    """Return the state of each part, and advice for the operator."""
    database, status = _run(probes.database)
    if status is not None and status.has_newer_tables:
        database = "newer_tables"
    queue, messages = _run(probes.queue)
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
    if status is not None:
        stalled = [queue for queue in status.queues.values() if queue.is_stalled(probes.limit)]
        skewed = {name: by for name, by in clocks(status).items() if abs(by) > CLOCK_TOLERANCE}
        checks["workers"], missing = _workers([status.queues[name] for name in CLICKS])
        checks["progress"] = "stalled" if stalled else READY
        checks["clocks"] = "differ" if skewed else READY
        advice = [*missing, *_delays(stalled), *_differences(skewed)]
    names = "RabbitMQ or Redis" if broker.is_rabbitmq(probes.services.settings.queue_url) else "Redis"
    faults = [ADVICE[check].format(broker=names) for check in checks.items() if check in ADVICE]
    advice = [*faults, *advice]
    return checks, " ".join(advice) or "All parts answer, and jobs are processed."


def _run(probe: Callable[[], T]) -> tuple[str, T | None]:
    try:
        return READY, probe()
    except ProbeTimeout:
        return "no_answer", None
    except Unreachable:
        return "unreachable", None


def _workers(queues: Iterable[QueueHealth]) -> tuple[str, list[str]]:
    """Return the worst worker state of these queues, and advice for each queue without workers."""
    faults = {
        health.queue: "without_queue" if health.living else "missing"
        for health in queues
        if not health.consuming
    }
    advice = [WORKERS_ADVICE[fault].format(queue=queue.value) for queue, fault in faults.items()]
    return min(faults.values(), default=READY), advice


def clocks(status: DatabaseStatus) -> dict[str, float]:
    """Return the seconds by which the clock of each process is ahead of the database's."""
    return {"web": status.clock_offset} | {worker.name: worker.clock_offset for worker in status.workers}


def _differences(skewed: dict[str, float]) -> list[str]:
    return [
        f"The clock of {name} is {abs(by):.1f} s {'ahead of' if by > 0 else 'behind'} the database's: "
        "synchronize both with NTP. Jobs are processed meanwhile."
        for name, by in skewed.items()
    ]


def _delays(stalled: Iterable[QueueHealth]) -> list[str]:
    return [
        f"The oldest job of the queue {health.queue} has waited {health.wait.total_seconds():.0f} s: "
        + (
            f"start more of worker_{health.queue}, or check its log."
            if health.consuming
            else f"start worker_{health.queue} of the Procfile."
        )
        for health in stalled
    ]
