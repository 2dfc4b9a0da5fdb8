"""Builds the company filter in the background, when companies were added or the signing key has changed."""

from __future__ import annotations

import time
from datetime import timedelta

from app.features.company_filter import filters, signing_keys
from app.features.company_filter.schedule import BUILD
from app.infra import clock
from app.infra.crypto import oprf
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from workers.execution import maintenance
from workers.execution.feature import WorkPart
from workers.execution.worker_services import WorkerServices


@maintenance.task(BUILD)
def build(services: WorkerServices) -> None:
    """Build the filter if it is due; scheduled by Celery beat."""
    build_if_due(services)


def build_if_due(services: WorkerServices) -> bool:
    """Build the filter unless it is off, or was checked in the last COMPANY_FILTER_SECONDS.

    Return whether a new one was stored.
    """
    every = timedelta(seconds=services.settings.company_filter_seconds)
    if not every:
        return False
    with services.database.transaction() as session:
        if not filters.claim(session, every=every, now=database_clock.now()):
            return False
    started = time.monotonic()
    signing_key = signing_keys.company_filter_key(services.settings)
    is_new = filters.build(services.database, signing_key, oprf.from_settings(services.settings))
    milliseconds = clock.milliseconds_since(started)
    log.info("company filter checked", is_new=is_new, ms=milliseconds)
    return is_new


WORK = WorkPart()
