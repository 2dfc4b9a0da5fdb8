"""Numbers of companies: a suppression hides the number, and not the people who have it.

A number is one of a company if it is the number of a head office, or if people of different names have it and
it is neither a mobile nor a direct dial. Any other number identifies the person who has it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import ColumnElement, FromClause, and_, or_, select
from sqlalchemy.orm import aliased

from app.domain.findings import FoundPhone
from app.engine.contacts.bulk import rows_in
from app.engine.contacts.contacts import Contact
from app.engine.contacts.phones import HEAD_OFFICE, PERSONAL_TYPES, Phone, may_be_shared
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.session import Session

_NONE: frozenset[Identifier] = frozenset()


def may_be_one(phone: FoundPhone) -> bool:
    """Return whether the number is one of a company if several people have it."""
    return phone.type not in PERSONAL_TYPES


def is_one(phones: FromClause) -> ColumnElement[bool]:
    """Return the SQL condition that a row of phones is the number of a company."""
    person, other = aliased(Contact), aliased(Contact)
    others = aliased(Phone)
    is_shared = (
        select(others.id)
        .join(other, other.id == others.contact_id)
        .join(person, person.id == phones.c.contact_id)
        .where(others.e164_index == phones.c.e164_index, other.name_key != person.name_key)
        .correlate(phones)
        .exists()
    )
    return or_(phones.c.type == HEAD_OFFICE, and_(may_be_shared(phones), is_shared))


def suppressed_people(session: Session, identifiers: Iterable[Identifier]) -> frozenset[Identifier]:
    """Return the suppressed identifiers that identify a person: without the numbers of companies."""
    listed = suppression_checks.suppressed(session, identifiers)
    return listed - among(session, listed)


def among(session: Session, identifiers: Iterable[Identifier]) -> frozenset[Identifier]:
    """Return the identifiers that are stored as numbers of companies."""
    numbers = {item.value for item in identifiers if item.kind == "phone"}
    return (
        frozenset(Identifier("phone", number) for number in _stored(session, numbers)) if numbers else _NONE
    )


def _stored(session: Session, numbers: Collection[str]) -> set[str]:
    forms = stored_forms(session, "phone", numbers)
    phones = Phone.__table__
    query = select(phones.c.e164_index).where(is_one(phones)).distinct()
    return {forms[row[0]] for row in rows_in(session, query, phones.c.e164_index, forms)}
