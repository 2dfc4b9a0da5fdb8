"""Continues uploaded lists: reads their files, prices them, and submits their jobs."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from sqlalchemy import select

from app.domain.kinds import ADVANCE_UPLOAD, Queue
from app.engine.work import turns
from app.engine.work.turns import Turn
from app.features.uploads import chunks, collection, failures, uploads
from app.features.uploads.dispatch import ADVANCING
from app.features.uploads.tables import Upload, UploadStatus
from app.features.uploads.turn import pricing, reading
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.telemetry.log import log
from app.settings import Settings
from workers.execution import work
from workers.execution.feature import BatchPurge, WorkPart
from workers.execution.worker_services import WorkerServices

PAUSE = timedelta(seconds=1)
"""Time between two turns at an upload whose jobs are open."""


def give_up(turn: Turn, services: WorkerServices) -> None:
    """End an upload at which every worker fails."""
    with services.database.transaction() as session:
        failures.end(session, turn, now=database_clock.now())


@work.task(ADVANCING, on_exhausted=give_up)
def advance_upload(turn: Turn, services: WorkerServices) -> None:
    """Do what the status of an upload requires next."""
    with services.database.reading() as session:
        status = session.scalar(select(Upload.status).where(Upload.id == turn.id))
    match status:
        case UploadStatus.READING:
            reading.read(turn, services)
        case UploadStatus.PRICING:
            if pricing.price(turn, services):
                services.publisher.push(ADVANCE_UPLOAD, Queue.UPKEEP, [turn.id])
        case _:
            _run_jobs(turn, services)


def _run_jobs(turn: Turn, services: WorkerServices) -> None:
    """Count the finished jobs, and submit further ones while the upload is running."""
    with services.database.transaction() as session:
        are_open = collection.collect(session, turn.id, settings=services.settings, now=database_clock.now())
    submitted = 0
    while _submit_next(turn, services):
        submitted += 1
    with services.database.transaction() as session:
        status = session.scalar(select(Upload.status).where(Upload.id == turn.id))
        is_due = are_open or submitted or status == UploadStatus.RUNNING
        turns.end(session, turn, due_at=database_clock.now() + PAUSE if is_due else None)
    if submitted:
        log.info("upload continued", upload=turn.id, submitted=submitted)


def _submit_next(turn: Turn, services: WorkerServices) -> bool:
    """Submit the next job of a running upload; return whether there was one and it can be paid."""
    settings = services.settings
    with services.database.reading() as session:
        upload = session.get(Upload, turn.id)
        if upload is None or upload.status != UploadStatus.RUNNING:
            return False
        chunk = chunks.plan(session, upload, settings=settings, finds=services.own_records)
    if chunk is None:
        return False
    with services.database.transaction() as session:
        job_id = chunks.submit(session, turn.id, chunk, settings=settings, now=database_clock.now())
    if job_id is None:
        return False
    services.publisher.publish(chunk.kind, [job_id])
    return True


def _purges_in_batches(settings: Settings, now: Moment) -> tuple[BatchPurge, ...]:
    kept = uploads.retention(settings.upload_retention_days, settings.job_retention_days)
    return (partial(uploads.purge_expired, before=now - kept),)


WORK = WorkPart(purges_in_batches=_purges_in_batches)
