"""Activity: what this worker's consumer and its pool do, as far as Celery tells."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from celery import bootsteps
from celery.signals import task_received
from celery.worker import state

from workers.execution.current_jobs import JOB_BY_TASK

_JOB = re.compile(r"'(job_\w+)'")


@dataclass(frozen=True, slots=True)
class RunningTask:
    """A task that runs, for so many seconds; `job_id` is None if it is about no job."""

    job_id: str | None
    seconds: float


class Activity:
    """What a worker does; its name is Celery's node name and the process id.

    `taken` counts the messages it took from its queues, `ended` the tasks that are over. The figures are read
    from other threads than they are written by, and may be a moment old.
    """

    def __init__(self, worker: Any) -> None:  # noqa: ANN401 -- Celery's WorkController
        self._worker = worker
        self.name = f"{worker.hostname}:{os.getpid()}"
        self.queues = tuple(sorted(worker.app.amqp.queues.consume_from))
        self.threads: int = worker.concurrency
        self.began = time.monotonic()
        self.taken = 0
        self.taken_at: float | None = None
        task_received.connect(self._take)

    @property
    def is_connected(self) -> bool:
        """Tell whether the consumer says of itself that it consumes."""
        consumer = self._worker.consumer
        return not self.is_closed and bool(consumer.connection) and bool(consumer.task_consumer)

    @property
    def is_closed(self) -> bool:
        """Tell whether the consumer has stopped taking messages for good."""
        return bool(self._worker.consumer.blueprint.state in {bootsteps.CLOSE, bootsteps.TERMINATE})

    @property
    def is_idle(self) -> bool:
        """Tell whether there are threads, or child processes, with nothing to do."""
        return len(state.requests) < self.threads

    @property
    def ended(self) -> int:
        """Count the tasks that are over."""
        begun: int = state.all_total_count[0]
        return begun - len(self.running())

    def running(self) -> list[RunningTask]:
        """List what runs now."""
        now = time.time()
        begun = ((request, request.time_start) for request in _requests())
        return [
            RunningTask(JOB_BY_TASK.get(request.id) or job_of(request), now - since)
            for request, since in begun
            if since is not None
        ]

    def waiting(self) -> list[Any]:
        """List the requests that were taken from a queue and for which no thread was free yet."""
        return [request for request in _requests() if request.time_start is None]

    def _take(self, **_signal: Any) -> None:
        self.taken += 1
        self.taken_at = time.monotonic()


def job_of(request: Any) -> str | None:  # noqa: ANN401 -- Celery's Request
    """Read the id of the job that a message names from what Celery shows of its arguments."""
    found = _JOB.search(request.argsrepr or "")
    return found and found[1]


def _requests() -> Iterable[Any]:
    return list(state.requests.values())  # one step of the interpreter: other threads write meanwhile
