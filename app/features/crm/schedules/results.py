"""The end of a run: what was found and the marks are pushed to the records of the list, and to no others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select, update

from app.features.crm import people, pushes, records
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.pushes import Marks, PushOptions
from app.features.crm.schedules import marking, times
from app.features.crm.schedules.runs import Held
from app.features.crm.schedules.tables import CrmScheduleRecord, RecordOutcome, RunStatus, ScheduleState
from app.features.crm.vendors import registry
from app.features.crm.vendors.person import CrmField
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
    """Submit a push of the people whom the run found, and of marks; return its id, None without any."""
    schedule, run = held.schedule, held.run
    query = select(CrmScheduleRecord).where(
        CrmScheduleRecord.run_id == run.id, CrmScheduleRecord.contact_id.is_not(None)
    )
    rows = session.scalars(query.order_by(CrmScheduleRecord.contact_id, CrmScheduleRecord.number)).all()
    found, marked = _found(session, held, rows), _marked(session, held, rows)
    pushed = {
        row.contact_id or "": row
        for row in rows
        if row.number in found | marked and _bind(session, held, row)
    }
    if not pushed:
        return None
    alone = [contact_id for contact_id, row in pushed.items() if row.number not in found]
    is_mapped = CrmField.MARKS in held.connection.mapping
    marks = {contact_id: row.marks for contact_id, row in pushed.items()} if is_mapped else {}
    return pushes.submit(
        session,
        held.connection,
        pushed,
        account_id=schedule.account_id,
        origin=schedule.origin,
        options=PushOptions(updates_only=True),
        marks=Marks(marks, frozenset(alone)),
        now=at,
    ).id


def _found(session: Session, held: Held, rows: Sequence[CrmScheduleRecord]) -> frozenset[int]:
    """Return the numbers of the people who were asked for, and of whom something may be pushed."""
    asked = {row.number: row.contact_id or "" for row in rows if row.outcome != RecordOutcome.CHECKED}
    pushable = people.pushable(session, held.schedule.workspace_id, set(asked.values()))
    return frozenset(number for number, contact_id in asked.items() if contact_id in pushable)


def _marked(session: Session, held: Held, rows: Sequence[CrmScheduleRecord]) -> frozenset[int]:
    """Return the numbers of the records whose marks are to be written or removed in the CRM."""
    if CrmField.MARKS not in held.connection.mapping:
        return frozenset()
    before = marking.marked_before(session, held, {row.contact_id or "" for row in rows})
    return frozenset(row.number for row in rows if row.marks or row.contact_id in before)


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
