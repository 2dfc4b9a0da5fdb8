"""Prices an upload in batches, for a few seconds at a time, so that other maintenance is not delayed."""

from __future__ import annotations

import time
from collections import Counter

from app.domain.lists.cells.list_countries import SAMPLE
from app.engine.work import turns
from app.engine.work.turns import LeaseLost, Turn
from app.features.uploads import pricing, row_store
from app.features.uploads.row_reader import RowReader
from app.features.uploads.tables import Operation, Upload
from app.features.uploads.verify import pricing as verified
from app.features.uploads.verify.rows import VerifiedRowReader
from app.infra.database import database_clock
from workers.execution import shutdown_flag
from workers.execution.worker_services import WorkerServices

BATCH = 100
TURN_SECONDS = 3.0


def price(turn: Turn, services: WorkerServices) -> bool:
    """Price rows until none is left or the turn is over; return whether it has to be continued at once."""
    with services.database.reading() as session:
        upload = session.get(Upload, turn.id)
        if upload is None:
            raise LeaseLost
        sample = row_store.sample(session, turn.id, limit=SAMPLE)
        read_at = database_clock.value(session)
    is_verified = upload.operation == Operation.VERIFY
    reader = (
        VerifiedRowReader.of(upload, sample) if is_verified else RowReader.of(upload, sample, now=read_at)
    )
    counts, first = Counter(upload.counts), upload.priced
    ends = time.monotonic() + TURN_SECONDS
    while first < upload.row_count:
        first = _price_batch(turn, services, reader, counts, first)
        if first < upload.row_count and (time.monotonic() > ends or shutdown_flag.has_begun()):
            with services.database.transaction() as session:
                now = database_clock.now()
                turns.end(session, turn, due_at=now, republish_at=now + turn.spec.republish_after)
            return True
    with services.database.transaction() as session:
        priced = (verified if is_verified else pricing).estimate(counts)
        pricing.finish(session, turn, priced, reader.phones_read_as)
    return False


def _price_batch(
    turn: Turn,
    services: WorkerServices,
    reader: RowReader | VerifiedRowReader,
    counts: Counter[str],
    first: int,
) -> int:
    """Price rows from this number on, and count them; return the number of the row after them."""
    with services.database.reading() as session:
        rows = row_store.batch(session, turn.id, first=first, limit=BATCH)
        if not rows:  # the upload was deleted
            raise LeaseLost
        now = database_clock.value(session)
        settings = services.settings
        if isinstance(reader, VerifiedRowReader):
            batch = verified.price(session, turn, reader, rows, settings=settings, now=now)
        else:
            finds = services.own_records
            batch = pricing.price(session, turn, reader, rows, settings=settings, finds=finds, now=now)
    counts.update(batch.counts)
    with services.database.transaction() as session:
        pricing.store(session, turn, batch, counts, reader.warnings, now=database_clock.now())
    return batch.end
