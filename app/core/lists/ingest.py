"""Writes imported contacts and companies, except suppressed contacts, and counts the changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.contacts import companies, contacts
from app.core.contacts.bulk import batched, lock_resolution
from app.core.contacts.suppressions import Identifier, Suppression, suppressed
from app.domain.findings import FoundCompany, FoundContact
from app.domain.lists.people_rows import ParsedPerson
from app.domain.records.merging import Change

_COUNTED = {None: "new", Change.CHANGED: "updated", Change.REFRESHED: "unchanged", Change.NONE: "unchanged"}


def ingest_contacts(session: Session, people: Sequence[ParsedPerson], *, now: datetime) -> Counter[str]:
    """Upsert the contacts that are not suppressed; count the new, updated, unchanged and suppressed ones.

    A suppressed phone is dropped. A contact with a suppressed profile or e-mail is dropped entirely.
    """
    lock_resolution(session)  # from here on no other transaction can erase one of them
    listed = _suppressed(
        session, (identifier for person in people for identifier in _identifiers(person.found))
    )
    founds = [allowed for person in people if (allowed := _allowed(person.found, listed))]
    numbers = {key: number for person in people for key, number in person.numbers.items()}
    kept = contacts.upsert_many(session, founds, now=now, numbers=numbers)
    counts = Counter(_COUNTED[one.change] for one in kept)
    counts["suppressed"] += len(people) - len(founds)
    return counts


def ingest_companies(session: Session, founds: Sequence[FoundCompany], *, now: datetime) -> Counter[str]:
    """Upsert the companies; count the new, updated and unchanged ones."""
    return Counter(_COUNTED[change] for _, change in companies.upsert_many(session, founds, now=now))


def _suppressed(session: Session, identifiers: Iterable[Identifier]) -> frozenset[Identifier]:
    """Return the suppressed identifiers; skip the lookup if the suppression list is empty."""
    if session.scalar(select(Suppression.digest).limit(1)) is None:
        return frozenset()
    return frozenset().union(*(suppressed(session, part) for part in batched(identifiers)))


def _identifiers(found: FoundContact) -> list[Identifier]:
    values = [Identifier("email", email.email) for email in found.emails]
    values += [Identifier("phone", phone.e164) for phone in found.phones]
    return values + ([Identifier("linkedin_url", found.linkedin_url)] if found.linkedin_url else [])


def _allowed(found: FoundContact, listed: frozenset[Identifier]) -> FoundContact | None:
    hits = listed.intersection(_identifiers(found)) if listed else frozenset()
    if not hits:
        return found
    if any(hit.kind != "phone" for hit in hits):
        return None
    phones = tuple(phone for phone in found.phones if Identifier("phone", phone.e164) not in hits)
    named = found.linkedin_url or found.emails or phones or (found.full_name and found.company)
    return replace(found, phones=phones) if named else None
