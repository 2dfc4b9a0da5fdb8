"""The workers' entrance: `celery -A workers.main worker|beat`. It knows every job and starts the sweeper."""

from __future__ import annotations

from typing import Any

from celery.signals import setup_logging, worker_process_init, worker_ready, worker_shutting_down

from app import settings as app_settings
from app.infra import log, queue
from workers import base
from workers.jobs import (
    company_by_hash,
    enrichment_request,
    leads_by_website_hash,
    reveal,
    reverification,
    upkeep,
    webhooks,
)
from workers.providers import registry

JOB_MODULES = (
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
sweeper = upkeep.Sweeper()


@setup_logging.connect
def _configure_log(**_signal: Any) -> None:
    log.configure(level=settings.log_level, style=settings.log_format)


@worker_ready.connect
def _start(sender: Any, **_signal: Any) -> None:  # noqa: ANN401 -- Celery's consumer
    sweeper.start(base.start(settings), name=sender.hostname)


@worker_process_init.connect
def _start_child(**_signal: Any) -> None:
    """Under `-P prefork` each child needs machines of its own: no socket survives a fork."""
    base.start(settings)


@worker_shutting_down.connect
def _stop(**_signal: Any) -> None:
    sweeper.stop()
