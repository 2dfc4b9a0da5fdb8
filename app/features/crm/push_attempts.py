"""Attempts to push one contact, within a turn of its connection.

If the worker dies during an attempt, the next turn begins the item again, looks for the person in the CRM
first, and finds what the dead worker created. What is about to be written is noted before the request, so
that it is recognized as written by a push even if the response was lost.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import Literal

from sqlalchemy import select

from app.domain.event_types import EventType
from app.engine.events import events
from app.features.crm import people, records
from app.features.crm.connections import PUSHING
from app.features.crm.index import indexed_records
from app.features.crm.index.indexed_records import IndexedRecord
from app.features.crm.outbox import Turn, hold
from app.features.crm.plan import Action
from app.features.crm.pushes import CrmPush, PushItem, PushOutcome
from app.features.crm.records import WrittenValues
from app.features.crm.vendors.notes import Note
from app.features.crm.vendors.person import CompanyRecord, CrmField, Person
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

RETRY_SCHEDULE = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 300, 1800, 7200, 21_600))
"""The waits after failures that may pass; then the item has failed. Rate limits do not count."""
JITTER = 0.2
GIVEN_UP = "given_up"
"""The error of an item whose worker was lost at each attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt to push one contact; `written` recognizes what earlier pushes wrote."""

    item_id: str
    contact_id: str
    number: int
    dry_run: bool
    company_id: str | None
    updates_only: bool
    indexed: IndexedRecord | None
    person: Person = field(repr=False)
    written: WrittenValues


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """The result of an item; `values` are the values as the CRM stored them."""

    outcome: PushOutcome
    error: str | None = None
    actions: Mapping[str, Action] = field(default_factory=dict)
    notes: Sequence[Note] = ()
    companies: Sequence[CompanyRecord] = ()
    crm_id: str | None = None
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    latency_ms: int | None = None


def next_attempt(
    session: Session, turn: Turn, *, now: Moment
) -> Attempt | Literal[PushOutcome.SKIPPED] | None:
    """Begin the next due item and return it; None if none is due.

    An item that may not be pushed is ended as skipped instead, and one that was begun too often as failed.
    There may be thousands of them, so each is ended in a transaction of its own.
    """
    hold(session, turn, now=now)
    query = (
        select(PushItem, CrmPush)
        .join(CrmPush)
        .where(
            PushItem.connection_id == turn.connection_id, PushItem.outcome.is_(None), PushItem.next_at <= now
        )
        .order_by(PushItem.next_at, PushItem.id)
        .limit(1)
    )
    row = session.execute(query).one_or_none()
    if row is None:
        return None
    item, push = row
    if item.attempts > len(RETRY_SCHEDULE):
        _finish(session, item, ItemResult(outcome=PushOutcome.FAILED, error=GIVEN_UP), now=now)
        _record_failure(session, turn, item, now=now)
        return PushOutcome.SKIPPED
    person = _person(session, turn.workspace_id, push, item)
    if isinstance(person, str):
        _finish(session, item, ItemResult(outcome=PushOutcome.SKIPPED, error=person), now=now)
        return PushOutcome.SKIPPED
    record = records.lock(session, turn.connection_id, item.contact_id)  # before the item, as erasures do
    written = records.written_values(session, record)
    indexed = (
        None
        if written.crm_id or push.updates_only
        else indexed_records.find(session, turn.workspace_id, turn.connection_id, person)
    )
    item.attempts += 1
    item.next_at = now + PUSHING.lease
    session.flush()
    return Attempt(
        item_id=item.id,
        contact_id=item.contact_id,
        number=item.attempts,
        dry_run=push.dry_run,
        company_id=push.company_id,
        updates_only=push.updates_only,
        indexed=indexed,
        person=person,
        written=written,
    )


def _person(session: Session, workspace_id: str, push: CrmPush, item: PushItem) -> Person | str:
    """Return the person with the marks of their record, or the reason for not pushing them."""
    if item.marks_only:
        person = people.load_for_marks(session, workspace_id, item.contact_id)
    else:
        link = f"{push.origin}crm/pushes/{push.id}"
        needs_email = not push.updates_only
        person = people.load(
            session, workspace_id, item.contact_id, receipt_link=link, needs_email=needs_email
        )
    if isinstance(person, str) or item.marks is None:
        return person
    return replace(person, values={**person.values, CrmField.MARKS: ", ".join(item.marks)})


def note_values(
    session: Session, turn: Turn, attempt: Attempt, values: Mapping[str, str], *, now: Moment
) -> None:
    """Note what is about to be written, so that it is recognized even if the response is lost."""
    hold(session, turn, now=now)
    records.note(session, records.lock(session, turn.connection_id, attempt.contact_id), values)


def finish(session: Session, turn: Turn, attempt: Attempt, result: ItemResult, *, now: Moment) -> None:
    """Store the result of an attempt; an item or contact that was deleted meanwhile stays deleted."""
    hold(session, turn, now=now, progressed=True)
    item = session.get(PushItem, attempt.item_id, populate_existing=True)
    if item is None:
        return
    if result.crm_id is not None and not attempt.dry_run:
        record = records.lock(session, turn.connection_id, attempt.contact_id)
        record.crm_id = result.crm_id
        records.note(session, record, result.values)
    _finish(session, item, result, now=now)
    if result.outcome is PushOutcome.FAILED:
        _record_failure(session, turn, item, now=now)


def postpone(session: Session, turn: Turn, attempt: Attempt, error: str, *, now: Moment) -> None:
    """Schedule the next attempt after a failure that may pass; after the last one the item has failed."""
    hold(session, turn, now=now, progressed=True)
    item = session.get(PushItem, attempt.item_id, populate_existing=True)
    if item is None:
        return
    if attempt.number > len(RETRY_SCHEDULE):
        _finish(session, item, ItemResult(outcome=PushOutcome.FAILED, error=error), now=now)
        _record_failure(session, turn, item, now=now)
        return
    jitter = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 -- not a secret
    item.next_at = now + RETRY_SCHEDULE[attempt.number - 1] * jitter
    item.error = error
    session.flush()


def requeue(session: Session, turn: Turn, attempt: Attempt, *, now: Moment) -> None:
    """Make the item due again at once, without counting the attempt: the reason was not this contact."""
    hold(session, turn, now=now)
    item = session.get(PushItem, attempt.item_id, populate_existing=True)
    if item is not None:
        item.attempts -= 1
        item.next_at = now
        session.flush()


def _record_failure(session: Session, turn: Turn, item: PushItem, *, now: Moment) -> None:
    """Record the event of the first contact of a push that failed; the receipts name the others."""
    data = {"connection_id": turn.connection_id, "vendor": turn.vendor, "push_id": item.push_id}
    events.record(
        session,
        turn.workspace_id,
        EventType.CRM_PUSH_FAILED,
        data | {"error": item.error},
        dedup_key=f"crm:{item.push_id}",
        now=now,
    )


def _finish(session: Session, item: PushItem, result: ItemResult, *, now: Moment) -> None:
    item.outcome = result.outcome.value
    item.error = result.error
    item.actions = {name: action.value for name, action in result.actions.items()}
    item.notes = [note.as_json() for note in result.notes]
    item.companies = [asdict(company) for company in result.companies]
    item.finished_at = now
    item.latency_ms = result.latency_ms
    session.flush()
