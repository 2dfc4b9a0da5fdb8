"""What is outdated in the records of people: addresses that bounced, and companies that they have left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select

from app.domain.findings import EmailStatus
from app.engine.contacts.bounce_reports import BOUNCED
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.lookups import contact_data, representations
from app.engine.lookups.lookup_parts import CurrentCompany
from app.features.crm.index.crm_people import CrmPerson
from app.features.crm.schedules import selection
from app.features.crm.schedules.tables import CrmSchedule, Mark
from app.infra.database.session import Session


def of(session: Session, schedule: CrmSchedule, contact_of: Mapping[str, str | None]) -> dict[str, list[str]]:
    """Return the marks of these records, given with their contact if one was found.

    Only addresses that the workspace owns are compared: the mark of another one would tell it something.
    """
    people = selection.people_of(session, schedule, list(contact_of))
    ids = {contact_id for contact_id in contact_of.values() if contact_id is not None}
    contacts = session.scalars(select(Contact).where(Contact.id.in_(ids))).all()
    data = contact_data.load(session, schedule.workspace_id, contacts)
    employers = _employers(session, contacts)
    shown = {
        contact.id: representations.revealed(data, contact.id)
        for contact in contacts
        if not data.is_suppressed(contact)
    }
    return {
        crm_id: list(_marks(people[crm_id], shown[contact_id], employers.get(contact_id)))
        for crm_id, contact_id in contact_of.items()
        if crm_id in people and contact_id in shown
    }


def _marks(person: CrmPerson, revealed: Mapping[str, Any], current: CurrentCompany | None) -> Iterable[str]:
    bounced = {entry["email"] for entry in revealed["emails"] if _has_bounced(entry)}
    if not bounced.isdisjoint(person.emails):
        yield Mark.BOUNCED.value
    if person.is_outdated(current):
        yield Mark.JOB_CHANGED.value


def _has_bounced(entry: Mapping[str, Any]) -> bool:
    return entry["status"] == EmailStatus.INVALID or BOUNCED in entry["status_reasons"]


def _employers(session: Session, contacts: Iterable[Contact]) -> dict[str, CurrentCompany]:
    """Return the stored company of each contact, by the id of the contact."""
    of_contact = {contact.id: contact.company_id for contact in contacts if contact.company_id}
    query = select(Company.id, Company.name, Company.domain).where(Company.id.in_(of_contact.values()))
    companies = {row.id: CurrentCompany(row.name, row.domain) for row in session.execute(query)}
    return {contact_id: companies[company_id] for contact_id, company_id in of_contact.items()}
