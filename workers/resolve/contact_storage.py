"""Stores provider responses as contacts, which all workspaces share.

Rule: a contact holds data from providers and imports, never data from a caller.

- A request by contact id is about that contact: every response is stored with it.
- A request with a single identifier is about one person: all responses are stored with one contact, which
  gets that profile, e-mail or phone, since a provider called with it alone has confirmed it.
- For any other request, each provider may have matched a different identifier, and one may be wrong. Each
  response is stored separately, with the profile, name and company it gives, and `caller_identifiers` maps
  the workspace's identifiers to the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from app.domain.findings import FoundContact, FoundEmail, FoundPhone
from app.domain.records.identifier_merge import with_identifier
from app.engine.contacts import contacts, emails, phones, rejected_values
from app.engine.lookups.contact_data import Person
from app.engine.lookups.known_people import KnownPerson
from app.infra.database.session import Session
from workers.providers.base import ProviderResponse
from workers.resolve.waterfall import WaterfallResult


def store(session: Session, known: KnownPerson, result: WaterfallResult, *, now: datetime) -> list[Person]:
    """Store every value with its contact; return the contacts, the best match first."""
    if known.subject.contact_id is not None and known.contact is not None:
        _add(session, known.contact, result.emails, result.phones, now=now)
        return [known.contact]
    stored: list[Person] = [known.contact] if known.contact is not None else []
    for contact in stored:
        _add(session, contact, result.verified, (), now=now)
    people = [_person(reply) for reply in result.answers if reply.emails or reply.phones]
    if people and known.subject.names_one_way:
        people = [with_identifier(_merged(people), known.subject)]
    matched: list[Person] = [contacts.upsert(session, person, now=now) for person in people]
    return list({contact.id: contact for contact in matched + stored}.values())


def _add(
    session: Session,
    contact: Person,
    found_emails: Sequence[FoundEmail],
    found_phones: Sequence[FoundPhone],
    *,
    now: datetime,
) -> None:
    values = {(contact.id, email.email) for email in found_emails}
    values |= {(contact.id, phone.e164) for phone in found_phones}
    removed = {value for _id, value in rejected_values.rejected(session, values)}
    for email in found_emails:
        if email.email not in removed:
            emails.upsert(session, contact.id, email, now=now)
    for phone in found_phones:
        if phone.e164 not in removed:
            phones.upsert(session, contact.id, phone, now=now)


def _merged(people: Sequence[FoundContact]) -> FoundContact:
    """Merge into one person: identified by the first with a name or profile, with the values of all."""
    identified = next((person for person in people if person.full_name or person.linkedin_url), people[0])
    return replace(
        identified,
        emails=tuple(email for person in people for email in person.emails),
        phones=tuple(phone for person in people for phone in person.phones),
    )


def _person(reply: ProviderResponse) -> FoundContact:
    """Return the person in a response with its values; without a name if the response gives none."""
    values: tuple[FoundEmail | FoundPhone, ...] = (*reply.emails, *reply.phones)
    person = reply.contact or FoundContact(source=values[0].source)
    return replace(
        person,
        emails=tuple(dict.fromkeys((*reply.emails, *person.emails))),
        phones=tuple(dict.fromkeys((*reply.phones, *person.phones))),
    )
