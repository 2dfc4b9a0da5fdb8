"""Counting of the finished jobs of an upload; rows without a result go back to those that wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select, update

from app.domain.errors import InsufficientCredits, ProviderFailed, PurposeRequired, SpendingLimitReached
from app.domain.kinds import PROVIDER_FAILURES, Status
from app.engine.jobs.jobs import Job, JobItem
from app.features.uploads import chunks, results
from app.features.uploads.tables import Operation, Upload, UploadChunk, UploadRow, UploadStatus
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.settings import Settings

MAX_TRIES = 3
"""Jobs that may end without the result of a row, for example because its providers fail."""
FAILED = "failed"
_REFUSALS = frozenset({InsufficientCredits.code, SpendingLimitReached.code, PurposeRequired.code})
"""The errors that a member resolves: credits, a limit, or a purpose."""


def collect(session: Session, upload_id: str, *, settings: Settings, now: Moment) -> bool:
    """Count the finished jobs of an upload, and finish it after the last; return whether jobs are open."""
    query = select(Upload).where(Upload.id == upload_id).with_for_update()
    upload = session.scalar(query.execution_options(populate_existing=True))
    if upload is None:
        return False
    open_chunks = session.scalars(
        select(UploadChunk).where(UploadChunk.upload_id == upload_id, UploadChunk.is_open)
    ).all()
    for chunk in open_chunks:
        job = session.get_one(Job, chunk.job_id, populate_existing=True)
        if job.finished_at is not None:
            _count(session, upload, chunk, job, settings=settings, now=now)
    are_open = any(chunk.is_open for chunk in open_chunks)
    if upload.status == UploadStatus.RUNNING and not are_open and not _is_any_pending(session, upload_id):
        upload.status = UploadStatus.FINISHED.value
        if upload.operation == Operation.VERIFY:  # a later job may have found that a domain accepts all mail
            session.flush()
            upload.outcomes = dict(results.verdicts(session, upload))
        upload.touched_at = now
    session.flush()
    return are_open


class _Collected(NamedTuple):
    """A row of a list with the item of the job that was to resolve it."""

    number: int
    subject: dict[str, Any] | None
    chunk: int | None
    charged: int
    tries: int
    item: JobItem


def _count(
    session: Session, upload: Upload, chunk: UploadChunk, job: Job, *, settings: Settings, now: Moment
) -> None:
    """Count the items of a finished job; pause the upload if a member has to do something for the others."""
    chunk.is_open = False
    query = (
        select(
            UploadRow.number, UploadRow.subject, UploadRow.chunk, UploadRow.charged, UploadRow.tries, JobItem
        )
        .join(JobItem, JobItem.index == UploadRow.item)
        .where(
            UploadRow.upload_id == upload.id, UploadRow.chunk == chunk.number, JobItem.job_id == chunk.job_id
        )
    )
    items = [_Collected._make(row) for row in session.execute(query)]
    is_outage = _is_outage(job, [row.item for row in items])
    was_tried = not _never_ran(job)
    repeated = [row for row in items if _is_repeated(row.item, row.subject, row.tries, was_tried=was_tried)]
    outcomes = Counter(upload.outcomes)
    numbers = {row.number for row in repeated}
    outcome_of = _verdict if upload.operation == Operation.VERIFY else _outcome
    outcomes.update(outcome_of(row.item) for row in items if row.number not in numbers)
    upload.outcomes, upload.charged = dict(outcomes), upload.charged + job.charged
    cost = sum(chunks.prices(upload, settings))
    _return_rows(session, upload.id, repeated, cost=cost, is_outage=is_outage, was_tried=was_tried)
    refusals = {code for row in repeated if (code := _refusal(row.item)) is not None}
    if is_outage and repeated:
        refusals.add(ProviderFailed.code)
    if upload.status == UploadStatus.RUNNING and (reason := _reason(session, upload, job, refusals)):
        chunks.pause(upload, reason, now=now)


def _outcome(item: JobItem) -> str:
    return item.outcome or FAILED


def _verdict(item: JobItem) -> str:
    """Return the verdict of an item, its outcome if it has none."""
    found = item.result or {}
    statuses = [value["status"] for value in (*found.get("emails", ()), *found.get("phones", ()))]
    return statuses[0] if statuses else _outcome(item)


def _is_outage(job: Job, items: Sequence[JobItem]) -> bool:
    """Return whether the providers failed for more than half of the items.

    An item without a result when its job ends waited for them if a call for it failed or was refused.
    """
    failed_calls = {line.get("item") for line in job.trace if line.get("outcome") in PROVIDER_FAILURES}
    failed = [item for item in items if _has_failed(item) or (_is_open(item) and item.index in failed_calls)]
    return 2 * len(failed) > len(items)


def _never_ran(job: Job) -> bool:
    """Return whether the job expired before any worker ran it."""
    has_run = job.attempts or job.crashes or job.progress_done or job.trace
    return job.status == Status.EXPIRED and not has_run


def _reason(session: Session, upload: Upload, job: Job, refusals: Collection[str]) -> str | None:
    """Return why the upload pauses: a purpose, an outage, or credits that sufficed for none of the items.

    The job may have been submitted before a purpose was stated; then its items go into another one.
    """
    if PurposeRequired.code in refusals and upload.purpose is None:
        return PurposeRequired.code
    if ProviderFailed.code in refusals:
        return ProviderFailed.code
    unpaid = set(refusals) - {PurposeRequired.code}
    if not unpaid or job.charged:
        return None
    is_limited = SpendingLimitReached.code in unpaid
    return SpendingLimitReached.code if is_limited else chunks.shortage(session, upload)


def _is_repeated(item: JobItem, subject: dict[str, Any] | None, tries: int, *, was_tried: bool) -> bool:
    """Return whether the row goes into another job: its item was refused or failed, or never ran."""
    if subject is None:  # erased
        return False
    if _refusal(item) is not None:
        return True
    return (_is_open(item) or _has_failed(item)) and tries + was_tried < MAX_TRIES


def _refusal(item: JobItem) -> str | None:
    """Return the code of the error for which the item was refused, or None."""
    code: str | None = None if item.error is None else item.error["code"]
    return code if code in _REFUSALS else None


def _has_failed(item: JobItem) -> bool:
    return item.error is not None and item.error["code"] == ProviderFailed.code


def _is_open(item: JobItem) -> bool:
    return item.outcome is None and item.error is None


def _return_rows(
    session: Session,
    upload_id: str,
    rows: Sequence[_Collected],
    *,
    cost: int,
    is_outage: bool,
    was_tried: bool,
) -> None:
    """Queue the rows for another job, at the full price: what was owned may have been refunded.

    A row of which the job found a part has its result until then; the others are detached from the job.

    A job that never ran does not count as a try.

    An outage does not count as a try of a row that was not tried before. It does for the others: for some
    people the providers may always fail.
    """
    changes = [
        {
            "upload_id": upload_id,
            "number": row.number,
            "is_pending": True,
            "cost": cost,
            **_place(row),
            "tries": row.tries
            + (was_tried and _refusal(row.item) is None and not (is_outage and row.tries == 0)),
        }
        for row in rows
    ]
    if changes:
        session.execute(update(UploadRow), changes)


def _place(row: _Collected) -> dict[str, int | None]:
    """Return the place of the row's result, and what the jobs before it charged."""
    if row.item.outcome is None:
        return {"chunk": None, "item": None, "charged": row.charged + row.item.charged}
    return {"chunk": row.chunk, "item": row.item.index, "charged": row.charged}


def _is_any_pending(session: Session, upload_id: str) -> bool:
    pending = select(UploadRow.number).where(UploadRow.upload_id == upload_id, UploadRow.is_pending)
    return session.scalar(pending.limit(1)) is not None
