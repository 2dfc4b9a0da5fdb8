"""The runs of a schedule and the receipts of their people, as pages and the API show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, select

from app.domain.errors import NotFound
from app.domain.messages import Message
from app.features.crm.pushes import PushItem
from app.features.crm.schedules import selection, times
from app.features.crm.schedules.tables import CrmSchedule, CrmScheduleRecord, CrmScheduleRun
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

_NOT_FOUND = Message(
    "The schedule has no such run. List them with GET /api/crm/connections/<id>/schedules/<id>/runs."
)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run, and the number of its people by outcome, None for those who wait."""

    run: CrmScheduleRun
    counts: Mapping[str | None, int]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one person, and the receipt of their push; `name` is as the CRM has it."""

    record: CrmScheduleRecord
    push: PushItem | None
    name: str


def latest(
    session: Session, schedule: CrmSchedule, *, before: str | None = None, limit: int
) -> list[RunSummary]:
    """Return the runs of a schedule, newest first."""
    query = select(CrmScheduleRun).where(CrmScheduleRun.schedule_id == schedule.id)
    if before is not None:
        query = query.where(CrmScheduleRun.id < before)
    found = session.scalars(query.order_by(CrmScheduleRun.id.desc()).limit(limit)).all()
    return _summaries(session, found)


def get(session: Session, schedule: CrmSchedule, run_id: str) -> RunSummary:
    """Return the run of a schedule."""
    run = session.get(CrmScheduleRun, run_id)
    if run is None or run.schedule_id != schedule.id:
        raise NotFound(_NOT_FOUND)
    return _summaries(session, [run])[0]


def receipts(
    session: Session, schedule: CrmSchedule, run: CrmScheduleRun, *, first: int = 0, limit: int
) -> list[Receipt]:
    """Return the receipts of a run from this number on, in the order in which the people were asked for."""
    query = select(CrmScheduleRecord).where(
        CrmScheduleRecord.run_id == run.id, CrmScheduleRecord.number >= first
    )
    rows = session.scalars(query.order_by(CrmScheduleRecord.number).limit(limit)).all()
    people = selection.people_of(session, schedule, [row.crm_id for row in rows])
    pushed = _pushed(session, run, rows)
    names = {crm_id: person.name for crm_id, person in people.items()}
    return [Receipt(row, pushed.get(row.contact_id or ""), names.get(row.crm_id, "")) for row in rows]


def purge_expired(session: Session, *, before: Moment) -> None:
    """Delete ended runs that began before this time; those that went on in this month are for the budget."""
    month, _end = times.month_of(database_clock.value(session))
    old = (CrmScheduleRun.started_at < before, CrmScheduleRun.finished_at < month)
    session.execute(delete(CrmScheduleRun).where(*old))


def _pushed(session: Session, run: CrmScheduleRun, rows: Sequence[CrmScheduleRecord]) -> dict[str, PushItem]:
    if run.push_id is None:
        return {}
    ids = [row.contact_id for row in rows if row.contact_id is not None and row.error is None]
    query = select(PushItem).where(PushItem.push_id == run.push_id, PushItem.contact_id.in_(ids))
    return {item.contact_id: item for item in session.scalars(query)}


def _summaries(session: Session, found: Sequence[CrmScheduleRun]) -> list[RunSummary]:
    counts: dict[str, Counter[str | None]] = {run.id: Counter() for run in found}
    query = select(CrmScheduleRecord.run_id, CrmScheduleRecord.outcome, func.count())
    grouped = query.where(CrmScheduleRecord.run_id.in_(counts)).group_by(
        CrmScheduleRecord.run_id, CrmScheduleRecord.outcome
    )
    for run_id, outcome, count in session.execute(grouped):
        counts[run_id][outcome] = count
    return [RunSummary(run, counts[run.id]) for run in found]
