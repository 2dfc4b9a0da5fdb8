"""The people of a push: who may be pushed, and the values to write.

A workspace pushes contacts of which it owns a value or that it saved. Only values that it owns are written,
and nobody who is suppressed is pushed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from babel import Locale
from sqlalchemy import or_, select

from app.engine.contacts import companies
from app.engine.contacts.bulk import batched
from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved.contact_lists import ContactList, ListMember
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.ledger import ownership
from app.engine.lookups import contact_data, representations
from app.features.crm import addresses
from app.features.crm.vendors.person import CrmField, Employer, Person
from app.infra.database.session import Session

_IS_PROFILE = or_(SavedProfile.contact_id == Contact.id, SavedProfile.linkedin_url == Contact.linkedin_url)
"""The condition that a saved profile is the profile of a contact."""


def pushable(session: Session, workspace_id: str, contact_ids: Collection[str]) -> frozenset[str]:
    """Return the contacts, among these, of which the workspace owns a value or that it saved."""
    found: set[str] = set()
    for part in batched(contact_ids):
        owned = ownership.owned(session, workspace_id, part)
        found |= {contact_id for contact_id, _field in owned.fields}
        saved = (
            select(Contact.id)
            .join(SavedProfile, _IS_PROFILE)
            .where(SavedProfile.workspace_id == workspace_id, Contact.id.in_(part))
        )
        found |= set(session.scalars(saved))
        rest = [contact_id for contact_id in part if contact_id not in found]
        found |= _owned_elsewhere(session, workspace_id, rest) if owned.values else set()
    return frozenset(found)


def in_list(session: Session, workspace_id: str, list_name: str, *, limit: int) -> list[str]:
    """Return the ids of the contacts on the workspace's list with this name or id, oldest first."""
    query = (
        select(Contact.id)
        .join(SavedProfile, _IS_PROFILE)
        .join(ListMember, ListMember.profile_id == SavedProfile.id)
        .join(ContactList, ContactList.id == ListMember.list_id)
        .where(ContactList.workspace_id == workspace_id)
        .where(or_(ContactList.name == list_name, ContactList.id == list_name))
        .order_by(SavedProfile.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def load(
    session: Session, workspace_id: str, contact_id: str, *, receipt_link: str, needs_email: bool = True
) -> Person | str:
    """Return the person, or the reason for not pushing them: `suppressed`, `not_owned` or `no_email`.

    A person whose record is known needs no address.
    """
    contact = session.get(Contact, contact_id)
    if contact is None or contact_id not in pushable(session, workspace_id, [contact_id]):
        return "not_owned"
    data = contact_data.load(session, workspace_id, [contact])
    if data.is_suppressed(contact):
        return "suppressed"
    revealed = representations.revealed(data, contact_id)
    emails = addresses.choose(revealed["emails"])
    if needs_email and emails.today is None:
        return "no_email"
    company = companies.get(session, contact.company_id) if contact.company_id else None
    name, domain = (company.name, company.domain) if company else (None, None)
    values = {
        CrmField.FIRST_NAME: contact.first_name,
        CrmField.LAST_NAME: contact.last_name or contact.full_name,
        CrmField.EMAIL: emails.today,
        CrmField.PHONE: addresses.callable_number(revealed["phones"]),
        CrmField.TITLE: contact.title,
        CrmField.SENIORITY: contact.seniority,
        CrmField.DEPARTMENT: contact.department,
        CrmField.COMPANY: name,
        CrmField.WEBSITE: domain,
        CrmField.LINKEDIN_URL: contact.linkedin_url,
        CrmField.COUNTRY: _country_names().get(contact.country or ""),
        CrmField.LIST: _list_name(session, workspace_id, contact),
        CrmField.RECEIPT_LINK: receipt_link,
    }
    return Person(
        values={name: value for name, value in values.items() if value},
        employer=Employer(name, domain),
        emails=emails.owned,
        country=contact.country if contact.country in _country_names() else None,
    )


def load_for_marks(session: Session, workspace_id: str, contact_id: str) -> Person | str:
    """Return the person without values, which the workspace may not own; or `suppressed`."""
    contact = session.get_one(Contact, contact_id)
    if contact_data.load(session, workspace_id, [contact]).is_suppressed(contact):
        return "suppressed"
    return Person(values={}, employer=Employer(None, None), emails=())


def names(session: Session, workspace_id: str, contact_ids: Collection[str]) -> dict[str, str]:
    """Return the names of the contacts, without people who are suppressed or have no name."""
    contacts = session.scalars(select(Contact).where(Contact.id.in_(contact_ids))).all()
    data = contact_data.load(session, workspace_id, contacts)
    return {
        contact.id: contact.full_name
        for contact in contacts
        if contact.full_name and not data.is_suppressed(contact)
    }


def _owned_elsewhere(session: Session, workspace_id: str, contact_ids: Sequence[str]) -> set[str]:
    """Return the contacts that have a value which the workspace owns under another contact."""
    contacts = session.scalars(select(Contact).where(Contact.id.in_(contact_ids))).all()
    data = contact_data.load(session, workspace_id, contacts, check_suppressions=False)
    return {contact.id for contact in contacts if any(map(data.owns, data.values_of(contact.id)))}


def _list_name(session: Session, workspace_id: str, contact: Contact) -> str | None:
    return session.scalar(
        select(SavedProfile.list_name)
        .join(Contact, _IS_PROFILE)
        .where(SavedProfile.workspace_id == workspace_id, Contact.id == contact.id)
        .limit(1)
    )


@cache
def _country_names() -> dict[str, str]:
    """Return the English name of each country by its ISO code: CRMs show the text as it is."""
    return dict(Locale("en").territories)
