"""Health of the queues: whether a submitted job would be worked on now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.kinds import CLICKS, Queue
from app.engine.queues import backlog, worker_heartbeats
from app.engine.queues.worker_heartbeats import WorkerState
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class QueueHealth:
    """State of a queue: its live, consuming and idle workers, and the wait of its oldest job."""

    queue: Queue
    living: int
    consuming: int
    idle: int
    wait: timedelta

    def is_stalled(self, limit: timedelta) -> bool:
        """Return whether jobs wait longer than the limit without a good reason.

        A user waits for jobs of the queues in CLICKS. In the other queues a job may wait for the jobs before
        it, but not while no worker consumes the queue or a worker is idle.
        """
        if self.wait <= limit:
            return False
        return self.queue in CLICKS or self.consuming == 0 or self.idle > 0


def by_queue(session: Session, *, now: datetime) -> dict[Queue, QueueHealth]:
    """Return the health of every queue: its workers, and the wait of its oldest job."""
    workers = [(row, worker_heartbeats.state(row, now=now)) for row in worker_heartbeats.list_all(session)]
    waits = backlog.oldest_waits(session, now=now)
    result = {}
    for queue in Queue:
        living = [
            (row, state) for row, state in workers if queue in row.queues and state is not WorkerState.OFFLINE
        ]
        consuming = [row for row, state in living if state is WorkerState.WORKING]
        idle = sum(row.busy < row.threads for row in consuming)
        result[queue] = QueueHealth(queue, len(living), len(consuming), idle, waits[queue])
    return result
