"""Prices an upload: finds whom its rows name and what they may cost, in batches."""

from __future__ import annotations

from app.core.uploads import dispatch, pricing, row_store, uploads
from app.core.uploads.dispatch import Turn
from app.core.uploads.pricing import Pricing
from app.domain.lists.list_countries import SAMPLE
from app.infra import database_clock
from workers.execution import shutdown_flag
from workers.execution.worker_services import WorkerServices

BATCH = 100


def price(turn: Turn, services: WorkerServices) -> None:
    """Store whom each row names, and the price of all; begins again if the process ends."""
    with services.database.reading() as session:
        upload = uploads.get(session, turn.workspace_id, turn.upload_id)
        sample = uploads.sample(session, turn.upload_id, limit=SAMPLE)
        counting = Pricing.of(upload, sample, now=database_clock.value(session))
    first = 0
    while _price_batch(turn, services, counting, first):
        first += BATCH
        if shutdown_flag.has_begun():
            with services.database.transaction() as session:
                dispatch.end(session, turn, next_at=database_clock.now())
            return
    with services.database.transaction() as session:
        pricing.finish(session, turn, counting)


def _price_batch(turn: Turn, services: WorkerServices, counting: Pricing, first: int) -> bool:
    """Price the rows from this number on; return whether there were any and the price is still needed."""
    with services.database.reading() as session:
        rows = row_store.batch(session, turn.upload_id, first=first, limit=BATCH)
        if not rows:
            return False
        changes = counting.changes(rows)
        now = database_clock.value(session)
        pricing.add_cost(session, turn, counting, changes, settings=services.settings, now=now)
    with services.database.transaction() as session:
        return pricing.store(session, turn, changes, now=database_clock.now())
