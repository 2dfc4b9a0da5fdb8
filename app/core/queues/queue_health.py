"""Readiness: whether what callers hand in would be worked on now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app.core.queues import backlog, worker_heartbeats
from app.core.queues.worker_heartbeats import WorkerState
from app.domain.kinds import CLICKS, Queue


@dataclass(frozen=True, slots=True)
class QueueHealth:
    """How a queue stands: its workers that live, consume, have threads to spare; its oldest wait."""

    queue: Queue
    living: int
    consuming: int
    idle: int
    wait: timedelta

    def is_stalled(self, limit: timedelta) -> bool:
        """Tell whether jobs wait longer than this that should not.

        A person waits for the queues of a click. In the others a job may wait until those before it are
        done, but not while no worker is there, or one has nothing to do.
        """
        if self.wait <= limit:
            return False
        return self.queue in CLICKS or self.consuming == 0 or self.idle > 0


def standings(session: Session, *, now: datetime) -> dict[Queue, QueueHealth]:
    """Look at every queue: who works on it, and how long its oldest job has waited."""
    known = [(row, worker_heartbeats.state(row, now=now)) for row in worker_heartbeats.known(session)]
    waits = backlog.oldest_waits(session, now=now)
    found = {}
    for queue in Queue:
        living = [
            (row, state) for row, state in known if queue in row.queues and state is not WorkerState.OFFLINE
        ]
        consuming = [row for row, state in living if state is WorkerState.WORKING]
        idle = sum(row.busy < row.threads for row in consuming)
        found[queue] = QueueHealth(queue, len(living), len(consuming), idle, waits[queue])
    return found
