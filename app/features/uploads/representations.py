"""The public representation of an upload: its mapping, price, progress and cost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from sqlalchemy import func, select

from app.domain.lists.cells.cell_warnings import CellWarnings, described
from app.engine.accounts import workspaces
from app.engine.enrichments import estimate_sentences, skips
from app.engine.jobs.jobs import Job
from app.features.uploads import choices, chunks, result_files, row_store, uploads
from app.features.uploads.tables import Operation, Upload, UploadChunk, UploadStatus
from app.infra.clock import rfc3339
from app.infra.database.session import Session
from app.web.estimates import EXCEEDS_BALANCE
from app.web.languages.texts import in_response

_OF_RESULT = frozenset({result_files.SEPARATOR_LINE, result_files.CELL_KINDS})
SAMPLE_ROWS = 50
"""The first rows, in which values of each column are searched."""
SAMPLES = 3
MAX_SAMPLE = 100
"""The most characters of a cell that are shown as a sample."""


def summary(session: Session, upload: Upload) -> dict[str, Any]:
    """Return the representation of an upload without its columns."""
    spent, reserved = chunks.spent_on_open(session, upload.id)
    rule = uploads.skip_rule(upload)
    total = (upload.estimate or {}).get("people", 0)
    return {
        "id": upload.id,
        "file_name": upload.file_name,
        "operation": upload.operation,
        "status": upload.status,
        "reason": upload.reason,
        "detail": upload.detail and in_response(upload.detail),
        "created_at": rfc3339(upload.created_at),
        "rows": upload.row_count,
        "priced": upload.priced,
        "format": _format(upload),
        "fields": upload.fields,
        "country": uploads.country_of(upload),
        "fresh": upload.is_fresh,
        "revision": upload.revision,
        "max_credits": upload.max_credits,
        "purpose": upload.purpose,
        skips.SKIP: list(rule.sources),
        skips.SKIP_WHEN: rule.when.value,
        "estimate": _estimate(session, upload),
        "progress": {
            "done": sum(upload.outcomes.values()) + _done_in_open(session, upload.id),
            "total": total,
        },
        "outcomes": upload.outcomes,
        "credits": {"charged": upload.charged + spent, "reserved": reserved},
    }


def _estimate(session: Session, upload: Upload) -> dict[str, Any] | None:
    """Return the estimate in words, too, and before the start whether it may cost more than the balance."""
    if upload.estimate is None:
        return None
    is_ready = upload.status == UploadStatus.READY
    available = workspaces.balance(session, upload.workspace_id).available if is_ready else None

    def with_balance(priced: dict[str, Any]) -> dict[str, Any]:
        return priced if available is None else {**priced, EXCEEDS_BALANCE: priced["credits_max"] > available}

    estimate = with_balance(upload.estimate)
    if upload.operation == Operation.VERIFY:
        return {**estimate, "summary": in_response(estimate_sentences.of_verification(estimate))}
    shown = [
        {**with_balance(choice), "summary": in_response(choices.summary(estimate, choice, upload.fields))}
        for choice in estimate["choices"]
    ]
    return {**estimate, "choices": shown}


def _format(upload: Upload) -> dict[str, Any] | None:
    """Return how the file was read, without what only its result needs."""
    if upload.table_format is None:
        return None
    return {name: value for name, value in upload.table_format.items() if name not in _OF_RESULT}


def describe(session: Session, upload: Upload) -> dict[str, Any]:
    """Return the representation of an upload with its columns, each with values of the first rows.

    `warnings` says what was left out, changed or guessed in the rows that are priced.
    """
    rows = row_store.sample(session, upload.id, limit=SAMPLE_ROWS)
    columns = [
        {
            "name": name,
            "field": field,
            "samples": _samples(rows, index),
        }
        for index, (name, field) in enumerate(zip(upload.header, upload.columns, strict=True))
    ]
    warnings = [
        warning | {"detail": in_response(warning["detail"])}
        for warning in described(CellWarnings.from_json(upload.warnings), upload.header, upload.columns)
    ]
    return summary(session, upload) | {"columns": columns, "warnings": warnings}


def _samples(rows: Sequence[Sequence[str]], index: int) -> list[str]:
    """Return the first values of a column, each once; empty cells show nothing about it."""
    cells = (row[index].strip() for row in rows if index < len(row))
    return [cell[:MAX_SAMPLE] for cell in islice(dict.fromkeys(filter(None, cells)), SAMPLES)]


def _done_in_open(session: Session, upload_id: str) -> int:
    query = select(func.coalesce(func.sum(Job.progress_done), 0)).join(
        UploadChunk, UploadChunk.job_id == Job.id
    )
    return int(session.scalar(query.where(UploadChunk.upload_id == upload_id, UploadChunk.is_open)) or 0)
