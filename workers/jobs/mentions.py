"""Indexes the people whom finished jobs, saved profiles and rows of features mention, once a minute."""

from __future__ import annotations

import time

from app.domain.kinds import INDEX_MENTIONS
from app.engine.mentions import mentions
from app.engine.privacy.holdings import all_sources
from app.infra.broker.celery_app import SECONDS_BETWEEN_INDEXINGS
from app.infra.database import database_clock
from workers.execution import maintenance
from workers.execution.worker_services import WorkerServices

_SECONDS = SECONDS_BETWEEN_INDEXINGS / 2
"""The most time that one turn takes; the rest of the thread's time is for other maintenance."""


@maintenance.task(INDEX_MENTIONS)
def index(services: WorkerServices) -> None:
    """Index what has changed; scheduled by Celery beat."""
    index_once(services)


def index_once(services: WorkerServices, *, seconds: float = _SECONDS) -> int:
    """Index in batches, each in its own transaction, until all is indexed or the time is over.

    Return how many rows were indexed. The digests are computed with no transaction open: a million characters
    take a quarter of a second.
    """
    ends_at, total = time.monotonic() + seconds, 0
    now = database_clock.now()
    for source in all_sources():
        while time.monotonic() < ends_at:
            with services.database.reading() as session:
                contents = mentions.read_next(session, source, now=now)
                keys = session.keys
            if not contents:
                break
            prepared = mentions.prepare(keys, contents)
            with services.database.transaction() as session:
                total += mentions.index_next(session, source, now=now, prepared=prepared)
    return total
