"""Uploaded lists as a workspace sees them: create, map, start, cancel and delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import defer

from app.domain.errors import UploadNotFound, UploadNotReady
from app.domain.ids import is_id, new_id
from app.domain.messages import Figure, Message
from app.engine.enrichments.skips import SkipRule
from app.engine.jobs.idempotency import IdempotencyKey
from app.engine.work import items
from app.features.uploads import choices, dispatch, files
from app.features.uploads.tables import Operation, Upload, UploadChunk, UploadFile, UploadStatus
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

DEFAULT_FIELDS = ("email",)
MAX_OPEN = 50
"""The uploads of a workspace that are neither finished nor failed."""
MAX_SIZE = 1 << 30
"""What all uploads of a workspace may take, so that it does not fill the disk of the others."""
NO_ROOM = Message(
    "The uploads of the workspace take {max} MB. Delete some first.", max=Figure(MAX_SIZE >> 20)
)
EXPIRED_UPLOADS = 5
"""The most uploads that one batch of `purge_expired` deletes; one has up to 50,000 rows."""
MAPPING_CHANGED = Message(
    "The mapping was changed after this price was shown. Read the upload, and start it again."
)
FINAL = (UploadStatus.FINISHED, UploadStatus.CANCELED, UploadStatus.FAILED)
_MAPPABLE = (UploadStatus.MAPPING, UploadStatus.PRICING, UploadStatus.READY)


def create(
    session: Session,
    *,
    workspace_id: str,
    account_id: str,
    api_key_id: str | None,
    file_name: str,
    content: bytes,
    table_options: Mapping[str, Any] | None = None,
    now: Moment,
) -> Upload:
    """Insert an upload; a worker reads its file next, with these `TableOptions`, beside its `operation`.

    Raises:
        UploadNotReady: the workspace has too many that are not finished, or its uploads take too much room.

    """
    if is_full(session, workspace_id):
        raise UploadNotReady(NO_ROOM)
    unfinished = select(func.count()).select_from(Upload).where(Upload.workspace_id == workspace_id)
    if (session.scalar(unfinished.where(Upload.status.not_in(FINAL))) or 0) >= MAX_OPEN:
        raise UploadNotReady(
            Message("The workspace has {max} unfinished uploads. Delete or cancel some first.", max=MAX_OPEN)
        )
    options = dict(table_options or {})
    operation = options.pop("operation", Operation.ENRICH.value)
    upload = Upload(
        id=new_id("upl"),
        workspace_id=workspace_id,
        account_id=account_id,
        api_key_id=api_key_id,
        file_name=file_name,
        operation=operation,
        status=UploadStatus.READING.value,
        header=[],
        delimiter=",",
        table_options=options,
        size=len(content),
        columns=[],
        fields=list(DEFAULT_FIELDS) if operation == Operation.ENRICH else [],
        is_fresh=False,
        revision=0,
        row_count=0,
        priced=0,
        counts={},
        warnings=[],
        outcomes={},
        charged=0,
        next_chunk=0,
        created_at=now,
        touched_at=now,
    )
    session.add(upload)
    session.flush()
    session.add(UploadFile(upload_id=upload.id, content=files.encrypted(session, upload.id, content)))
    session.flush()
    dispatch.schedule(session, upload, now=now)
    session.refresh(upload)
    return upload


def is_full(session: Session, workspace_id: str) -> bool:
    """Return whether the uploads of the workspace take all the room that they may."""
    size = session.scalar(select(func.sum(Upload.size)).where(Upload.workspace_id == workspace_id))
    return (size or 0) >= MAX_SIZE


def get(session: Session, workspace_id: str, upload_id: str) -> Upload:
    """Return the workspace's upload.

    Raises:
        UploadNotFound: the workspace has no upload with this id.

    """
    return _one(session, workspace_id, upload_id, lock=False)


def locked(session: Session, workspace_id: str, upload_id: str) -> Upload:
    """Return the workspace's upload and lock its row until the transaction ends."""
    return _one(session, workspace_id, upload_id, lock=True)


def latest(session: Session, workspace_id: str, *, before: str | None, limit: int) -> Sequence[Upload]:
    """Return the workspace's uploads that are older than `before`, newest first, without their headers."""
    query = select(Upload).where(Upload.workspace_id == workspace_id)
    query = query.options(defer(Upload.header, raiseload=True))
    if before is not None:
        query = query.where(Upload.id < before)
    return session.scalars(query.order_by(Upload.id.desc()).limit(limit)).all()


def unfinished_first(session: Session, workspace_id: str, *, limit: int) -> Sequence[Upload]:
    """Return the workspace's uploads that are not over, newest first, and then the latest others."""
    query = select(Upload).where(Upload.workspace_id == workspace_id)
    query = query.options(defer(Upload.header, raiseload=True))
    return session.scalars(query.order_by(Upload.status.in_(FINAL), Upload.id.desc()).limit(limit)).all()


