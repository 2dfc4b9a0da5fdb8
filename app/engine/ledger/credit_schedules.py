"""Schedules that grant credits every month, exactly once for each month whatever is killed.

A turn is one transaction: it moves `next_at` of the schedule forward, if it is still the one that was read,
and writes the entries of the ledger. Of two processes, the second finds it moved. It locks the schedule, and
then the workspace, as all that change a schedule do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, delete, func, select, update

from app.domain import credit_schedules
from app.domain.audit_actions import Action
from app.domain.credit_schedules import Schedule, Turn
from app.domain.errors import NotFound
from app.engine.accounts.accounts import Account
from app.engine.accounts.workspaces import Workspace
from app.engine.audit_log import entries as audit_log
from app.engine.ledger import credits
from app.engine.ledger.next_grants import CreditSchedule
from app.infra.database import database_clock
from app.infra.database.db import insert
from app.infra.database.session import Session
from app.infra.database.statements import Statement

MAX_CREDITS = 1_000_000_000
"""The most credits of a grant."""
MAX_DUE = 100
"""The most schedules whose grants one step of the sweep makes; the others are made by the next one."""
_AFTER = timedelta(microseconds=1)
UNKNOWN = "The workspace has no monthly grant. Add one: flask credits grants set"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What an operator sets."""

    credits: int
    per_seat: bool
    day: int
    carried: int | None


class Due(NamedTuple):
    """A grant that is due."""

    workspace_id: str
    next_at: datetime


def put(session: Session, workspace_id: str, terms: Terms, *, starts_at: datetime | None = None) -> None:
    """Set the monthly grant of a workspace; the first is on the next such day, or at or after `starts_at`.

    A change applies from the next grant, also of a paused schedule; what was granted before expires by the
    new terms. Grants that are due are made first, by the terms before. With `starts_at` in the past, a month
    that has had its grant gets no other one, also if the day changes.
    """
    last_at, now = _make_overdue(session, workspace_id)
    start = starts_at or now
    if last_at is not None:
        is_past = start < now
        start = max(start, credit_schedules.next_due(last_at, terms.day) if is_past else last_at + _AFTER)
    next_at = credit_schedules.first_due(start, terms.day)
    row = _locked(session, workspace_id)
    values = {
        "credits": terms.credits,
        "per_seat": terms.per_seat,
        "day": terms.day,
        "carried": terms.carried,
        "next_at": next_at,
    }
    new = {"workspace_id": workspace_id, "left": 0, "spent_before": row.spent, "created_at": now}
    statement = insert(session, CreditSchedule).values(**new, **values)
    session.execute(statement.on_conflict_do_update(index_elements=["workspace_id"], set_=values))
    audit_log.record(session, Action.CREDIT_SCHEDULE_SET, object_id=workspace_id, workspace_id=workspace_id)


def _make_overdue(session: Session, workspace_id: str) -> tuple[datetime | None, datetime]:
    """Make the grants of the workspace that are due, and lock its schedule.

    Return when the last grant was due, and the time until which all are made.
    """
    of_own = select(CreditSchedule).where(CreditSchedule.workspace_id == workspace_id)
    while row := session.scalar(of_own.with_for_update(), execution_options={"populate_existing": True}):
        now = database_clock.value(session)
        if row.paused_at is not None or row.next_at > now:
            return row.last_at, now
        grant(session, Due(workspace_id, row.next_at))
    return None, database_clock.value(session)


def remove(session: Session, workspace_id: str) -> None:
    """Remove the monthly grant of a workspace; what was granted stays, and what is due is granted first.

    Raises:
        NotFound: it has none.

    """
    _make_overdue(session, workspace_id)
    is_own = CreditSchedule.workspace_id == workspace_id
    if session.scalar(delete(CreditSchedule).where(is_own).returning(CreditSchedule.workspace_id)) is None:
        raise NotFound(UNKNOWN)
    audit_log.record(
        session, Action.CREDIT_SCHEDULE_REMOVE, object_id=workspace_id, workspace_id=workspace_id
    )


def pause(session: Session, workspace_id: str) -> None:
    """Grant nothing, and let nothing expire, until `resume`; what is due is granted first.

    Raises:
        NotFound: the workspace has no monthly grant.

    """
    _last_at, now = _make_overdue(session, workspace_id)
    _changed(session, workspace_id, Action.CREDIT_SCHEDULE_PAUSE, paused_at=now)


def resume(session: Session, workspace_id: str) -> None:
    """Grant again, on the next such day; the months of the pause are not made up for.

    Raises:
        NotFound: the workspace has no monthly grant.

    """
    is_own = CreditSchedule.workspace_id == workspace_id
    day = session.scalar(select(CreditSchedule.day).where(is_own).with_for_update())
    next_at = credit_schedules.first_due(database_clock.value(session), day or 1)
    _changed(session, workspace_id, Action.CREDIT_SCHEDULE_RESUME, paused_at=None, next_at=next_at)


