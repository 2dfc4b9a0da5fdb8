"""Whom of a list a run asks for: people whose record lacks a field, or was not changed for long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, or_, select

from app.features.crm.index import crm_index
from app.features.crm.index.crm_index import CrmIndexRecord
from app.features.crm.index.crm_people import CrmPerson
from app.features.crm.schedules.runs import Held
from app.features.crm.schedules.tables import (
    CrmSchedule,
    CrmScheduleRecord,
    CrmScheduleRun,
    RecordOutcome,
    RunStatus,
)
from app.features.crm.vendors.members import Members
from app.infra.database.bulk_statements import insert_all, is_among
from app.infra.database.session import Session

MAX_MEMBERS = 100_000
"""The members of a list that a run reads; the others are left out."""
ASK_AGAIN = timedelta(days=30)
"""After this time a schedule asks again for a person of whom something still lacks."""
_WITHOUT_ANSWER = (
    RecordOutcome.FAILED.value,
    RecordOutcome.NOT_ASKED.value,
    RecordOutcome.CHECKED.value,
)


def store(session: Session, held: Held, page: Members, *, at: datetime) -> str | None:
    """Store whom of a page the run asks for; return the position of the next page, None after the last."""
    schedule, run = held.schedule, held.run
    ids = list(dict.fromkeys(page.ids))
    people = people_of(session, schedule, ids)
    settled = _settled(session, schedule, run, ids, at=at)
    wanted = [
        (crm_id, asked)
        for crm_id in ids
        if crm_id in people and crm_id not in settled and (asked := _asked(schedule, people[crm_id], at))
    ][: max(0, schedule.max_people - run.people)]
    add(session, run, [{"crm_id": crm_id, "asked": ",".join(asked)} for crm_id, asked in wanted], at=at)
    run.members, run.unindexed = run.members + len(ids), run.unindexed + len(ids) - len(people)
    run.people += len(wanted)
    run.is_partial = run.is_partial or page.is_partial
    is_over = run.people >= schedule.max_people or run.members >= MAX_MEMBERS or not held.is_active
    run.position = None if is_over else page.position
    if run.position is None:
        run.status = RunStatus.ENRICHING.value
    session.flush()
    return run.position


def add(session: Session, run: CrmScheduleRun, rows: Sequence[Mapping[str, Any]], *, at: datetime) -> None:
    """Insert receipts of a run, behind those that it has."""
    number = CrmScheduleRecord.__table__.c.number
    last = session.scalar(select(func.max(number)).where(CrmScheduleRecord.run_id == run.id))
    receipt: dict[str, Any] = {
        "run_id": run.id,
        "schedule_id": run.schedule_id,
        "job_id": None,
        "item": None,
        "outcome": None,
        "error": None,
        "charged": 0,
        "contact_id": None,
        "marks": [],
        "at": at,
    }
    first = 0 if last is None else last + 1
    numbered = [{**receipt, **row, "number": number} for number, row in enumerate(rows, first)]
    insert_all(session, CrmScheduleRecord, numbered)


def people_of(session: Session, schedule: CrmSchedule, crm_ids: Sequence[str]) -> dict[str, CrmPerson]:
    """Return the people of these records as the index has them, by the id of the record."""
    rows = session.scalars(
        select(CrmIndexRecord).where(
            CrmIndexRecord.connection_id == schedule.connection_id,
            CrmIndexRecord.kind == schedule.kind,
            is_among(session, CrmIndexRecord.__table__.c.crm_id, crm_ids),
        )
    )
    return {row.crm_id: crm_index.person_of(row.kind, row.crm_id, row.changed_at, row.person) for row in rows}


def _settled(
    session: Session, schedule: CrmSchedule, run: CrmScheduleRun, ids: Sequence[str], *, at: datetime
) -> frozenset[str]:
    """Return the records that this run has already, or that were answered not long ago."""
    record = CrmScheduleRecord.__table__.c
    pause = ASK_AGAIN if schedule.refresh_days is None else timedelta(days=schedule.refresh_days)
    is_answered = (record.at > at - pause) & record.outcome.not_in(_WITHOUT_ANSWER)
    query = select(record.crm_id).where(
        record.schedule_id == schedule.id,
        is_among(session, record.crm_id, ids),
        or_(record.run_id == run.id, is_answered),
    )
    return frozenset(session.scalars(query))


def _asked(schedule: CrmSchedule, person: CrmPerson, at: datetime) -> list[str]:
    """Return the fields to ask for: those that lack, or all if the record was not changed for long."""
    fields = list(schedule.fields)
    refreshed_at = None if schedule.refresh_days is None else at - timedelta(days=schedule.refresh_days)
    if refreshed_at is not None and person.changed_at is not None and person.changed_at <= refreshed_at:
        return fields
    present = {"email": person.emails, "phone": person.phones}
    return [name for name in fields if not present[name]]