def map_columns(
    session: Session, upload: Upload, columns: Sequence[str | None], fields: Sequence[str], *, now: Moment
) -> None:
    """Store the mapping and the requested fields of a locked upload; a worker then prices it.

    Raises:
        UploadNotReady: it is not read yet, or has been started.

    """
    if upload.status not in _MAPPABLE:
        raise UploadNotReady(
            "The mapping can be changed once the file is read, and until the upload is started. "
            "Read its status."
        )
    is_enriched = upload.operation == Operation.ENRICH
    upload.columns, upload.fields = list(columns), sorted(set(fields)) if is_enriched else []
    upload.status = UploadStatus.PRICING.value
    upload.revision += 1
    upload.priced, upload.counts, upload.warnings, upload.estimate = 0, {}, [], None
    _wake(session, upload, now)


def set_country(upload: Upload, country: str | None) -> None:
    """Name the country of a locked upload's phone numbers without a country code.

    None lets the list decide. It counts from the next mapping on.
    """
    upload.table_options = {**(upload.table_options or {}), "country": country}


def country_of(upload: Upload) -> str | None:
    """Return the country that was named for phone numbers without a country code."""
    return (upload.table_options or {}).get("country")


def set_skip(upload: Upload, rule: SkipRule) -> None:
    """Say whom the next jobs of a locked upload skip; a running upload stays as it is."""
    if upload.status != UploadStatus.RUNNING:
        upload.skip = rule.to_request() or None


def skip_rule(upload: Upload) -> SkipRule:
    """Return whom the jobs of the upload skip."""
    return SkipRule.parse(upload.skip or {})


def start(
    session: Session,
    upload: Upload,
    *,
    account_id: str,
    api_key_id: str | None,
    max_credits: int | None,
    purpose: str | None = None,
    revision: int | None = None,
    now: Moment,
) -> None:
    """Start a locked upload, or continue a paused one; a running upload stays as it is.

    `max_credits` limits what the whole upload may cost, with what it has cost so far. `purpose` is why the
    values of its people are obtained; one that was stated earlier remains if it is None, as
    long as it can be stated. `revision` is the revision of the mapping whose price was accepted, if given.

    Raises:
        UploadNotReady: it has no price yet, is over, or has another mapping.
        PurposeRequired: everybody's values need a purpose, and none is stated.

    """
    if upload.status == UploadStatus.RUNNING:
        return
    if upload.status not in {UploadStatus.READY, UploadStatus.PAUSED}:
        raise UploadNotReady(
            "This upload was started already, is over, or has no price yet. Read its "
            "status, which says which."
        )
    if revision not in {None, upload.revision}:
        raise UploadNotReady(MAPPING_CHANGED)
    rule = session.settings.purpose_rule
    upload.purpose = purpose or (upload.purpose if upload.purpose in rule.allowed else None)
    is_enriched = upload.operation == Operation.ENRICH
    if is_enriched and rule.is_everywhere and upload.purpose is None and not _is_free(upload):
        raise rule.refusal()
    upload.account_id, upload.api_key_id, upload.max_credits = account_id, api_key_id, max_credits
    upload.status, upload.reason, upload.detail = UploadStatus.RUNNING.value, None, None
    _wake(session, upload, now)


def cancel(session: Session, upload: Upload, *, now: Moment) -> None:
    """Cancel a locked upload: open jobs finish, and no further ones are submitted. A final status stays."""
    if upload.status in FINAL:
        return
    upload.status, upload.reason, upload.detail = UploadStatus.CANCELED.value, None, None
    session.execute(delete(UploadFile).where(UploadFile.upload_id == upload.id))
    _wake(session, upload, now)


def remove(session: Session, upload: Upload) -> None:
    """Delete a locked upload with its rows; its open jobs finish."""
    _delete(session, [upload.id])


def purge_expired(session: Session, *, before: Moment) -> int:
    """Delete uploads that were not touched since then, at most one batch; return how many.

    Those whose jobs are open are kept.
    """
    is_open = select(UploadChunk.upload_id).where(UploadChunk.is_open)
    old = select(Upload.id).where(Upload.touched_at < before, Upload.id.not_in(is_open))
    ids = session.scalars(old.order_by(Upload.touched_at).limit(EXPIRED_UPLOADS)).all()
    _delete(session, ids)
    return len(ids)


def retention(upload_days: int, job_days: int) -> timedelta:
    """Return how long uploads are kept: not longer than the jobs that hold their results."""
    return timedelta(days=min(upload_days, job_days))


def _delete(session: Session, ids: Sequence[str]) -> None:
    session.execute(delete(Upload).where(Upload.id.in_(ids)))
    items.remove(session, ids)
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.reference.in_(ids)))


def _one(session: Session, workspace_id: str, upload_id: str, *, lock: bool) -> Upload:
    query = select(Upload).where(Upload.id == upload_id, Upload.workspace_id == workspace_id)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    upload = session.scalar(query) if is_id(upload_id, "upl") else None
    if upload is None:
        raise UploadNotFound
    return upload


def _is_free(upload: Upload) -> bool:
    """Return whether nothing is bought, as everybody is owned, barred or skipped."""
    estimate = upload.estimate or {}
    price = choices.chosen(estimate, skip_rule(upload)) or estimate
    return price.get("to_buy") == 0


def _wake(session: Session, upload: Upload, now: Moment) -> None:
    """Schedule the upload, so that a worker continues it now."""
    upload.touched_at = now
    session.flush()
    dispatch.schedule(session, upload, now=now)
    session.refresh(upload)
