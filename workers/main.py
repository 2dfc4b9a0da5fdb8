"""Entry point of `celery -A workers.main worker`: registers every job and the background threads."""

from __future__ import annotations

from functools import partial
from typing import Any

from celery import bootsteps
from celery.signals import worker_process_init, worker_shutdown, worker_shutting_down
from celery.worker import state

from app.infra.telemetry import tracing
from workers import invalid_settings
from workers.application import app, settings
from workers.execution import worker_services
from workers.jobs import (  # noqa: F401 -- their tasks are registered by the import
    audit,
    company_by_hash,
    enrichment_request,
    leads_by_website_hash,
    mentions,
    reencryption,
    reveal,
    upkeep,
)
from workers.providers import registry
from workers.runtime import priority
from workers.runtime.activity import Activity
from workers.runtime.consumer import TaskEvents
from workers.runtime.shutdown import Shutdown
from workers.runtime.supervision import Watchdog

with invalid_settings.reported():
    registry.load(settings)  # an unknown provider fails at start-up, not at the first reveal
app.conf.worker_consumer = "workers.runtime.consumer:Consumer"
SERVICE = "contact-lookup-worker"
"""The name of this process in traces."""
sweeper = upkeep.Sweeper()
_shutdowns: list[Shutdown] = []


class BackgroundStep(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
    """Starts sweeping, supervision and shutdown handling, in the parent process only.

    Runs after the pool has forked its children and before the consumer connects to Redis, so that a worker
    started while Redis is down already ends expired jobs.
    """

    requires = ("celery.worker.components:Pool",)

    def start(self, worker: object) -> None:
        """Start the background threads."""
        with invalid_settings.reported():
            services = worker_services.configure(settings)
        activity = Activity(worker)
        priority.set_for(activity.queues)
        shutdown = Shutdown(services, activity)
        _shutdowns.append(shutdown)
        tracing.start(settings.otel_exporter_otlp_endpoint, service=SERVICE)
        if state.should_stop is not None:  # a signal that arrived before there was a shutdown to begin
            shutdown.begin()
            return
        sweeper.start(services)
        Watchdog(services, activity, partial(shutdown.begin, code=1)).start()


app.steps["worker"].add(BackgroundStep)
app.steps["consumer"].add(TaskEvents)


@worker_process_init.connect
def _start_child(**_signal: Any) -> None:
    """Create new service objects in each child of `-P prefork`: sockets must not be shared across a fork."""
    worker_services.reconfigure_after_fork(settings)
    tracing.start(settings.otel_exporter_otlp_endpoint, service=SERVICE)


@worker_shutting_down.connect
def _stop(**_signal: Any) -> None:
    sweeper.stop()
    for shutdown in _shutdowns:
        shutdown.begin()


@worker_shutdown.connect
def _join_shutdown(**_signal: Any) -> None:
    for shutdown in _shutdowns:
        shutdown.join()
