"""Leaves out recorded people who are suppressed, when they are stored and when they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from app.domain.normal.companies.company_names import company_key
from app.domain.suppression_lists import forms
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.own_records import record_keys
from app.engine.own_records.record_keys import EMAIL, PHONE, PROFILE
from app.engine.own_records.recorded_people import RecordedPerson
from app.infra.database.session import Session

T = TypeVar("T")


def without_suppressed(
    session: Session, items: Sequence[T], person_of: Callable[[T], RecordedPerson]
) -> list[T]:
    """Return the items whose person has no identifier that is suppressed."""
    identifiers = [frozenset(_identifiers(person_of(item))) for item in items]
    suppressed = suppression_checks.suppressed(session, frozenset().union(*identifiers))
    return [item for item, own in zip(items, identifiers, strict=True) if suppressed.isdisjoint(own)]


def _identifiers(person: RecordedPerson) -> Iterator[Identifier]:
    for kind, values in ((PROFILE, person.profiles), (EMAIL, person.emails), (PHONE, person.phones)):
        yield from (Identifier(kind, value) for value in values)
    if name := record_keys.name_key(person.name):
        for employer in filter(None, (*person.domains, *map(company_key, person.companies))):
            yield Identifier("name", forms.employment(name, employer))
