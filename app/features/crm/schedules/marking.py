"""Whom of a list a run marks in the CRM besides those it asks for: nothing is bought for a mark.

A record is compared with the contact that the workspace pushes to it, or else with the one that has its
profile or an address that the workspace may be told about. A name at a company does not suffice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import select

from app.domain.records.subjects import Subject
from app.engine.matching import contact_matching, reverse_lookups
from app.features.crm import records
from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.schedules import marks, selection
from app.features.crm.schedules.runs import Held
from app.features.crm.schedules.tables import CrmScheduleRecord, RecordOutcome
from app.features.crm.vendors import registry
from app.features.crm.vendors.person import CrmField
from app.infra.database.bulk_statements import is_among
from app.infra.database.session import Session


def store(session: Session, held: Held, ids: Sequence[str], *, at: datetime) -> None:
    """Store receipts of the records on a page that are outdated, or were marked before.

    Without a property for marks, nothing is compared.
    """
    if CrmField.MARKS not in held.connection.mapping:
        return
    asked = _of_run(session, held, ids)
    people = selection.people_of(session, held.schedule, [crm_id for crm_id in ids if crm_id not in asked])
    contact_of = _contacts(session, held, people)
    outdated = marks.of(session, held.schedule, contact_of)
    marked = marked_before(session, held, contact_of.values())
    rows = [
        {
            "crm_id": crm_id,
            "asked": "",
            "outcome": RecordOutcome.CHECKED.value,
            "contact_id": contact_of[crm_id],
            "marks": found,
        }
        for crm_id, found in outdated.items()
        if found or contact_of[crm_id] in marked
    ]
    selection.add(session, held.run, rows, at=at)


def marked_before(session: Session, held: Held, contact_ids: Iterable[str]) -> set[str]:
    """Return the contacts in whose records a push has written the property of marks."""
    name = held.connection.mapping[CrmField.MARKS]
    return records.written_to(session, held.connection.id, list(contact_ids), name)


def _of_run(session: Session, held: Held, ids: Sequence[str]) -> frozenset[str]:
    """Return the records of which the run has a receipt."""
    record = CrmScheduleRecord.__table__.c
    query = select(record.crm_id).where(record.run_id == held.run.id, is_among(session, record.crm_id, ids))
    return frozenset(session.scalars(query))


def _contacts(session: Session, held: Held, people: Mapping[str, CrmPerson]) -> dict[str, str]:
    """Return the contact of each of these records that has one."""
    crm, kind = registry.NAMED[held.connection.vendor], RecordKind(held.schedule.kind)
    pushed = records.contacts_of(
        session, held.connection.id, [crm.record_id(kind, crm_id) for crm_id in people]
    )
    found = {crm_id: pushed.get(crm.record_id(kind, crm_id)) for crm_id in people}
    known = {crm_id: contact_id for crm_id, contact_id in found.items() if contact_id is not None}
    others = [crm_id for crm_id in people if crm_id not in known]
    subjects = reverse_lookups.visible(
        session, held.schedule.workspace_id, [_subject(people[crm_id]) for crm_id in others]
    )
    matches = contact_matching.find_by_keys(session, subjects)
    matched = {
        crm_id: match.contact.id
        for crm_id, match in zip(others, matches, strict=True)
        if match.outcome == "matched" and match.contact is not None
    }
    return known | matched


def _subject(person: CrmPerson) -> Subject:
    return Subject(
        linkedin_url=next(iter(person.profiles), None),
        email=next(iter(person.emails), None),
        full_name=person.name or None,
    ).with_plain_names()
