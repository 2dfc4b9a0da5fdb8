"""Files of receipts: they name no person, and are read while they are sent."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Response

from app.engine.jobs import job_receipts
from app.engine.jobs.job_receipts import JobFilter
from app.engine.jobs.stored_jobs import StoredJob
from app.infra.database.db import Database
from app.web.bodies.downloads import json_download, table_download
from app.web.services import services

BATCH_SIZE = 500


def table(
    workspace_id: str, job_filter: JobFilter, file_format: str, *, for_spreadsheet: bool = False
) -> Response:
    """Return the receipts of the jobs as a table."""
    rows = map(job_receipts.row, _all(services().database, workspace_id, job_filter))
    return table_download("jobs", job_receipts.COLUMNS, rows, file_format, for_spreadsheet=for_spreadsheet)


def in_json(workspace_id: str, job_filter: JobFilter) -> Response:
    """Return the receipts of the jobs as JSON."""
    return json_download(
        "jobs", map(job_receipts.receipt, _all(services().database, workspace_id, job_filter))
    )


def _all(database: Database, workspace_id: str, job_filter: JobFilter) -> Iterator[StoredJob]:
    """Yield all jobs in batches, each read in a session of its own: a slow reader holds no connection."""
    before = None
    while True:
        with database.reading() as session:
            batch = job_receipts.page(session, workspace_id, job_filter, before=before, limit=BATCH_SIZE)
        yield from batch
        if len(batch) < BATCH_SIZE:
            return
        before = batch[-1].id
