"""Schedules as a workspace sees them: create, change, pause, resume, run now and delete.

Lock the connection first, then the schedule, then its item of work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from app.domain.audit_actions import Action
from app.domain.errors import FieldError, NotFound, ValidationFailed
from app.domain.ids import new_id
from app.domain.messages import Message
from app.engine.audit_log import entries as audit_log
from app.engine.work import items
from app.engine.work.items import NewItem
from app.features.crm.connections import CrmConnection
from app.features.crm.schedules import times
from app.features.crm.schedules.tables import SCHEDULING, CrmSchedule, ScheduleState
from app.infra.database.session import Session

MAX_SCHEDULES = 20
"""The schedules of a connection."""
_NOT_FOUND = Message(
    "The connection has no such schedule. List them with GET /api/crm/connections/<id>/schedules."
)
_NOT_ACTIVE = Message(
    "The schedule is {state}. Resume it first: it then runs when it is due next, or at once when asked."
)


def create(
    session: Session,
    connection: CrmConnection,
    settings: Mapping[str, Any],
    *,
    account_id: str,
    origin: str,
    now: datetime,
) -> CrmSchedule:
    """Insert a schedule with these settings (see `NewScheduleSchema`); the connection must be locked.

    Raises:
        ValidationFailed: the connection has too many.

    """
    mine = select(func.count()).where(CrmSchedule.connection_id == connection.id)
    if session.scalars(mine).one() >= MAX_SCHEDULES:
        detail = Message("The connection has {max} schedules. Delete one first.", max=MAX_SCHEDULES)
        raise ValidationFailed(detail, errors=(FieldError("/list_id", detail),))
    schedule = CrmSchedule(
        id=new_id("crs"),
        workspace_id=connection.workspace_id,
        connection_id=connection.id,
        account_id=account_id,
        origin=origin,
        state=ScheduleState.ACTIVE.value,
        created_at=now,
        next_at=times.next_due(settings["hour"], settings["weekday"], after=now),
        **settings,
    )
    session.add(schedule)
    session.flush()
    _wake(session, schedule)
    _record(session, Action.CRM_SCHEDULE_CREATE, schedule)
    session.refresh(schedule)
    return schedule


def of_connection(session: Session, workspace_id: str, connection_id: str) -> Sequence[CrmSchedule]:
    """Return the schedules of the workspace's connection, oldest first."""
    query = select(CrmSchedule).where(
        CrmSchedule.workspace_id == workspace_id, CrmSchedule.connection_id == connection_id
    )
    return session.scalars(query.order_by(CrmSchedule.id)).all()


def get(
    session: Session, workspace_id: str, connection_id: str, schedule_id: str, *, lock: bool = False
) -> CrmSchedule:
    """Return the schedule of the workspace's connection, optionally locked until the transaction ends."""
    query = select(CrmSchedule).where(
        CrmSchedule.id == schedule_id,
        CrmSchedule.connection_id == connection_id,
        CrmSchedule.workspace_id == workspace_id,
    )
    if lock:
        query = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    schedule = session.scalar(query)
    if schedule is None:
        raise NotFound(_NOT_FOUND)
    return schedule


def change(session: Session, schedule: CrmSchedule, settings: Mapping[str, Any], *, now: datetime) -> None:
    """Store other settings of a locked schedule; a run that is under way goes on with them."""
    for name, value in settings.items():
        setattr(schedule, name, value)
    if schedule.state == ScheduleState.ACTIVE and not settings.keys().isdisjoint({"hour", "weekday"}):
        schedule.next_at = times.next_due(schedule.hour, schedule.weekday, after=now)
        _wake(session, schedule)
    session.flush()
    _record(session, Action.CRM_SCHEDULE_CHANGE, schedule)


def pause(session: Session, schedule: CrmSchedule) -> None:
    """Pause a locked schedule: its open enrichment ends, and nobody else is asked for."""
    if schedule.state == ScheduleState.PAUSED:
        return
    schedule.state = ScheduleState.PAUSED.value
    schedule.reason, schedule.waiting, schedule.next_at = None, None, None
    session.flush()
    _record(session, Action.CRM_SCHEDULE_PAUSE, schedule)


def resume(session: Session, schedule: CrmSchedule, *, account_id: str, now: datetime) -> None:
    """Let a locked schedule go on, at the cost of this account; one that is active stays as it is."""
    if schedule.state == ScheduleState.ACTIVE:
        return
    schedule.state, schedule.account_id = ScheduleState.ACTIVE.value, account_id
    schedule.reason, schedule.waiting = None, None
    schedule.next_at = times.next_due(schedule.hour, schedule.weekday, after=now)
    session.flush()
    _wake(session, schedule)
    _record(session, Action.CRM_SCHEDULE_RESUME, schedule)


def run_now(session: Session, schedule: CrmSchedule, *, now: datetime) -> None:
    """Make a locked schedule due now; nothing changes while a run is under way.

    Raises:
        ValidationFailed: it is paused or stopped.

    """
    if schedule.state != ScheduleState.ACTIVE:
        detail = _NOT_ACTIVE.format(state=schedule.state)
        raise ValidationFailed(detail, errors=(FieldError("", detail),))
    if schedule.run_id is not None:
        return
    schedule.next_at = now
    session.flush()
    _wake(session, schedule)
    _record(session, Action.CRM_SCHEDULE_RUN, schedule)


def delete(session: Session, schedule: CrmSchedule) -> None:
    """Delete a locked schedule with its runs; its open enrichment ends, and its pushes are made."""
    session.delete(schedule)
    session.flush()
    items.remove(session, [schedule.id])
    _record(session, Action.CRM_SCHEDULE_DELETE, schedule)


def _wake(session: Session, schedule: CrmSchedule) -> None:
    """Make the schedule due at its next time; the turn of a worker is over, and another one continues."""
    due_at = schedule.next_at if schedule.run_id is None else schedule.created_at
    items.add(session, SCHEDULING, NewItem(schedule.id, schedule.workspace_id, due_at))


def _record(session: Session, action: Action, schedule: CrmSchedule) -> None:
    audit_log.record(session, action, object_id=schedule.id, workspace_id=schedule.workspace_id)
