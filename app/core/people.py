"""What is known of a person, and handing it over: the only way an e-mail or phone leaves the database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from app.core import cards, companies, emails, matches, phones, reveals, suppressions
from app.core.contacts import Contact
from app.core.emails import Email
from app.core.phones import Phone
from app.core.suppressions import Identifier
from app.domain.errors import ContactNotFound
from app.domain.findings import EmailStatus
from app.domain.patterns import PatternStat
from app.domain.subjects import Subject

Value = TypeVar("Value", Email, Phone)


class Field(StrEnum):
    """What a workspace can own of a contact."""

    EMAIL = "email"
    PHONE = "phone"


class MinStatus(StrEnum):
    """The least a caller wants: a mailbox that exists, one whose host takes everything, or anything."""

    VALID = "valid"
    ACCEPT_ALL = "accept_all"
    ANY = "any"


TYPES: dict[Field, tuple[str, ...]] = {
    Field.EMAIL: ("work", "personal"),
    Field.PHONE: ("mobile", "direct", "work", "hq", "other"),
}
GOOD_ENOUGH: dict[MinStatus, frozenset[str]] = {
    MinStatus.VALID: frozenset({EmailStatus.VALID}),
    MinStatus.ACCEPT_ALL: frozenset({EmailStatus.VALID, EmailStatus.ACCEPT_ALL}),
    MinStatus.ANY: frozenset(EmailStatus) - {EmailStatus.INVALID},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What of a person is wanted: a field, its types, how good, and how old at most (None: as usual)."""

    field: Field
    types: tuple[str, ...]
    min_status: MinStatus
    max_age: timedelta | None = None

    @classmethod
    def of(cls, field: Field, request: dict[str, Any]) -> Wish:
        """Read the wish back from a job's request."""
        days = request.get("max_age_days")
        return cls(
            field=field,
            types=tuple(request["types"]),
            min_status=MinStatus(request["min_status"]),
            max_age=None if days is None else timedelta(days=days),
        )

    def accepts(self, kind: str, status: str) -> bool:
        """Tell whether a value of this type and status is good enough."""
        return kind in self.types and status in GOOD_ENOUGH[self.min_status]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is stored of a person. `subject` is the caller's, filled up with what is known.

    `good` says that something fresh is there that fulfils the wish.
    """

    subject: Subject
    contact: Contact | None
    suppressed: bool
    owned: bool
    good: bool
    patterns: tuple[PatternStat, ...]


def known(
    session: Session, workspace_id: str, subject: Subject, wish: Wish, *, usual_age: timedelta, now: datetime
) -> Known:
    """Find the person and see whether what is stored fulfils the wish.

    Raises:
        ContactNotFound: the subject gives a contact id that does not exist.

    """
    contact = matches.find(session, subject).contact
    if subject.contact_id is not None and contact is None:
        raise ContactNotFound
    full = _filled_up(session, subject, contact)
    owned = contact is not None and is_owned(session, workspace_id, contact.id, wish.field)
    max_age = wish.max_age or (None if owned else usual_age)
    values = _values(session, contact.id, wish) if contact else []
    fresh = [v for v in values if max_age is None or (v.verified_at or v.last_seen_at) >= now - max_age]
    return Known(
        subject=full,
        contact=contact,
        suppressed=is_suppressed(session, full, contact),
        owned=owned,
        good=bool(fresh),
        patterns=tuple(emails.pattern_counts(session, full.company_domain)) if full.company_domain else (),
    )


def is_owned(session: Session, workspace_id: str, contact_id: str, field: Field) -> bool:
    """Tell whether the workspace has paid for this field of the contact."""
    return (contact_id, field.value) in reveals.owned(session, workspace_id, [contact_id])


def is_suppressed(session: Session, subject: Subject, contact: Contact | None) -> bool:
    """Tell whether anything that names the person, said or stored, is on the suppression list."""
    return bool(suppressions.suppressed(session, identifiers(session, subject, contact)))


def identifiers(session: Session, subject: Subject, contact: Contact | None) -> list[Identifier]:
    """Give everything that names the person: what the subject says and what is stored."""
    values = {("linkedin_url", subject.linkedin_url), ("email", subject.email), ("phone", subject.phone)}
    if contact is not None:
        values.add(("linkedin_url", contact.linkedin_url))
        values |= {("email", row.email) for row in _emails(session, contact.id)}
        values |= {("phone", row.e164) for row in _phones(session, contact.id)}
    return [Identifier(kind, value) for kind, value in values if value]


@dataclass(frozen=True, slots=True)
class Handed:
    """Values that are given away, in contract 2.7's shape, best first, and what they cost."""

    contact_id: str
    values: list[dict[str, Any]]
    charge: int
    already_owned: bool


def hand_over(
    session: Session,
    *,
    workspace_id: str,
    job_id: str,
    contact_id: str,
    wish: Wish,
    price: int,
    now: datetime,
) -> Handed | None:
    """Give the values that fulfil the wish, and write down that the workspace owns the field.

    None if nothing stored fulfils it. The price is charged unless the workspace owns the field already.
    """
    values = _values(session, contact_id, wish)
    if not values:
        return None
    new = reveals.record(
        session,
        workspace_id=workspace_id,
        contact_id=contact_id,
        field=wish.field.value,
        job_id=job_id,
        price=price,
        now=now,
    )
    shown = [_object(value) | {"primary": index == 0} for index, value in enumerate(values)]
    return Handed(contact_id, shown, charge=price if new else 0, already_owned=not new)


def _object(value: Email | Phone) -> dict[str, Any]:
    return cards.email_object(value) if isinstance(value, Email) else cards.phone_object(value)


def _values(session: Session, contact_id: str, wish: Wish) -> list[Email] | list[Phone]:
    if wish.field is Field.EMAIL:
        return _best_first(row for row in _emails(session, contact_id) if wish.accepts(row.type, row.status))
    return _best_first(row for row in _phones(session, contact_id) if wish.accepts(row.type, row.status))


def _best_first(values: Iterable[Value]) -> list[Value]:
    order = [status.value for status in EmailStatus]
    return sorted(values, key=lambda v: (order.index(v.status), -(v.confidence or 0.0), v.id))


def _emails(session: Session, contact_id: str) -> list[Email]:
    return emails.of(session, [contact_id]).get(contact_id, [])


def _phones(session: Session, contact_id: str) -> list[Phone]:
    return phones.of(session, [contact_id]).get(contact_id, [])


def _filled_up(session: Session, subject: Subject, contact: Contact | None) -> Subject:
    """Add to the caller's words what is stored, so that a provider has more to go by."""
    if contact is None:
        return subject
    company = companies.get(session, contact.company_id) if contact.company_id else None
    return replace(
        subject,
        contact_id=contact.id,
        linkedin_url=subject.linkedin_url or contact.linkedin_url,
        full_name=subject.name or contact.full_name,
        company_domain=subject.company_domain or (company.domain if company else None),
        company_name=subject.company_name or (company.name if company else None),
    )
