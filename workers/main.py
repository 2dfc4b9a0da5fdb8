"""The workers' entrance: `celery -A workers.main worker|beat`. It knows every job, and what runs beside."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from celery import bootsteps
from celery.signals import setup_logging, worker_process_init, worker_shutdown, worker_shutting_down

from app import settings as app_settings
from app.infra import log, queue
from workers.execution import job_runner
from workers.jobs import (
    audit,
    company_by_hash,
    enrichment_request,
    leads_by_website_hash,
    reveal,
    reverification,
    upkeep,
    webhooks,
)
from workers.providers import registry
from workers.runtime.activity import Activity
from workers.runtime.shutdown import Shutdown
from workers.runtime.supervision import Watchdog

JOB_MODULES = (
    audit,
    company_by_hash,
    enrichment_request,
    leads_by_website_hash,
    reveal,
    reverification,
    upkeep,
    webhooks,
)

settings = app_settings.load()
registry.load(settings)  # a provider that is not there is told now, not at the first reveal
app = queue.configure(settings)
app.conf.worker_consumer = "workers.runtime.consumer:Consumer"
sweeper = upkeep.Sweeper()
_ends: list[Shutdown] = []


class BackgroundStep(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
    """What runs beside the jobs, in the parent process only: sweeping, supervision, and the way to end.

    It starts after the pool has forked its children, and before the consumer looks for Redis: a worker that
    starts while Redis is away ends expired jobs already.
    """

    requires = ("celery.worker.components:Pool",)

    def start(self, worker: Any) -> None:  # noqa: ANN401 -- Celery's WorkController
        """Start all of it."""
        services, activity = job_runner.configure(settings), Activity(worker)
        end = Shutdown(services, activity)
        _ends.append(end)
        sweeper.start(services)
        Watchdog(services, activity, partial(end.begin, code=1)).start()


app.steps["worker"].add(BackgroundStep)


@setup_logging.connect
def _configure_log(*, loglevel: int, **_signal: Any) -> None:
    """Write the service's records from LOG_LEVEL, and Celery's own from its option `-l`."""
    log.configure(level=settings.log_level, style=settings.log_format)
    logging.getLogger("celery").setLevel(loglevel)


@worker_process_init.connect
def _start_child(**_signal: Any) -> None:
    """Under `-P prefork` each child needs machines of its own: no socket survives a fork."""
    job_runner.reconfigure_after_fork(settings)


@worker_shutting_down.connect
def _stop(**_signal: Any) -> None:
    sweeper.stop()
    for end in _ends:
        end.begin()


@worker_shutdown.connect
def _wait_for_the_end(**_signal: Any) -> None:
    for end in _ends:
        end.join()
