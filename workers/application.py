"""The Celery application with the settings and the log of this process.

Entry point of `celery -A workers.application beat`, which needs no jobs; `workers.main` adds them.
"""

from __future__ import annotations

import logging
import warnings
from typing import Any

from celery.exceptions import CPendingDeprecationWarning
from celery.signals import setup_logging

from app import settings as app_settings
from app.infra.broker import celery_app
from app.infra.telemetry import log
from workers import invalid_settings

SECONDS_BETWEEN_BEAT_HEARTBEATS = 10

warnings.simplefilter("ignore", CPendingDeprecationWarning)  # at each lost connection, about its messages
with invalid_settings.reported():
    settings = app_settings.load()
app = celery_app.configure(settings)
app.conf.beat_scheduler = "workers.runtime.beat:Scheduler"
app.conf.beat_max_loop_interval = SECONDS_BETWEEN_BEAT_HEARTBEATS


@setup_logging.connect
def _configure_log(*, loglevel: int, **_signal: Any) -> None:
    """Set the level of the service's log from LOG_LEVEL, and of Celery's own from its option `-l`."""
    log.configure(level=settings.log_level, style=settings.log_format)
    logging.getLogger("celery").setLevel(loglevel)
