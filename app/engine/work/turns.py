"""Turns of workers: exclusive access to an item of work, as long as the lease is renewed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import aliased
from sqlalchemy.sql import ColumnElement

from app.engine.work.items import WorkItem, is_free
from app.engine.work.specs import WorkSpec
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session


class LeaseLost(Exception):  # noqa: N818 -- it names what happened
    """Another worker has the job or the work, or it is over; nothing may be stored."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A worker's turn at an item of work.

    `attempts` counts the turns since the last progress, with this. `late` is how long ago it was due.
    """

    spec: WorkSpec
    id: str
    lease_token: str
    attempts: int = 1
    late: timedelta = timedelta(0)

    @property
    def is_exhausted(self) -> bool:
        """Return whether the turns before this one used up the attempts."""
        return self.attempts > self.spec.max_attempts


def begin(session: Session, spec: WorkSpec, work_id: str, *, now: Moment) -> Turn | None:
    """Begin a turn; return None if the item is not due, so that duplicate and late messages are harmless.

    Return None also if workers have as many items of its fairness key as they may; it is published again.
    """
    token = secrets.token_hex(16)
    begun = session.execute(
        update(WorkItem)
        .where(
            WorkItem.id == work_id,
            WorkItem.task == spec.task,
            WorkItem.due_at <= now,
            is_free(now),
            *_has_room(spec, now),
        )
        .values(
            lease_token=token,
            lease_until=now + spec.lease,
            republish_at=None,
            attempts=WorkItem.attempts + 1,
        )
        .returning(WorkItem.attempts, WorkItem.due_at, database_clock.column(now).label("at"))
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return None if begun is None else Turn(spec, work_id, token, begun.attempts, begun.at - begun.due_at)


def _has_room(spec: WorkSpec, now: Moment) -> list[ColumnElement[bool]]:
    if spec.per_key is None:
        return []
    other = aliased(WorkItem)
    same_key = (other.task == spec.task, other.fairness_key == WorkItem.fairness_key)
    busy = select(func.count()).where(*same_key, other.id != WorkItem.id, other.lease_until > now)
    return [busy.scalar_subquery() < spec.per_key]


def renew(session: Session, turn: Turn, *, now: Moment, progressed: bool = False) -> None:
    """Renew the lease, in the transaction that stores what the worker did.

    `progressed`: the next turn would not repeat it, so the attempts start over.

    Raises:
        LeaseLost: the transaction must be rolled back.

    """
    attempts = {"attempts": 0} if progressed else {}
    _update(session, turn, lease_until=now + turn.spec.lease, **attempts)


def end(
    session: Session, turn: Turn, *, due_at: Moment | None = None, republish_at: Moment | None = None
) -> None:
    """End a turn that made progress: the next one is at `due_at`; None if nothing is left to do.

    `republish_at` is given if the caller publishes the message of the next one itself.

    Raises:
        LeaseLost: as in `renew`.

    """
    if due_at is not None:
        _update(session, turn, due_at=due_at, republish_at=republish_at, attempts=0, **_FREE)
        return
    ended = delete(WorkItem).where(*_held_by(turn)).returning(WorkItem.id)
    if session.scalar(ended.execution_options(synchronize_session=False)) is None:
        raise LeaseLost


def retry(session: Session, turn: Turn, *, due_at: Moment, error: str | None = None) -> None:
    """End a turn without progress; the next one is at `due_at`. `error` is the code of the reason.

    Raises:
        LeaseLost: as in `renew`.

    """
    _update(session, turn, due_at=due_at, error=error, **_FREE)


def fail(session: Session, turn: Turn, error: str, *, now: Moment) -> None:
    """End the work as failed, with the code of the reason; the code of the last turn remains if it has one.

    Raises:
        LeaseLost: as in `renew`.

    """
    _update(session, turn, due_at=None, failed_at=now, error=func.coalesce(WorkItem.error, error), **_FREE)


_FREE = {"lease_token": None, "lease_until": None}


def _update(session: Session, turn: Turn, **values: Any) -> None:
    changed = update(WorkItem).where(*_held_by(turn)).values(values).returning(WorkItem.id)
    if session.scalar(changed.execution_options(synchronize_session=False)) is None:
        raise LeaseLost


def _held_by(turn: Turn) -> tuple[ColumnElement[bool], ...]:
    return WorkItem.id == turn.id, WorkItem.lease_token == turn.lease_token
