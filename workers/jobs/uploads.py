"""Continues uploaded lists: reads their files, prices them, and submits their jobs."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from app.domain.errors import Unavailable, UploadNotFound
from app.domain.kinds import ADVANCE_UPLOAD, Kind, Queue
from app.engine.uploads import chunks, collection, dispatch, failures
from app.engine.uploads.dispatch import Turn
from app.engine.uploads.upload_tables import Upload, UploadStatus
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from workers.execution import due_messages, maintenance
from workers.execution.worker_services import WorkerServices
from workers.jobs import upload_pricing, upload_reading

PAUSE = timedelta(seconds=1)
"""Time between two turns at an upload whose jobs are open."""


@maintenance.task(ADVANCE_UPLOAD)
def advance_upload(upload_id: str, services: WorkerServices) -> None:
    """Continue one upload; if it fails, another worker does, up to `dispatch.MAX_ATTEMPTS` times."""
    advance(upload_id, services)


def advance(upload_id: str, services: WorkerServices) -> None:
    """Do what the status of an upload requires next; does nothing if it is not due."""
    with services.database.transaction() as session:
        turn = dispatch.begin(session, upload_id, now=database_clock.now())
    if turn is None:
        return
    if turn.is_exhausted:
        _give_up(turn, services)
        return
    try:
        with suppress(UploadNotFound):  # deleted meanwhile
            _continue(turn, services)
    except Unavailable:
        raise
    except Exception:
        with services.database.transaction() as session:
            dispatch.release(session, turn, now=database_clock.now())
        raise


def send_due(services: WorkerServices) -> None:
    """Publish the uploads that a worker has to continue."""
    due_messages.publish(services, ADVANCE_UPLOAD, any_due=dispatch.any_due, claim_due=dispatch.claim_due)


def _continue(turn: Turn, services: WorkerServices) -> None:
    match turn.status:
        case UploadStatus.READING:
            upload_reading.read(turn, services)
        case UploadStatus.PRICING:
            if upload_pricing.price(turn, services):
                services.publisher.push(ADVANCE_UPLOAD, Queue.UPKEEP, [turn.upload_id])
        case _:
            _run_jobs(turn, services)


def _give_up(turn: Turn, services: WorkerServices) -> None:
    with services.database.transaction() as session:
        failures.end(session, turn, now=database_clock.now())
    log.error("upload given up", upload=turn.upload_id, status=turn.status, attempts=turn.attempts - 1)


def _run_jobs(turn: Turn, services: WorkerServices) -> None:
    """Count the finished jobs, and submit further ones while the upload is running."""
    with services.database.transaction() as session:
        are_open = collection.collect(
            session, turn.upload_id, settings=services.settings, now=database_clock.now()
        )
    submitted = 0
    while _submit_next(turn, services):
        submitted += 1
    is_running = turn.status == UploadStatus.RUNNING
    next_at = database_clock.now() + PAUSE if are_open or is_running else None
    with services.database.transaction() as session:
        dispatch.end(session, turn, next_at=next_at)
    if submitted:
        log.info("upload continued", upload=turn.upload_id, submitted=submitted)


def _submit_next(turn: Turn, services: WorkerServices) -> bool:
    """Submit the next job of a running upload; return whether there was one and it can be paid."""
    settings = services.settings
    with services.database.reading() as session:
        upload = session.get(Upload, turn.upload_id)
        if upload is None or upload.status != UploadStatus.RUNNING:
            return False
        chunk = chunks.plan(session, upload)
    if chunk is None:
        return False
    with services.database.transaction() as session:
        job_id = chunks.submit(session, turn.upload_id, chunk, settings=settings, now=database_clock.now())
    if job_id is None:
        return False
    services.publisher.publish(Kind.ENRICHMENT_REQUEST, [job_id])
    return True