def _changed(session: Session, workspace_id: str, action: Action, **values: Any) -> None:
    """Pause or resume a schedule; record it, unless the schedule was paused or resumed already."""
    paused = CreditSchedule.paused_at
    is_own = CreditSchedule.workspace_id == workspace_id
    is_other = paused.is_not(None) if values["paused_at"] is None else paused.is_(None)
    changed = update(CreditSchedule).where(is_own, is_other).values(values)
    changed = changed.returning(CreditSchedule.workspace_id).execution_options(synchronize_session=False)
    if session.scalar(changed) is not None:
        audit_log.record(session, action, object_id=workspace_id, workspace_id=workspace_id)
    elif session.scalar(select(CreditSchedule.day).where(is_own)) is None:
        raise NotFound(UNKNOWN)


def list_all(session: Session, workspace_id: str | None = None) -> Sequence[Row[CreditSchedule, str]]:
    """Return the schedules with the names of their workspaces: of all, or of one."""
    query = select(CreditSchedule, Workspace.name).join(
        Workspace, Workspace.id == CreditSchedule.workspace_id
    )
    if workspace_id is not None:
        query = query.where(CreditSchedule.workspace_id == workspace_id)
    return session.execute(query.order_by(Workspace.name, Workspace.id)).all()


def _due(_dialect: str) -> Select[str, datetime]:
    is_due = (CreditSchedule.next_at <= database_clock.now(), CreditSchedule.paused_at.is_(None))
    query = select(CreditSchedule.workspace_id, CreditSchedule.next_at).where(*is_due)
    return query.order_by(CreditSchedule.next_at).limit(MAX_DUE)


_DUE = Statement(Due, _due)


def due(session: Session) -> list[Due]:
    """Return the grants that are due, the oldest first."""
    return _DUE.all(session, {})


def grant(session: Session, one: Due) -> Turn | None:
    """Make a grant that is due, and let expire what is not carried over.

    Return None if another process did, or paused it.

    After a downtime, it is called for each month that was missed.
    """
    is_same = (
        CreditSchedule.workspace_id == one.workspace_id,
        CreditSchedule.next_at == one.next_at,
        CreditSchedule.paused_at.is_(None),
    )
    schedule = session.scalar(select(CreditSchedule).where(*is_same).with_for_update())
    if schedule is None:
        return None
    next_at = credit_schedules.next_due(one.next_at, schedule.day)
    session.execute(update(CreditSchedule).where(*is_same).values(next_at=next_at, last_at=one.next_at))
    workspace = _locked(session, one.workspace_id)
    made = credit_schedules.turn(
        left=schedule.left,
        spent=workspace.spent - schedule.spent_before,
        available=workspace.available,
        granted=schedule.credits * (seats(session, one.workspace_id) if schedule.per_seat else 1),
        carried=schedule.carried,
    )
    now, label = database_clock.now(), f"{one.next_at:%Y-%m-%d}"
    if made.expired:
        reason = f"Not carried over on {label}"
        credits.expire(session, one.workspace_id, made.expired, reason=reason, now=now)
    if made.granted:
        reason = f"Monthly grant of {label}"
        credits.grant(session, one.workspace_id, made.granted, reason=reason, now=now)
    changes: dict[str, Any] = {"left": made.left, "spent_before": workspace.spent}
    session.execute(
        update(CreditSchedule).where(CreditSchedule.workspace_id == one.workspace_id).values(changes)
    )
    return made


def seats(session: Session, workspace_id: str) -> int:
    """Return the number of accounts that are not disabled."""
    is_seat = (Account.workspace_id == workspace_id, Account.disabled_at.is_(None))
    return session.scalar(select(func.count()).select_from(Account).where(*is_seat)) or 0


def of_workspace(session: Session, workspace_id: str) -> Schedule | None:
    """Return the monthly grant of a workspace as a forecast needs it; None if it is paused."""
    row = session.get(CreditSchedule, workspace_id, populate_existing=True)
    if row is None or row.paused_at is not None:
        return None
    spent = session.scalar(select(Workspace.spent).where(Workspace.id == workspace_id)) or 0
    return Schedule(
        credits=row.credits * (seats(session, workspace_id) if row.per_seat else 1),
        day=row.day,
        carried=row.carried,
        left=max(0, row.left - max(0, spent - row.spent_before)),
        next_at=row.next_at,
    )


def _locked(session: Session, workspace_id: str) -> Row[int, int]:
    """Return the available and the spent credits of a workspace, and lock its row."""
    query = select(Workspace.available, Workspace.spent).where(Workspace.id == workspace_id)
    return session.execute(query.with_for_update(key_share=True)).one()
