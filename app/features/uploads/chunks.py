"""The jobs of an upload: submitted some at a time, each exactly once, and counted when they are finished.

A job is inserted in the transaction that marks its rows, under the lock of the upload. A process that is
killed at any moment has therefore done both or neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import and_, func, or_, select, update

from app.domain.errors import InsufficientCredits
from app.domain.kinds import VERIFICATION_DEADLINE, Kind
from app.domain.permissions import Permission
from app.engine.accounts import permissions
from app.engine.accounts.accounts import Account
from app.engine.accounts.api_keys import ApiKey
from app.engine.accounts.workspaces import balance
from app.engine.enrichments import enrichment_estimates
from app.engine.enrichments.skips import SkipRule
from app.engine.jobs import submission
from app.engine.jobs.jobs import PURPOSE, Job, JobItem
from app.engine.jobs.result_reuse import NO_REUSE
from app.engine.jobs.submission import JobRequest
from app.engine.own_records.own_records import Find
from app.features.uploads.tables import Operation, Upload, UploadChunk, UploadRow, UploadStatus
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.settings import Settings

SIZE = 100
"""The people of a job."""
WINDOW = 4
"""The open jobs of an upload. Only they hold credits, and only they occupy threads of the workers."""
MAX_CREDITS = "max_credits"
ACCOUNT_DISABLED = "account_disabled"
KEY_ENDED = "key_ended"
PHONES_NOT_ALLOWED = "phones_not_allowed"


@dataclass(frozen=True, slots=True)
class NextChunk:
    """The rows of the next job, the most that it may cost, and what it holds, as far as that is there.

    With skips it holds the price of one person at least: the person may have left the source when it runs.
    """

    kind: Kind
    number: int
    rows: tuple[int, ...]
    requests: tuple[dict[str, Any], ...]
    cost: int
    hold: int


def plan(
    session: Session, upload: Upload, *, settings: Settings, finds: Mapping[str, Find]
) -> NextChunk | None:
    """Return the next job of an upload; None if no row is left or the window is full.

    Whom it skips is estimated now: rows are priced without that, as it is chosen later.
    """
    if _open_count(session, upload.id) >= WINDOW:
        return None
    query = select(UploadRow.number, UploadRow.subject, UploadRow.cost).where(
        UploadRow.upload_id == upload.id, UploadRow.is_pending
    )
    rows = session.execute(query.order_by(UploadRow.number).limit(SIZE)).all()
    if not rows:
        return None
    is_verified = upload.operation == Operation.VERIFY
    request_of = _value if is_verified else _person
    requests = tuple(request_of(row.number, row.subject) for row in rows)
    numbers = tuple(row.number for row in rows)
    cost = hold = sum(row.cost for row in rows)
    if cost and upload.skip:
        cost = min(cost, _cost_with_skips(session, upload, requests, settings=settings, finds=finds))
        hold = min(hold, max(cost, sum(prices(upload, settings))))
    kind = Kind.VERIFICATION if is_verified else Kind.ENRICHMENT_REQUEST
    return NextChunk(kind, upload.next_chunk, numbers, requests, cost, hold)


def _person(number: int, subject: dict[str, Any]) -> dict[str, Any]:
    """Return the request of an item that finds the person of a row."""
    return {"subject": subject, "client_reference": f"row-{number + 1}"}


def _value(_number: int, subject: dict[str, Any]) -> dict[str, Any]:
    """Return the request of an item that verifies a row: its address, or without one its number."""
    field = "email" if "email" in subject else "phone"
    return {field: subject[field]}


def _cost_with_skips(
    session: Session,
    upload: Upload,
    requests: Sequence[dict[str, Any]],
    *,
    settings: Settings,
    finds: Mapping[str, Find],
) -> int:
    estimate = enrichment_estimates.estimate(
        session,
        upload.workspace_id,
        requests,
        upload.fields,
        settings=settings,
        now=database_clock.value(session),
        rule=SkipRule.parse(upload.skip or {}),
        finds=finds,
    )
    return estimate.credits_max


def submit(
    session: Session, upload_id: str, chunk: NextChunk, *, settings: Settings, now: Moment
) -> str | None:
    """Submit the planned job and return its id; None if it has to wait, or the upload was paused instead."""
    upload = _locked(session, upload_id)
    if upload is None or upload.status != UploadStatus.RUNNING or not _is_current(session, upload, chunk):
        return None
    affordable = _affordable(session, upload, chunk.cost)
    if affordable < chunk.cost and _open_count(session, upload.id):
        return None  # open jobs may release what they hold
    reason = _inactive_starter(session, upload, now=now)
    if reason is None and chunk.cost and affordable < min(prices(upload, settings)):
        reason = shortage(session, upload)
    if reason is not None:
        pause(upload, reason, now=now)
        return None
    hold = _affordable(session, upload, chunk.hold)
    job_id = _submit(session, upload, chunk, hold, settings=settings, now=now)
    _mark_sent(session, upload, chunk, job_id)
    return job_id


def pause(upload: Upload, reason: str, *, now: Moment) -> None:
    """Pause a running upload until a member continues it; open jobs finish."""
    upload.status, upload.reason, upload.detail = UploadStatus.PAUSED.value, reason, None
    upload.touched_at = now


def spent_on_open(session: Session, upload_id: str) -> tuple[int, int]:
    """Return the credits that the open jobs of an upload have spent, and those that they still hold."""
    row = session.execute(
        select(func.coalesce(func.sum(Job.charged), 0), func.coalesce(func.sum(Job.held), 0))
        .join(UploadChunk, UploadChunk.job_id == Job.id)
        .where(UploadChunk.upload_id == upload_id, UploadChunk.is_open)
    ).one()
    return int(row[0]), int(row[1] - row[0])


def _submit(
    session: Session, upload: Upload, chunk: NextChunk, hold: int, *, settings: Settings, now: Moment
) -> str:
    request: dict[str, Any] = {"upload_id": upload.id, "max_credits": hold}
    if chunk.kind is Kind.VERIFICATION:
        request["fresh"] = upload.is_fresh
    else:
        request |= {"entity": "person", "fields": list(upload.fields), **(upload.skip or {})}
    if upload.purpose is not None:
        request[PURPOSE] = upload.purpose
    job_request = JobRequest(
        kind=chunk.kind,
        workspace_id=upload.workspace_id,
        account_id=upload.account_id,
        key_id=upload.api_key_id,
        request=request,
        dedup_key={"upload": upload.id, "chunk": chunk.number},
        price=hold,
        allow_partial_hold=True,
        items=chunk.requests,
    )
    deadline = timedelta(seconds=settings.job_deadline_seconds)
    if chunk.kind is Kind.VERIFICATION:
        deadline = VERIFICATION_DEADLINE
    return submission.submit(session, job_request, freshness=NO_REUSE, deadline=deadline, now=now).job.id


def _is_current(session: Session, upload: Upload, chunk: NextChunk) -> bool:
    """Return whether no other worker submitted the job, and none of its people was erased meanwhile."""
    waiting = (
        select(func.count())
        .select_from(UploadRow)
        .where(UploadRow.upload_id == upload.id, UploadRow.number.in_(chunk.rows), UploadRow.is_pending)
    )
    return upload.next_chunk == chunk.number and session.scalar(waiting) == len(chunk.rows)


def _mark_sent(session: Session, upload: Upload, chunk: NextChunk, job_id: str) -> None:
    charged = _charged(session, upload.id, chunk.rows)
    session.add(UploadChunk(upload_id=upload.id, number=chunk.number, job_id=job_id, is_open=True))
    upload.next_chunk += 1
    values = {"upload_id": upload.id, "is_pending": False, "chunk": chunk.number}
    changes = [
        {**values, "number": number, "item": item, "charged": charged[number]}
        for item, number in enumerate(chunk.rows)
    ]
    session.flush()
    session.execute(update(UploadRow), changes)


def _charged(session: Session, upload_id: str, numbers: Sequence[int]) -> dict[int, int]:
    """Return what earlier jobs charged for the rows, with the job whose result they still have, if any."""
    query = (
        select(UploadRow.number, UploadRow.charged + func.coalesce(JobItem.charged, 0))
        .outerjoin(
            UploadChunk,
            and_(UploadChunk.upload_id == UploadRow.upload_id, UploadChunk.number == UploadRow.chunk),
        )
        .outerjoin(JobItem, and_(JobItem.job_id == UploadChunk.job_id, JobItem.index == UploadRow.item))
        .where(UploadRow.upload_id == upload_id, UploadRow.number.in_(numbers))
    )
    return {row[0]: row[1] for row in session.execute(query)}


def _affordable(session: Session, upload: Upload, cost: int) -> int:
    """Return what a job may hold: what it may cost, within the balance and `max_credits`."""
    affordable = min(cost, balance(session, upload.workspace_id).available)
    if upload.max_credits is None:
        return affordable
    spent, held = spent_on_open(session, upload.id)
    return max(0, min(affordable, upload.max_credits - upload.charged - spent - held))


def shortage(session: Session, upload: Upload) -> str:
    """Return what ran out: the credits that the member allowed, or the credits of the workspace."""
    if upload.max_credits is None:
        return InsufficientCredits.code
    is_limit = upload.max_credits - upload.charged <= balance(session, upload.workspace_id).available
    return MAX_CREDITS if is_limit else InsufficientCredits.code


def prices(upload: Upload, settings: Settings) -> list[int]:
    """Return the prices of the fields that the upload asks for, or of a verification."""
    if upload.operation == Operation.VERIFY:
        return [settings.prices[Kind.VERIFICATION]]
    return [settings.price_of(field) for field in upload.fields]


def _inactive_starter(session: Session, upload: Upload, *, now: Moment) -> str | None:
    """Return why the upload must pause: its account is disabled or its key has ended; None if neither."""
    account = select(Account.id).where(Account.id == upload.account_id, Account.disabled_at.is_(None))
    if session.scalar(account) is None:
        return ACCOUNT_DISABLED
    if _lacks_phones(session, upload):
        return PHONES_NOT_ALLOWED
    if upload.api_key_id is None:
        return None
    is_valid = or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > now)
    key = select(ApiKey.id).where(ApiKey.id == upload.api_key_id, ApiKey.revoked_at.is_(None), is_valid)
    return KEY_ENDED if session.scalar(key) is None else None


def _lacks_phones(session: Session, upload: Upload) -> bool:
    """Return whether the list asks for phone numbers, and its starter may not reveal any, or not any more."""
    if "phone" not in upload.fields:
        return False
    permitted = permissions.of_account(session, upload.account_id, upload.api_key_id)
    return Permission.REVEAL_PHONES not in permitted


def _open_count(session: Session, upload_id: str) -> int:
    query = select(func.count()).select_from(UploadChunk)
    return session.scalar(query.where(UploadChunk.upload_id == upload_id, UploadChunk.is_open)) or 0


def _locked(session: Session, upload_id: str) -> Upload | None:
    query = select(Upload).where(Upload.id == upload_id).with_for_update()
    return session.scalar(query.execution_options(populate_existing=True))
