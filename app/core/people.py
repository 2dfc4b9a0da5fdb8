"""What is known of a person, and handing it over: the only way an e-mail or phone leaves the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy.orm import Session

from app.core import cards, emails, holdings, matches, reveals
from app.core.contacts import Contact
from app.core.holdings import BouncedEmail, EmailRow, Holdings, PhoneRow
from app.core.matches import Match
from app.core.suppressions import Identifier
from app.domain.countries import country_of
from app.domain.errors import ContactNotFound
from app.domain.findings import EmailStatus, FoundEmail
from app.domain.patterns import PatternStat
from app.domain.subjects import Subject
from app.domain.verdicts import is_fresh


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
_OPEN = frozenset({EmailStatus.UNKNOWN.value, EmailStatus.RISKY.value})
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

    `good` says that something fresh is there that fulfils the wish, `stored` that something of any age is.
    `country` is the ISO country where the person likely is, None if nothing tells. `unverified` are stored
    addresses of a type that is wanted, whose host nobody has asked.
    """

    subject: Subject
    contact: Contact | None
    suppressed: bool
    owned: bool
    good: bool
    stored: bool
    patterns: tuple[PatternStat, ...]
    country: str | None = None
    unverified: tuple[FoundEmail, ...] = ()


def known(
    session: Session, workspace_id: str, subject: Subject, wish: Wish, *, usual_age: timedelta, now: datetime
) -> Known:
    """Find the person and see whether what is stored fulfils the wish.

    Raises:
        ContactNotFound: the subject gives a contact id that does not exist.

    """
    match, held = find(session, workspace_id, subject)
    contact = match.contact
    owned = contact is not None and (contact.id, wish.field.value) in held.owned
    values = _values(held, contact.id, wish) if contact else []
    full = _filled_up(subject, match)
    return Known(
        subject=full,
        contact=contact,
        suppressed=held.hides(contact, subject),
        owned=owned,
        good=_is_any_fresh(values, wish, usual_age, now=now) if wish.max_age or not owned else bool(values),
        stored=bool(values),
        patterns=tuple(emails.pattern_counts(session, full.company_domain)) if full.company_domain else (),
        country=_country(match) or country_of(full.company_domain),
        unverified=_unverified(held, contact.id, wish) if contact else (),
    )


def find(session: Session, workspace_id: str, subject: Subject) -> tuple[Match, Holdings]:
    """Find whom the subject means, and what is stored of them.

    Raises:
        ContactNotFound: the subject gives a contact id that does not exist.

    """
    match = matches.find(session, subject)
    if subject.contact_id is not None and match.contact is None:
        raise ContactNotFound
    return match, holdings.of(session, workspace_id, [match.contact] if match.contact else [], [subject])


def identifiers(session: Session, workspace_id: str, known: Known) -> list[Identifier]:
    """Give everything that names the person: what the caller said and what is stored."""
    said = holdings.spoken(known.subject)
    if known.contact is None:
        return said
    held = holdings.of(session, workspace_id, [known.contact])
    return [*said, *holdings.stored(known.contact, held.emails, held.phones)]


def is_hidden(session: Session, workspace_id: str, contact: Contact) -> bool:
    """Tell whether the contact is on the suppression list by now."""
    return holdings.of(session, workspace_id, [contact]).hides(contact)


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
    contact: Contact,
    wish: Wish,
    price: int,
    now: datetime,
) -> Handed | None:
    """Give the values that fulfil the wish, and write down that the workspace owns the field.

    None if nothing stored fulfils it, or the contact has been suppressed meanwhile. The price is charged
    unless the workspace owns the field already. What is older than usual still does, where nobody knows
    better; what is older than was asked for is given only to who owns it.
    """
    held = holdings.of(session, workspace_id, [contact])
    if held.hides(contact):
        return None
    values = _values(held, contact.id, wish)
    is_owned = (contact.id, wish.field.value) in held.owned
    if not _is_any_since(values, now - wish.max_age if wish.max_age and not is_owned else None):
        return None
    new = reveals.record(
        session,
        workspace_id=workspace_id,
        contact_id=contact.id,
        field=wish.field.value,
        job_id=job_id,
        price=price,
        now=now,
    )
    shown = [_object(wish.field, row, primary=index == 0) for index, row in enumerate(values)]
    return Handed(contact.id, shown, charge=price if new else 0, already_owned=not new)


def _object(field: Field, row: Any, *, primary: bool) -> dict[str, Any]:  # noqa: ANN401 -- a row of either table
    return cards.email_object(row, primary=primary) if field is Field.EMAIL else cards.phone_object(row)


def _values(held: Holdings, contact_id: str, wish: Wish) -> list[EmailRow | PhoneRow]:
    stored: Mapping[str, Sequence[EmailRow | PhoneRow]] = (
        held.emails if wish.field is Field.EMAIL else held.phones
    )
    good = (row for row in stored.get(contact_id, ()) if wish.accepts(row.type, row.status))
    return sorted(good, key=cards.best_first)


def _is_any_fresh(
    values: Sequence[EmailRow | PhoneRow], wish: Wish, usual_age: timedelta, *, now: datetime
) -> bool:
    """Tell whether a value is as young as was asked for, or else as its kind of verdict holds."""
    if wish.max_age or wish.field is Field.PHONE:
        return _is_any_since(values, now - (wish.max_age or usual_age))
    return any(
        is_fresh(EmailStatus(row.status), row.verified_at or row.last_seen_at, usual_age, now=now)
        for row in values
    )


def _is_any_since(values: Sequence[EmailRow | PhoneRow], oldest: datetime | None) -> bool:
    return any(oldest is None or (row.verified_at or row.last_seen_at) >= oldest for row in values)


def _unverified(held: Holdings, contact_id: str, wish: Wish) -> tuple[FoundEmail, ...]:
    """Return the addresses that a verification may make good, as they were first told.

    One that the workspace itself reported is left to the next round of verifications: what it said of the
    address must not be stored as what a provider said.
    """
    if wish.field is not Field.EMAIL:
        return ()
    return tuple(
        emails.as_found(row)
        for row in held.emails.get(contact_id, ())
        if not isinstance(row, BouncedEmail)
        and row.type in wish.types
        and row.verified_at is None
        and row.status in _OPEN
    )


def _country(match: Match) -> str | None:
    """Give where the person is, or else their company."""
    stored = (match.contact, match.company)
    return next((one.country for one in stored if one is not None and one.country), None)


def _filled_up(subject: Subject, match: Match) -> Subject:
    """Add to the caller's words what is stored, so that a provider has more to go by."""
    contact, company = match.contact, match.company
    if contact is None:
        return subject
    return replace(
        subject,
        contact_id=contact.id,
        linkedin_url=subject.linkedin_url or contact.linkedin_url,
        full_name=subject.name or contact.full_name,
        company_domain=subject.company_domain or (company.domain if company else None),
        company_name=subject.company_name or (company.name if company else None),
    )
