"""The end of an upload at which every worker fails: the member sees why, and is charged for nothing more."""

from __future__ import annotations

from sqlalchemy import update

from app.domain.messages import Figure, Message
from app.engine.work import turns
from app.engine.work.turns import LeaseLost, Turn
from app.features.uploads import row_store
from app.features.uploads.dispatch import ADVANCING
from app.features.uploads.tables import Upload, UploadStatus
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

PROCESSING_FAILED = "processing_failed"
_ATTEMPTS = ADVANCING.max_attempts
_READING = Message(
    "Reading the file failed {attempts} times. Nothing was charged. Upload the list in parts to find the "
    "rows that stop it, or ask your operator to find the cause in the log.",
    attempts=_ATTEMPTS,
)
_PRICING = Message(
    "Pricing the list failed {attempts} times. Nothing was charged. The cause is in a row after row "
    "{priced}: upload the list without those rows, or ask your operator to find the cause in the log."
)
_RUNNING = Message(
    "Continuing the list failed {attempts} times. The result has what was found until then, and only that is "
    "charged. Continue the list, or ask your operator to find the cause in the log.",
    attempts=_ATTEMPTS,
)


def end(session: Session, turn: Turn, *, now: Moment) -> None:
    """End the upload of a turn whose attempts are used up.

    A list that is read or priced has failed. A running one is paused: its open jobs finish, and a member may
    continue it. One that is paused or canceled already remains so, and is not counted any further.
    """
    upload = session.get(Upload, turn.id)
    if upload is None:
        raise LeaseLost
    match upload.status:
        case UploadStatus.READING:
            row_store.fail_reading(session, turn, _READING, reason=PROCESSING_FAILED)
        case UploadStatus.PRICING:
            detail = _PRICING.format(attempts=_ATTEMPTS, priced=Figure(upload.priced))
            _store(session, turn, UploadStatus.FAILED, detail, now=now)
        case UploadStatus.RUNNING:
            _store(session, turn, UploadStatus.PAUSED, _RUNNING, now=now)
    turns.fail(session, turn, PROCESSING_FAILED, now=now)


def _store(session: Session, turn: Turn, status: UploadStatus, detail: str, *, now: Moment) -> None:
    values = {"status": status.value, "reason": PROCESSING_FAILED, "detail": detail, "touched_at": now}
    failed = update(Upload).where(Upload.id == turn.id).values(values)
    session.execute(failed.execution_options(synchronize_session=False))
