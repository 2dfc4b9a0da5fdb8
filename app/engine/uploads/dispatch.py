"""Which uploads a worker has to continue, and the lease of the worker that does.

Reading and pricing may take minutes, so one upload of a workspace is read or priced at a time. Otherwise
those of one workspace could occupy all threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import or_, select, update
from sqlalchemy.orm import aliased
from sqlalchemy.sql import ColumnElement

from app.engine.uploads.upload_tables import UNFINISHED, Upload
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.infra.database.statements import IdRow, Statement

LEASE = timedelta(seconds=20)
"""Time after which another worker continues; every batch of rows renews it."""
REPUBLISH_AFTER = timedelta(seconds=10)
"""Age after which a message that no worker has processed is considered lost."""
BATCH = 50
MAX_ATTEMPTS = 5
"""Turns without progress after which an upload is ended: its list, or an error of ours, stops each worker."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a worker at an upload, with the status and the mapping that it found."""

    upload_id: str
    workspace_id: str
    status: str
    revision: int
    attempts: int = 1

    @property
    def is_exhausted(self) -> bool:
        """Return whether the turns before this one used up the attempts."""
        return self.attempts > MAX_ATTEMPTS


def any_due(session: Session, *, now: Moment) -> bool:
    """Return whether a worker has to continue any upload."""
    return _any_due(now).first(session, {}) is not None


@lru_cache(maxsize=8)
def _any_due(now: Moment) -> Statement[IdRow]:
    return Statement(IdRow, lambda _dialect: select(Upload.id).where(_due(now)).limit(1))


def claim_due(session: Session, *, now: Moment) -> list[str]:
    """Mark the due uploads as published and return their ids, at most one of a workspace to read or price."""
    query = select(Upload).where(_due(now)).order_by(Upload.next_at, Upload.id).limit(BATCH)
    claimed, busy = [], set[str]()
    for upload in session.scalars(query.with_for_update(skip_locked=True)):
        if upload.status in UNFINISHED:
            if upload.workspace_id in busy:
                continue
            busy.add(upload.workspace_id)
        upload.published_at = now
        claimed.append(upload.id)
    session.flush()
    return claimed


def begin(session: Session, upload_id: str, *, now: Moment) -> Turn | None:
    """Take the lease of a due upload; return None if it is not due, so that a late message is harmless.

    Return None also if it has to wait for another upload of its workspace; then it is published again.
    """
    row = session.execute(
        update(Upload)
        .where(Upload.id == upload_id, Upload.next_at <= now, ~_must_wait(lambda other: other.next_at > now))
        .values(next_at=now + LEASE, published_at=None, attempts=Upload.attempts + 1)
        .returning(Upload.id, Upload.workspace_id, Upload.status, Upload.revision, Upload.attempts)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return None if row is None else Turn(*row)


def renew(session: Session, turn: Turn, *, now: Moment, **values: Any) -> bool:
    """Renew the lease and store values; return whether status and mapping are still those of the turn.

    The attempts still count, since a worker that starts over gets this far, too. Pass `attempts=0` with
    progress that the next turn does not repeat.
    """
    return _update(session, turn, next_at=now + LEASE, published_at=None, **values)


def end(session: Session, turn: Turn, *, next_at: Moment | None, published_at: Moment | None = None) -> None:
    """End the turn; the next one is at this time, or after the next change of a member.

    `published_at` is given if the caller publishes the next one itself.
    """
    _update(session, turn, next_at=next_at, published_at=published_at, attempts=0)


def release(session: Session, turn: Turn, *, now: Moment) -> None:
    """End a turn that failed: the upload is due again, after the others of its workspace that wait."""
    _update(session, turn, next_at=now, published_at=None)


def _update(session: Session, turn: Turn, **values: Any) -> bool:
    row = session.execute(
        update(Upload)
        .where(Upload.id == turn.upload_id, Upload.status == turn.status, Upload.revision == turn.revision)
        .values(**values)
        .returning(Upload.id)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return row is not None


def _due(now: Moment) -> ColumnElement[bool]:
    unsent = Upload.published_at.is_(None) | (Upload.published_at <= now - REPUBLISH_AFTER)
    since = now - REPUBLISH_AFTER
    waits = _must_wait(lambda other: or_(other.next_at > now, other.published_at > since))
    return (Upload.next_at <= now) & unsent & ~waits


def _must_wait(is_busy: Callable[[type[Upload]], ColumnElement[bool]]) -> ColumnElement[bool]:
    """Return the condition for uploads to read or price of a workspace with another one that is busy."""
    other = aliased(Upload)
    busy = (other.workspace_id == Upload.workspace_id, other.id != Upload.id, is_busy(other))
    is_other_busy = select(other.id).where(_is_unfinished(other), *busy).exists()
    return _is_unfinished(Upload) & is_other_busy


def _is_unfinished(upload: type[Upload]) -> ColumnElement[bool]:
    return or_(*(upload.status == status for status in UNFINISHED))
