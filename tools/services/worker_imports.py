"""Imports what every Celery process imports, with the settings of the environment; see `preloading`."""

from __future__ import annotations

import celery.apps.beat
import celery.apps.worker
import celery.bin.celery
import celery.concurrency.thread
import kombu.transport.redis
from sqlalchemy.orm import configure_mappers

import workers.main
import workers.runtime.consumer

__all__ = ["celery", "kombu", "workers"]

configure_mappers()  # otherwise at the first query of each process
