"""Supervision: a worker that can no longer work ends itself, so that whoever runs it starts another.

Health is progress. A consumer may have lost the queue while its process answers every ping; its threads may
all hang, or the database be out of reach. Nothing inside can mend that, a new process can. A worker does not
end because Redis or the database is away, for then no other would be better off: it waits and connects again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from redis import Redis
from redis.exceptions import RedisError

from app.core.queues import backlog
from app.core.queues import worker_heartbeats as presence
from app.core.queues.worker_heartbeats import Heartbeat, WorkerState
from app.domain.errors import Unavailable
from app.infra import database_clock, redis_client
from app.infra.log import log
from workers.execution import shutdown_flag
from workers.execution.job_runner import WorkerServices
from workers.runtime.activity import Activity, RunningTask

SAMPLE_SECONDS = 1.0
REPORT_SECONDS = 3.0
STALLED_SAMPLES = 8
"""So often in a row messages must wait beside idle threads; the consumer connects again in less."""
DISCONNECTED_SAMPLES = 3
"""So often in a row the queue must be out of reach before the worker says so."""
STUCK_LEASES = 3
"""A job that runs for so many leases, and whose lease is not renewed, hangs."""
STUCK_UPKEEP_SECONDS = 900.0
"""A task of upkeep hangs that runs for longer; reverification may take five minutes and a round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSample:
    """What was seen of the worker at one moment.

    `at` is in seconds of the monotonic clock, `waiting` the messages in its queues or None if Redis gives no
    answer, `taken` how many it took so far.
    """

    at: float
    waiting: int | None
    taken: int
    is_idle: bool
    is_connected: bool
    is_stuck: bool


@dataclass(slots=True)
class HealthEvaluator:
    """Look after look, tell how the worker stands and whether it must end."""

    last: HealthSample | None = None
    starving: int = 0
    lost: int = DISCONNECTED_SAMPLES

    def verdict(self, look: HealthSample) -> str | None:
        """Give the reason why the worker must end, if there is one."""
        before, self.last = self.last, look
        self.lost = 0 if look.waiting is not None and look.is_connected else self.lost + 1
        self.starving = self.starving + 1 if _is_stalled(before, look) else 0
        if self.starving >= STALLED_SAMPLES:
            return "messages wait in its queues, it has idle threads, and takes none"
        if look.is_stuck:
            return "all its threads hang"
        return None

    @property
    def state(self) -> WorkerState:
        """Tell how the worker stands."""
        if shutdown_flag.has_begun():
            return WorkerState.STOPPING
        if self.lost >= DISCONNECTED_SAMPLES or self.starving >= DISCONNECTED_SAMPLES:
            return WorkerState.WITHOUT_QUEUE
        return WorkerState.WORKING


def is_stuck(
    running: list[RunningTask], threads: int, held: Callable[[list[str]], int], lease: float
) -> bool:
    """Tell whether every thread hangs; `held` counts those of some jobs whose lease is being renewed."""
    overdue = [
        one for one in running if one.seconds > (STUCK_LEASES * lease if one.job_id else STUCK_UPKEEP_SECONDS)
    ]
    if len(overdue) < threads:
        return False
    return held([one.job_id for one in overdue if one.job_id]) == 0


def _is_stalled(before: HealthSample | None, look: HealthSample) -> bool:
    """Tell whether messages wait, now and before, that this worker could have taken meanwhile.

    Two looks far apart say nothing: the whole machine was asleep, or the process stopped.
    """
    if before is None or look.at - before.at > 3 * SAMPLE_SECONDS:
        return False
    both = (before, look)
    return look.taken == before.taken and all(one.waiting and one.is_idle for one in both)


@dataclass(slots=True)
class Watchdog:
    """Watches one worker, tells the database how it stands, and calls `end` if it must end."""

    services: WorkerServices
    activity: Activity
    end: Callable[[], None]
    judge: HealthEvaluator = field(default_factory=HealthEvaluator)
    _is_stuck: bool = False
    _news: threading.Event = field(default_factory=threading.Event)
    _ended: int = 0
    _ended_at: float | None = None

    def start(self) -> None:
        """Begin to watch and to tell, each in a thread of its own: telling may hang, watching must not."""
        for work in (self._watch, self._report_once):
            threading.Thread(target=work, name=work.__name__.strip("_"), daemon=True).start()

    def sample(self, client: Redis) -> None:
        """Look once, and end the worker if that shows that it must end."""
        before = self.judge.state
        reason = self.judge.verdict(
            HealthSample(
                at=time.monotonic(),
                waiting=_waiting(client, self.activity.queues),
                taken=self.activity.taken,
                is_idle=self.activity.is_idle,
                is_connected=self.activity.is_connected,
                is_stuck=self._is_stuck,
            )
        )
        if self.judge.state is not before:
            self._news.set()
        if reason and not shutdown_flag.has_begun():
            log.error("worker ends itself, to be started again", reason=reason)
            self.end()

    def report(self) -> None:
        """Tell the database how the worker stands; see there whether its jobs' leases are renewed.

        Raises:
            Unavailable: the database cannot be reached.

        """
        running = self.activity.running()
        lease = self.services.settings.lease_seconds
        with self.services.database.transaction() as session:
            offset = database_clock.offset(session)
            presence.record_heartbeat(session, self._presence(len(running), offset), now=database_clock.now())
            self._is_stuck = is_stuck(
                running,
                self.activity.threads,
                lambda job_ids: backlog.count_leased(session, job_ids, now=database_clock.now()),
                lease,
            )

    def _watch(self) -> None:
        client = redis_client.connect(self.services.settings.redis_url)
        while True:
            time.sleep(SAMPLE_SECONDS)
            try:
                self.sample(client)
            except Exception as error:  # noqa: BLE001 -- the watch goes on
                log.error("could not look at this worker", exc_info=error)

    def _report_once(self) -> None:
        while True:
            self._news.clear()
            try:
                self.report()
            except Unavailable:
                log.warning("the database cannot be reached")
            except Exception as error:  # noqa: BLE001 -- the watch goes on
                log.error("could not say how this worker stands", exc_info=error)
            self._news.wait(REPORT_SECONDS)

    def _presence(self, busy: int, clock_offset: float) -> Heartbeat:
        now = time.monotonic()
        ended = self.activity.ended
        if ended != self._ended:
            self._ended, self._ended_at = ended, now
        return Heartbeat(
            name=self.activity.name,
            queues=self.activity.queues,
            threads=self.activity.threads,
            busy=busy,
            state=self.judge.state,
            up_seconds=now - self.activity.began,
            taken_seconds_ago=_ago(now, self.activity.taken_at),
            ended_seconds_ago=_ago(now, self._ended_at),
            clock_offset=clock_offset,
            refused=dict(self.services.refused),
        )


def _waiting(client: Redis, queues: tuple[str, ...]) -> int | None:
    """Count the messages in the queues; None if Redis gives no answer."""
    try:
        with client.pipeline(transaction=False) as pipeline:
            for queue in queues:
                pipeline.llen(queue)
            lengths: list[int] = pipeline.execute()
            return sum(lengths)
    except (RedisError, OSError):
        return None


def _ago(now: float, moment: float | None) -> float | None:
    return None if moment is None else now - moment
