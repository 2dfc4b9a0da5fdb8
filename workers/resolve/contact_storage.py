"""Storing what providers said of a person, so that no workspace's words reach the contacts that all share.

Rule: a contact holds what providers and imports said, never what a caller said.

- A question of stored facts is about their contact: every answer is stored with it.
- A question that names the person in one way is about one person: all answers are stored with one contact,
  which has the profile, e-mail or phone it was asked by, since a provider asked by that alone confirmed it.
- Of any other question each provider may have gone by another word, and one may be false. Each answer is
  stored by itself, with the profile, name and company that it gives, and `caller_identifiers` remembers for
  the workspace what its words led to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy.orm import Session

from app.core.contacts import contacts, emails, phones
from app.core.contacts.contacts import Contact
from app.core.lookups.disclosure import KnownPerson
from app.domain.findings import FoundContact, FoundEmail, FoundPhone
from app.domain.records.identifier_merge import with_identifier
from workers.providers.base import ProviderResponse
from workers.resolve.waterfall import WaterfallResult


def store(session: Session, known: KnownPerson, catch: WaterfallResult, *, now: datetime) -> list[Contact]:
    """Store every value with the contact it belongs to; return the contacts, the best to hand over first."""
    if known.subject.contact_id is not None and known.contact is not None:
        _add(session, known.contact, catch.emails, catch.phones, now=now)
        return [known.contact]
    stored = [known.contact] if known.contact is not None else []
    for contact in stored:
        _add(session, contact, catch.verified, (), now=now)
    said = [_said(answer) for answer in catch.answers if answer.emails or answer.phones]
    if said and known.subject.names_one_way:
        said = [with_identifier(_joined(said), known.subject)]
    found = [contacts.upsert(session, one, now=now) for one in said]
    return list(dict.fromkeys(found + stored))


def _add(
    session: Session,
    contact: Contact,
    found_emails: Sequence[FoundEmail],
    found_phones: Sequence[FoundPhone],
    *,
    now: datetime,
) -> None:
    for email in found_emails:
        emails.upsert(session, contact.id, email, now=now)
    for phone in found_phones:
        phones.upsert(session, contact.id, phone, now=now)


def _joined(said: Sequence[FoundContact]) -> FoundContact:
    """Return all answers as one: who the first says it is that says so, and the values of all."""
    named = next((one for one in said if one.full_name or one.linkedin_url), said[0])
    return replace(
        named,
        emails=tuple(email for one in said for email in one.emails),
        phones=tuple(phone for one in said for phone in one.phones),
    )


def _said(answer: ProviderResponse) -> FoundContact:
    """Return who the provider said the person is, as far as it did, with the values it gave."""
    values: tuple[FoundEmail | FoundPhone, ...] = (*answer.emails, *answer.phones)
    person = answer.contact or FoundContact(source=values[0].source)
    return replace(
        person,
        emails=tuple(dict.fromkeys((*answer.emails, *person.emails))),
        phones=tuple(dict.fromkeys((*answer.phones, *person.phones))),
    )
