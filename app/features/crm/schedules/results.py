"""The end of a run: what was found is pushed to the records of the list, and to no others."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select, update

from app.features.crm import people, pushes, records
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.pushes import PushOptions
from app.features.crm.schedules import times
from app.features.crm.schedules.runs import Held
from app.features.crm.schedules.tables import CrmScheduleRecord, RecordOutcome, RunStatus, ScheduleState
from app.features.crm.vendors import registry
from app.infra.database.session import Session

OTHER_RECORD = "other_record"
"""The error of a person whom the workspace pushes to another record."""


def end(session: Session, held: Held, *, at: datetime) -> None:
    """Push what the run found, and end it; the schedule is due again at its next time."""
    schedule, run = held.schedule, held.run
    waiting = update(CrmScheduleRecord).where(
        CrmScheduleRecord.run_id == run.id, CrmScheduleRecord.outcome.is_(None)
    )
    session.execute(waiting.values(outcome=RecordOutcome.NOT_ASKED.value))
    run.push_id = _push(session, held, at=at)
    run.status, run.position, run.finished_at = RunStatus.FINISHED.value, None, at
    schedule.run_id = None
    if schedule.state == ScheduleState.ACTIVE and schedule.next_at is not None and schedule.next_at <= at:
        schedule.next_at = times.next_due(schedule.hour, schedule.weekday, after=at)
    session.flush()


def _push(session: Session, held: Held, *, at: datetime) -> str | None:
    """Submit a push of the people whom the run found; return its id, None without any."""
    schedule, run = held.schedule, held.run
    query = select(CrmScheduleRecord).where(
        CrmScheduleRecord.run_id == run.id, CrmScheduleRecord.contact_id.is_not(None)
    )
    rows = session.scalars(query.order_by(CrmScheduleRecord.contact_id, CrmScheduleRecord.number)).all()
    pushable = people.pushable(session, schedule.workspace_id, {row.contact_id or "" for row in rows})
    contact_ids = [
        row.contact_id
        for row in rows
        if row.contact_id is not None and row.contact_id in pushable and _bind(session, held, row)
    ]
    if not contact_ids:
        return None
    return pushes.submit(
        session,
        held.connection,
        contact_ids,
        account_id=schedule.account_id,
        origin=schedule.origin,
        options=PushOptions(updates_only=True),
        now=at,
    ).id


def _bind(session: Session, held: Held, row: CrmScheduleRecord) -> bool:
    """Remember the record as the one of the contact; return False if another one is."""
    record = records.lock(session, held.connection.id, row.contact_id or "")
    crm_id = registry.NAMED[held.connection.vendor].record_id(RecordKind(held.schedule.kind), row.crm_id)
    if record.crm_id not in {None, crm_id}:
        row.error = OTHER_RECORD
        return False
    record.crm_id = crm_id
    session.flush()
    return True
