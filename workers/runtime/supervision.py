"""Supervision: a worker that makes no progress exits, so that its process manager starts a new one.

A process that answers pings may still have lost its queue, or all its threads may hang; only a new process
recovers from that. A worker does not exit because the broker or the database is down, since a new process
could not work either: it reconnects.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from app.domain.errors import Unavailable
from app.engine.queues import backlog, worker_heartbeats
from app.engine.queues.worker_heartbeats import Heartbeat, WorkerState
from app.infra.broker import broker
from app.infra.broker.broker import Broker
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from workers.execution import shutdown_flag
from workers.execution.worker_services import WorkerServices
from workers.runtime.activity import Activity, RunningTask

SAMPLE_SECONDS = 2.0
CONNECTION_POLL_SECONDS = 0.05
"""Interval between checks whether the consumer of a starting worker is connected."""
REPORT_SECONDS = 5.0
"""Interval between heartbeats; three missed ones make a worker offline."""
STALLED_SAMPLES = 4
"""Consecutive samples with waiting messages and idle threads after which the worker counts as stalled.

Longer than the consumer takes to reconnect.
"""
DISCONNECTED_SAMPLES = 2
"""Consecutive samples without the queue after which the worker reports it."""
STUCK_LEASES = 3
"""Number of lease periods after which a job whose lease is not renewed counts as hanging."""
STUCK_UPKEEP_SECONDS = 900.0
"""Duration after which a maintenance task counts as hanging; reverification may take over five minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSample:
    """The state of the worker at one moment.

    `sampled_at` is in seconds of the monotonic clock, `waiting` the number of messages in its queues or None
    if the broker does not respond, `received` the number of messages received so far.
    """

    sampled_at: float
    waiting: int | None
    received: int
    is_idle: bool
    is_connected: bool
    is_stuck: bool


@dataclass(slots=True)
class HealthEvaluator:
    """Derives from consecutive samples the worker's state and whether it must exit."""

    last: HealthSample | None = None
    stalled_samples: int = 0
    disconnected_samples: int = DISCONNECTED_SAMPLES

    def verdict(self, sample: HealthSample) -> str | None:
        """Return the reason why the worker must exit; None if there is none."""
        before, self.last = self.last, sample
        self.disconnected_samples = (
            0 if sample.waiting is not None and sample.is_connected else self.disconnected_samples + 1
        )
        self.stalled_samples = self.stalled_samples + 1 if _is_stalled(before, sample) else 0
        if self.stalled_samples >= STALLED_SAMPLES:
            return "messages are waiting and threads are idle, but none is received"
        if sample.is_stuck:
            return "all threads hang"
        return None

    @property
    def state(self) -> WorkerState:
        """Return the state of the worker."""
        if shutdown_flag.has_begun():
            return WorkerState.STOPPING
        if self.disconnected_samples >= DISCONNECTED_SAMPLES or self.stalled_samples >= DISCONNECTED_SAMPLES:
            return WorkerState.WITHOUT_QUEUE
        return WorkerState.WORKING


def is_stuck(
    running: list[RunningTask], threads: int, count_leased: Callable[[list[str]], int], lease: float
) -> bool:
    """Return whether every thread hangs; `count_leased` counts the jobs of a list whose lease is valid."""
    overdue = [
        task
        for task in running
        if task.seconds > (STUCK_LEASES * lease if task.job_id else STUCK_UPKEEP_SECONDS)
    ]
    if len(overdue) < threads:
        return False
    # A long job is not hanging as long as it renews its lease.
    return count_leased([task.job_id for task in overdue if task.job_id]) == 0


def _is_stalled(before: HealthSample | None, sample: HealthSample) -> bool:
    """Return whether messages waited in both samples while idle threads received none.

    Samples far apart are not compared: the machine was suspended or the process stopped.
    """
    if before is None or sample.sampled_at - before.sampled_at > 3 * SAMPLE_SECONDS:
        return False
    both = (before, sample)
    return sample.received == before.received and all(sample.waiting and sample.is_idle for sample in both)


