"""Shutdown: a worker that is told to end does so within seconds, and nothing it held is lost.

It takes no more messages, lets what runs end, and puts back what can go on elsewhere (`stopping`). What still
runs when the time is over is cut off; its lease runs out, and another worker takes it. Celery's own warm
shutdown waits for the pool's threads for ever, and its soft and hard time limits do nothing to threads.
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

from app.core.queues import worker_heartbeats as presence
from app.domain.errors import Unavailable
from app.domain.kinds import Kind, Queue
from app.infra.log import log
from workers.execution import shutdown_flag
from workers.execution.job_runner import WorkerServices
from workers.jobs import upkeep
from workers.runtime.activity import Activity, job_of

GRACE_SECONDS = 7.0
"""For how long what runs may go on; with what comes after it is less than the ten seconds of a container."""
CLOSE_SECONDS = 2.0
"""Within which a consumer stops taking messages, if it does anything at all."""
REPUBLISH_SECONDS = 1.5
POLL_SECONDS = 0.05


@dataclass(slots=True)
class Shutdown:
    """The end of this worker's process; it comes once."""

    services: WorkerServices
    activity: Activity
    exit: Callable[[int], None] = os._exit
    _thread: threading.Thread | None = None
    _once: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, *, code: int = 0, grace: float = GRACE_SECONDS) -> None:
        """End the process with this code, after `grace` seconds at the latest and a moment to tidy up."""
        if not self._once.acquire(blocking=False):  # a signal may interrupt another's handler
            return
        self._thread = threading.Thread(target=self._run, args=(code, grace), name="shutdown", daemon=True)
        shutdown_flag.begin()
        state.should_stop = code  # as Celery's own signals do it
        self._thread.start()

    def join(self) -> None:
        """Wait for the end, which never returns: Celery would end the process before all is handed back."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, code: int, grace: float) -> None:
        cut = 1
        try:
            taken = {request.id: request for request in self.activity.waiting()}
            cut = self._drain(grace, taken)
            tidy = threading.Thread(
                target=self._republish_unstarted, args=(taken.values(),), name="hand back", daemon=True
            )
            tidy.start()
            tidy.join(REPUBLISH_SECONDS)
            log.info("worker ends", cut_off=cut)
            sys.stderr.flush()
        finally:  # whatever happens, Celery must not wait for its threads for ever
            self.exit(code or int(cut > 0))

    def _drain(self, grace: float, taken: dict[str, Any]) -> int:
        """Wait until nothing runs; give how many tasks still do when the time is over."""
        began = time.monotonic()
        quiet = 0
        while (passed := time.monotonic() - began) < grace:
            taken |= {request.id: request for request in self.activity.waiting()}
            closed = self.activity.is_closed or passed > CLOSE_SECONDS
            quiet = quiet + 1 if closed and not self.activity.running() else 0
            if quiet > 1:  # a task may be between the queue and its thread
                break
            time.sleep(POLL_SECONDS)
        return len(self.activity.running())

    def _republish_unstarted(self, taken: Iterable[Any]) -> None:
        """Send again what was taken and not begun, and what was put back; say good-bye."""
        for request in taken:
            if request.time_start is None:
                _send_again(self.services, request)
        try:
            upkeep.sweep_once(self.services)
            with self.services.database.transaction() as session:
                presence.remove(session, self.activity.name)
        except Unavailable:
            log.warning("the database cannot be reached, another worker will sweep")


def _send_again(services: WorkerServices, request: Any) -> None:  # noqa: ANN401 -- Celery's Request
    """Put a message back into its queue; what comes by itself again, as sweeping does, is left."""
    job_id = job_of(request)
    if job_id and request.name in set(Kind):
        source = Queue(request.delivery_info["routing_key"])
        services.publisher.push(request.name, source, [job_id])
