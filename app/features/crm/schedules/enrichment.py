"""The enrichments of a run: one at a time, each submitted exactly once, and counted when it is finished.

An enrichment is submitted in the transaction that marks its people, under the lock of the schedule. A process
that is killed at any moment has therefore done both or neither. It asks for as many people as the budget and
the credits of the workspace suffice for, so that no person is asked for in part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, and_, case, func, or_, select, update

from app.domain.errors import InsufficientCredits, PurposeRequired, SpendingLimitReached
from app.domain.kinds import Kind, Outcome
from app.domain.normal.companies.employers import given_employer
from app.domain.records.subjects import Subject
from app.engine.accounts.workspaces import balance
from app.engine.contacts.contacts import Contact
from app.engine.contacts.hidden_values import ANSWERED_ABOUT
from app.engine.jobs import submission
from app.engine.jobs.jobs import PURPOSE, USE_OWN_RECORDS, Job, JobItem
from app.engine.jobs.result_reuse import NO_REUSE
from app.engine.jobs.submission import JobRequest
from app.engine.work import turns
from app.features.crm.index.crm_people import CrmPerson
from app.features.crm.schedules import marks, results, runs, selection, times
from app.features.crm.schedules.runs import BUDGET_SPENT, Held, Step
from app.features.crm.schedules.tables import CrmScheduleRecord, CrmScheduleRun, RecordOutcome
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.settings import Settings

SIZE = 100
"""The people of an enrichment."""
PAUSE = timedelta(seconds=5)
"""Time between two turns at a run whose enrichment is open."""
EXPIRED = "job_expired"
_ALWAYS_FOUND = ("company", "profile")
"""What is asked for besides the fields of the schedule: it is free, and shows who has moved."""
_REFUSALS = frozenset({InsufficientCredits.code, SpendingLimitReached.code, PurposeRequired.code})
"""The errors that a member resolves: credits, a limit, or a purpose. The schedule stops."""
_BARRED = (Outcome.SUPPRESSED, Outcome.EXCLUDED)


def advance(session: Session, step: Step, *, settings: Settings, now: Moment) -> str | None:
    """Count the enrichment that has ended, and submit the next one or end the run.

    Return the id of the new job, which the caller publishes; the turn is over.
    """
    held = runs.hold(session, step, now=now)
    at = database_clock.value(session, now)
    is_open = held.run.job_id is not None and not _collect(session, held, at=at)
    job_id = None
    if not is_open:
        job_id = _submit_next(session, held, settings=settings, now=now, at=at)
        if job_id is None:
            results.end(session, held, at=at)
            turns.end(session, step.work, due_at=held.schedule.next_at)
            return None
    turns.end(session, step.work, due_at=at + PAUSE)
    return job_id


def spent(session: Session, schedule_id: str, *, at: datetime) -> int:
    """Return the credits that the schedule has spent in the calendar month, with those on hold.

    Runs that began in it have counted what they spent. The receipts, which lead to the jobs of an earlier run
    that went on in it, are erased with people.
    """
    start, _end = times.month_of(at)
    run, record = CrmScheduleRun.__table__.c, CrmScheduleRecord.__table__.c
    began = (run.schedule_id == schedule_id, run.started_at >= start)
    counted = select(func.coalesce(func.sum(run.charged), 0)).where(*began)
    earlier = select(run.id).where(run.schedule_id == schedule_id, run.started_at < start)
    of_earlier = select(record.job_id).where(record.run_id.in_(earlier), record.job_id.is_not(None))
    open_jobs = select(run.job_id).where(*began, run.job_id.is_not(None))
    used = case((Job.finished_at.is_(None), Job.held), else_=Job.charged)
    uncounted = select(func.coalesce(func.sum(used), 0)).where(
        or_(Job.id.in_(open_jobs), and_(Job.id.in_(of_earlier), Job.created_at >= start))
    )
    return sum(int(session.scalars(query).one()) for query in (counted, uncounted))


def _submit_next(
    session: Session, held: Held, *, settings: Settings, now: Moment, at: datetime
) -> str | None:
    """Submit the next enrichment and return its job; None if nobody is left, or the schedule has stopped."""
    while held.is_active:
        first = session.scalar(_waiting(held).limit(1))
        if first is None:
            return None
        fields = first.asked.split(",")
        count = _affordable(session, held, fields, settings=settings, at=at)
        rows = session.scalars(
            _waiting(held).where(CrmScheduleRecord.asked == first.asked).limit(count)
        ).all()
        if not rows:
            return None
        if job_id := _submit(session, held, rows, fields, settings=settings, now=now):
            return job_id
    return None


def _affordable(
    session: Session, held: Held, fields: Sequence[str], *, settings: Settings, at: datetime
) -> int:
    """Return how many people can be asked for; 0 after stopping the schedule."""
    if reason := runs.lacks_payer(session, held.schedule):
        _stop(session, held, reason, at)
        return 0
    price = sum(map(settings.price_of, fields))
    if price == 0:
        return SIZE
    left = held.schedule.monthly_credits - spent(session, held.schedule.id, at=at)
    available = balance(session, held.schedule.workspace_id).available
    count = min(left, available) // price
    if count <= 0:
        _stop(session, held, BUDGET_SPENT if left < price else InsufficientCredits.code, at)
        return 0
    return min(SIZE, count)


def _submit(
    session: Session,
    held: Held,
    rows: Sequence[CrmScheduleRecord],
    fields: Sequence[str],
    *,
    settings: Settings,
    now: Moment,
) -> str | None:
    """Submit an enrichment of those of these people who are identified; None if nobody is."""
    schedule, run = held.schedule, held.run
    people = selection.people_of(session, schedule, [row.crm_id for row in rows])
    asked = [(row, subject) for row in rows if (subject := _subject(people.get(row.crm_id))) is not None]
    unidentified = {row.number for row in rows} - {row.number for row, _subject in asked}
    _update(session, run.id, unidentified, outcome=RecordOutcome.UNIDENTIFIED.value)
    if not asked:
        return None
    price = len(asked) * sum(map(settings.price_of, fields))
    request: dict[str, Any] = {
        "entity": "person",
        "fields": sorted({*fields, *_ALWAYS_FOUND}),
        "max_credits": price,
        USE_OWN_RECORDS: False,  # the record itself would answer, with what it has already
    }
    if schedule.purpose is not None:
        request[PURPOSE] = schedule.purpose
    job_request = JobRequest(
        kind=Kind.ENRICHMENT_REQUEST,
        workspace_id=schedule.workspace_id,
        account_id=schedule.account_id,
        request=request,
        dedup_key={"crm_schedule_run": run.id, "job": run.jobs},
        price=price,
        allow_partial_hold=True,
        items=tuple({"subject": subject.as_dict()} for _row, subject in asked),
    )
    deadline = timedelta(seconds=settings.job_deadline_seconds)
    job = submission.submit(session, job_request, freshness=NO_REUSE, deadline=deadline, now=now).job
    run.job_id, run.jobs = job.id, run.jobs + 1
    changes = [
        {"run_id": run.id, "number": row.number, "job_id": job.id, "item": item}
        for item, (row, _subject) in enumerate(asked)
    ]
    session.flush()
    session.execute(update(CrmScheduleRecord), changes)
    return job.id


def _subject(person: CrmPerson | None) -> Subject | None:
    """Return whom the record names; None for nobody, and for a record that the CRM no longer has."""
    if person is None:
        return None
    employer = given_employer(person.domain or None, person.company or None)
    subject = Subject(
        linkedin_url=next(iter(person.profiles), None),
        email=next(iter(person.emails), None),
        full_name=person.name or None,
        company_domain=employer.domain,
        company_name=None if employer.domain else employer.name,  # each is another way to name a person
    ).with_plain_names()
    if not subject.is_identified and person.phones:
        subject = Subject(phone=person.phones[0], full_name=subject.full_name)
    return subject if subject.is_identified else None


def _collect(session: Session, held: Held, *, at: datetime) -> bool:
    """Store what the enrichment under way found of each person; return False if it is not finished."""
    run = held.run
    job = session.get(Job, run.job_id, populate_existing=True)
    if job is not None and job.finished_at is None:
        return False
    items = {
        item.index: item for item in session.scalars(select(JobItem).where(JobItem.job_id == run.job_id))
    }
    rows = session.scalars(
        select(CrmScheduleRecord).where(
            CrmScheduleRecord.run_id == run.id, CrmScheduleRecord.job_id == run.job_id
        )
    ).all()
    contacts = _existing(session, [_contact_of(items.get(row.item or 0)) for row in rows])
    found = {row.number: _contact_of(items.get(row.item or 0)) for row in rows}
    known = {number: contact_id for number, contact_id in found.items() if contact_id in contacts}
    outdated = marks.of(session, held.schedule, {row.crm_id: known.get(row.number) for row in rows})
    for row in rows:
        row.outcome, row.error, row.charged = _result(row, items.get(row.item or 0))
        row.contact_id = known.get(row.number)
        row.marks = outdated.get(row.crm_id, [])
    run.charged += 0 if job is None else job.charged
    run.job_id = None
    session.flush()
    refusals = {row.error for row in rows if row.error in _REFUSALS}
    if refusals and held.is_active:
        _stop(session, held, min(refusals), at)
    return True


def _result(row: CrmScheduleRecord, item: JobItem | None) -> tuple[str, str | None, int]:
    """Return the outcome, the code of the error, and the credits charged for a person of an ended job.

    It is found if all fields were found that the record lacked, whatever else the enrichment found.
    """
    if item is None:
        return RecordOutcome.FAILED.value, EXPIRED, 0
    error = None if item.error is None else str(item.error["code"])
    if item.outcome in _BARRED:
        return item.outcome, error, item.charged
    asked = row.asked.split(",")
    found = [name for name in asked if (item.result or {}).get(f"{name}s")]
    if len(found) == len(asked):
        return Outcome.FOUND.value, error, item.charged
    if found:
        return Outcome.PARTIAL.value, error, item.charged
    if error is None and item.outcome is not None:
        return Outcome.NOT_FOUND.value, None, item.charged
    outcome = RecordOutcome.NOT_ASKED if error in _REFUSALS else RecordOutcome.FAILED
    return outcome.value, error or EXPIRED, item.charged


def _contact_of(item: JobItem | None) -> str | None:
    """Return the contact that an item was found to be about."""
    if item is None:
        return None
    card: Mapping[str, Any] = (item.result or {}).get("contact") or {}
    return item.request.get(ANSWERED_ABOUT) or card.get("id")


def _existing(session: Session, contact_ids: Sequence[str | None]) -> frozenset[str]:
    """Return the contacts that exist, which no erasure deletes until the transaction ends."""
    ids = sorted({contact_id for contact_id in contact_ids if contact_id is not None})
    query = select(Contact.id).where(Contact.id.in_(ids)).order_by(Contact.id)
    return frozenset(session.scalars(query.with_for_update(read=True, key_share=True)))


def _waiting(held: Held) -> Select[CrmScheduleRecord]:
    """Return the query for the people who are left."""
    return (
        select(CrmScheduleRecord)
        .where(
            CrmScheduleRecord.run_id == held.run.id,
            CrmScheduleRecord.job_id.is_(None),
            CrmScheduleRecord.outcome.is_(None),
        )
        .order_by(CrmScheduleRecord.number)
    )


def _stop(session: Session, held: Held, reason: str, at: datetime) -> None:
    runs.stop(session, held.schedule, held.connection, reason, run=held.run, at=at)


def _update(session: Session, run_id: str, numbers: set[int], **values: Any) -> None:
    changes = [{"run_id": run_id, "number": number, **values} for number in sorted(numbers)]
    if changes:
        session.execute(update(CrmScheduleRecord), changes)