@dataclass(slots=True)
class Watchdog:
    """Samples one worker, stores its heartbeat, and calls `end` if it must exit."""

    services: WorkerServices
    activity: Activity
    end: Callable[[], None]
    evaluator: HealthEvaluator = field(default_factory=HealthEvaluator)
    _is_stuck: bool = False
    _state_changed: threading.Event = field(default_factory=threading.Event)
    _last_ended: int = 0
    _last_ended_at: float | None = None

    def start(self) -> None:
        """Start a thread for sampling and one for heartbeats, since a heartbeat may block on the database."""
        for work in (self._sample_loop, self._report_loop):
            threading.Thread(target=work, name=work.__name__.strip("_"), daemon=True).start()

    def sample(self, queues: Broker) -> None:
        """Take one sample, and end the worker if it must exit."""
        before = self.evaluator.state
        reason = self.evaluator.verdict(
            HealthSample(
                sampled_at=time.monotonic(),
                waiting=_waiting(queues, self.activity.queues),
                received=self.activity.received,
                is_idle=self.activity.is_idle,
                is_connected=self.activity.is_connected,
                is_stuck=self._is_stuck,
            )
        )
        if self.evaluator.state is not before:
            self._state_changed.set()
        if reason and not shutdown_flag.has_begun():
            log.error("worker unhealthy, exiting", reason=reason)
            self.end()

    def report(self) -> None:
        """Store the heartbeat, and check in the database whether the jobs' leases are renewed.

        Raises:
            Unavailable: the database cannot be reached.

        """
        running = self.activity.running()
        lease = self.services.settings.lease_seconds
        with self.services.database.transaction() as session:
            offset = database_clock.offset(session)
            worker_heartbeats.record_heartbeat(
                session, self._heartbeat(len(running), offset), now=database_clock.now()
            )
            self._is_stuck = is_stuck(
                running,
                self.activity.threads,
                lambda job_ids: backlog.count_leased(session, job_ids, now=database_clock.now()),
                lease,
            )

    def _sample_loop(self) -> None:
        queues = broker.connect(self.services.settings.queue_url)
        self._wait_for_connection()
        while True:
            try:
                self.sample(queues)
            except Exception as error:  # noqa: BLE001 -- sampling must continue
                log.error("health sample failed", exc_info=error)
            time.sleep(SAMPLE_SECONDS)

    def _wait_for_connection(self) -> None:
        """Wait at most SAMPLE_SECONDS, so that a new worker is reported as soon as it is connected."""
        deadline = time.monotonic() + SAMPLE_SECONDS
        while not self.activity.is_connected and time.monotonic() < deadline:
            time.sleep(CONNECTION_POLL_SECONDS)

    def _report_loop(self) -> None:
        while True:
            self._state_changed.clear()
            try:
                self.report()
            except Unavailable:
                log.warning("database unavailable, heartbeat not stored")
            except Exception as error:  # noqa: BLE001 -- heartbeats must continue
                log.error("heartbeat failed", exc_info=error)
            self._state_changed.wait(REPORT_SECONDS)

    def _heartbeat(self, busy: int, clock_offset: float) -> Heartbeat:
        now = time.monotonic()
        ended = self.activity.ended
        if ended != self._last_ended:
            self._last_ended, self._last_ended_at = ended, now
        return Heartbeat(
            name=self.activity.name,
            queues=self.activity.queues,
            threads=self.activity.threads,
            busy=busy,
            state=self.evaluator.state,
            up_seconds=now - self.activity.started_at,
            taken_seconds_ago=_ago(now, self.activity.received_at),
            ended_seconds_ago=_ago(now, self._last_ended_at),
            clock_offset=clock_offset,
            refused=dict(self.services.refused),
        )


def _waiting(queues: Broker, names: tuple[str, ...]) -> int | None:
    """Return the number of messages in these queues; None if the broker does not respond."""
    try:
        return sum(queues.lengths(names))
    except broker.ERRORS:
        return None


def _ago(now: float, since: float | None) -> float | None:
    return None if since is None else now - since
