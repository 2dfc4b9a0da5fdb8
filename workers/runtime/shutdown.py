"""Shuts a worker down within seconds, without losing its jobs.

The worker stops receiving messages, lets running tasks end, and requeues long jobs (`shutdown_flag`). Tasks
that still run at the end of the grace period are killed; their leases expire, and other workers claim them.
Celery's warm shutdown waits for pool threads without a limit, and its time limits do not apply to threads.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from celery.worker import state
from celery.worker.request import Request

from app.domain.errors import Unavailable
from app.domain.kinds import KINDS, Queue
from app.engine.queues import worker_heartbeats
from app.infra.telemetry.log import log
from workers.execution import shutdown_flag
from workers.execution.worker_services import WorkerServices
from workers.jobs import upkeep
from workers.runtime.activity import Activity, job_of

GRACE_SECONDS = 7.0
"""Grace period of running tasks; the whole shutdown stays below the ten seconds that containers allow."""
CLOSE_SECONDS = 2.0
"""Time within which a working consumer stops receiving messages."""
REPUBLISH_SECONDS = 1.5
POLL_SECONDS = 0.05


@dataclass(slots=True)
class Shutdown:
    """The shutdown of this worker process; runs once."""

    services: WorkerServices
    activity: Activity
    exit: Callable[[int], None] = os._exit
    _thread: threading.Thread | None = None
    _once: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, *, code: int = 0, grace: float = GRACE_SECONDS) -> None:
        """Exit with this code after at most `grace` seconds and a short clean-up."""
        if not self._once.acquire(blocking=False):  # a signal handler may be interrupted by another signal
            return
        self._thread = threading.Thread(target=self._run, args=(code, grace), name="shutdown", daemon=True)
        shutdown_flag.begin()
        state.should_stop = code  # as Celery's own signal handlers do
        self._thread.start()

    def join(self) -> None:
        """Block until the process exits: Celery would exit before unstarted jobs are republished."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, code: int, grace: float) -> None:
        killed = 1
        try:
            unstarted = {request.id: request for request in self.activity.waiting()}
            killed = self._drain(grace, unstarted)
            republisher = threading.Thread(
                target=self._republish_unstarted, args=(unstarted.values(),), name="republish", daemon=True
            )
            republisher.start()
            republisher.join(REPUBLISH_SECONDS)
            log.info("worker stopped", killed_tasks=killed)
            sys.stderr.flush()
        finally:  # Celery would wait for its threads without a limit
            self.exit(code or int(killed > 0))

    def _drain(self, grace: float, unstarted: dict[str, Any]) -> int:
        """Wait until no task runs; return the number of tasks still running after the grace period."""
        began = time.monotonic()
        idle_polls = 0
        while (elapsed := time.monotonic() - began) < grace:
            unstarted |= {request.id: request for request in self.activity.waiting()}
            closed = self.activity.is_closed or elapsed > CLOSE_SECONDS
            idle_polls = idle_polls + 1 if closed and not self.activity.running() else 0
            if idle_polls > 1:  # a task may be between the queue and its thread
                break
            time.sleep(POLL_SECONDS)
        return len(self.activity.running())

    def _republish_unstarted(self, unstarted: Iterable[Any]) -> None:
        """Republish unstarted and requeued jobs, and delete the worker's heartbeat."""
        for request in unstarted:
            if request.time_start is None:
                _republish(self.services, request)
        try:
            upkeep.sweep_once(self.services)
            with self.services.database.transaction() as session:
                worker_heartbeats.remove(session, self.activity.name)
        except Unavailable:
            log.warning("database unavailable, requeued jobs are left to other workers")


def _republish(services: WorkerServices, request: Request) -> None:
    """Republish a message to its queue, unless it is periodic and comes again."""
    job_id = job_of(request)
    if job_id and request.name in KINDS:
        source = Queue(request.delivery_info["routing_key"])
        services.publisher.push(request.name, source, [job_id])
