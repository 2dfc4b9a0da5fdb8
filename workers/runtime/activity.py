"""The activity of this worker's consumer and pool, read from Celery's state."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from celery import bootsteps
from celery.signals import task_received
from celery.worker import WorkController, state
from celery.worker.request import Request

from workers.execution.job_runner import JOB_BY_TASK

_JOB = re.compile(r"'(job_\w+)'")


@dataclass(frozen=True, slots=True)
class RunningTask:
    """A running task and its duration so far; `job_id` is None for a task without a job."""

    job_id: str | None
    seconds: float


class Activity:
    """The activity of a worker; its name consists of Celery's node name and the process id.

    `received` counts the messages received from the queues, `ended` the tasks that have ended. The counts are
    read and written by different threads and may be slightly out of date.
    """

    def __init__(self, worker: WorkController) -> None:
        self._worker = worker
        self.name = f"{worker.hostname}:{os.getpid()}"
        self.queues = tuple(sorted(worker.app.amqp.queues.consume_from))
        self.threads: int = worker.concurrency
        self.started_at = time.monotonic()
        self.received = 0
        self.received_at: float | None = None
        task_received.connect(self._count)

    @property
    def is_connected(self) -> bool:
        """Return whether the consumer is connected and consuming."""
        consumer = self._worker.consumer
        return not self.is_closed and bool(consumer.connection) and bool(consumer.task_consumer)

    @property
    def is_closed(self) -> bool:
        """Return whether the consumer has stopped permanently."""
        return bool(self._worker.consumer.blueprint.state in {bootsteps.CLOSE, bootsteps.TERMINATE})

    @property
    def is_idle(self) -> bool:
        """Return whether a thread, or child process, is idle."""
        return len(state.requests) < self.threads

    @property
    def ended(self) -> int:
        """Return the number of tasks that have ended."""
        started: int = state.all_total_count[0]
        return started - len(self.running())

    def running(self) -> list[RunningTask]:
        """Return the running tasks."""
        now = time.time()
        started = ((request, request.time_start) for request in _requests())
        return [
            RunningTask(JOB_BY_TASK.get(request.id) or job_of(request), now - since)
            for request, since in started
            if since is not None
        ]

    def waiting(self) -> list[Any]:
        """Return the requests that were received but not started, because no thread was free."""
        return [request for request in _requests() if request.time_start is None]

    def _count(self, **_signal: Any) -> None:
        self.received += 1
        self.received_at = time.monotonic()


def job_of(request: Request) -> str | None:
    """Return the job id in a message, parsed from Celery's representation of its arguments."""
    match = _JOB.search(request.argsrepr or "")
    return match and match[1]


def _requests() -> Iterable[Any]:
    return list(state.requests.values())  # atomic under the GIL: other threads write to it
