"""What is known of a person, and handing it over: the only way an e-mail or phone leaves the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy.orm import Session

from app.core.contacts import emails
from app.core.contacts.contacts import Contact
from app.core.contacts.suppressions import Identifier
from app.core.ledger import reveals
from app.core.lookups import contact_data, representations
from app.core.lookups.contact_data import BouncedEmail, ContactData, EmailRow, PhoneRow
from app.core.matching import contact_matching
from app.core.matching.contact_matching import Match
from app.domain.email_patterns.patterns import PatternStat
from app.domain.errors import ContactNotFound
from app.domain.findings import EmailStatus, FoundEmail
from app.domain.normal.countries import country_of
from app.domain.records.subjects import Subject
from app.domain.records.verdict_ttl import is_fresh


class ContactField(StrEnum):
    """What a workspace can own of a contact."""

    EMAIL = "email"
    PHONE = "phone"


class MinStatus(StrEnum):
    """The least a caller wants: a mailbox that exists, one whose host takes everything, or anything."""

    VALID = "valid"
    ACCEPT_ALL = "accept_all"
    ANY = "any"


TYPES: dict[ContactField, tuple[str, ...]] = {
    ContactField.EMAIL: ("work", "personal"),
    ContactField.PHONE: ("mobile", "direct", "work", "hq", "other"),
}
_UNVERIFIED = frozenset({EmailStatus.UNKNOWN.value, EmailStatus.RISKY.value})
ACCEPTED_STATUSES: dict[MinStatus, frozenset[str]] = {
    MinStatus.VALID: frozenset({EmailStatus.VALID}),
    MinStatus.ACCEPT_ALL: frozenset({EmailStatus.VALID, EmailStatus.ACCEPT_ALL}),
    MinStatus.ANY: frozenset(EmailStatus) - {EmailStatus.INVALID},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRequest:
    """What of a person is wanted: a field, its types, how good, and how old at most (None: as usual)."""

    field: ContactField
    types: tuple[str, ...]
    min_status: MinStatus
    max_age: timedelta | None = None

    @classmethod
    def of(cls, field: ContactField, request: dict[str, Any]) -> FieldRequest:
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
        return kind in self.types and status in ACCEPTED_STATUSES[self.min_status]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPerson:
    """What is stored of a person; `said` are the caller's words, `subject` is what providers are asked by.

    The subject is what is stored of the contact, under its id, and nothing that the caller said beside it.
    It has no id where its answers may not be about the contact: if no name is stored it has the caller's, and
    if no contact is stored it is the caller's words.

    `good` says that something fresh is there that fulfils the wish, `stored` that something of any age is.
    `country` is the ISO country where the person likely is, None if nothing tells. `unverified` are stored
    addresses of a type that is wanted, whose host nobody has asked.
    """

    provided: Subject
    subject: Subject
    contact: Contact | None
    suppressed: bool
    owned: bool
    good: bool
    stored: bool
    patterns: tuple[PatternStat, ...]
    country: str | None = None
    unverified: tuple[FoundEmail, ...] = ()


def assess(
    session: Session,
    workspace_id: str,
    subject: Subject,
    wish: FieldRequest,
    *,
    usual_age: timedelta,
    now: datetime,
) -> KnownPerson:
    """Find the person and see whether what is stored fulfils the wish.

    Raises:
        ContactNotFound: the subject gives a contact id that does not exist.

    """
    match, held = find(session, workspace_id, subject)
    contact = _of_remembered(match, held, wish) if match.remembered else match.contact
    values = _values(held, contact.id, wish) if contact else []
    owned = contact is not None and _owns(held, contact.id, wish, values)
    asked = subject if contact is None or match.remembered else _stored_facts(subject, contact, match, held)
    return KnownPerson(
        provided=subject,
        subject=asked,
        contact=contact,
        suppressed=any(held.is_suppressed(one, subject) for one in match.remembered or (contact,)),
        owned=owned,
        good=_is_any_fresh(values, wish, usual_age, now=now) if wish.max_age or not owned else bool(values),
        stored=bool(values),
        patterns=tuple(emails.pattern_counts(session, asked.company_domain)) if asked.company_domain else (),
        country=_country(match) or country_of(asked.company_domain),
        unverified=_unverified(held, contact.id, wish) if contact else (),
    )


def find(session: Session, workspace_id: str, subject: Subject) -> tuple[Match, ContactData]:
    """Find whom the subject means, and what is stored of them.

    Raises:
        ContactNotFound: the subject gives a contact id that does not exist.

    """
    match = contact_matching.find(session, subject, workspace_id=workspace_id)
    if subject.contact_id is not None and match.contact is None:
        raise ContactNotFound
    people = match.remembered or ([match.contact] if match.contact else [])
    return match, contact_data.load(session, workspace_id, people, [subject])


def identifiers(session: Session, workspace_id: str, known: KnownPerson) -> list[Identifier]:
    """Return everything that names the person: what the caller said and what is stored."""
    said = contact_data.given_identifiers(known.provided)
    if known.contact is None:
        return said
    held = contact_data.load(session, workspace_id, [known.contact])
    return [*said, *contact_data.stored_identifiers(known.contact, held.emails, held.phones)]


def is_suppressed(session: Session, workspace_id: str, contact: Contact) -> bool:
    """Tell whether the contact is on the suppression list by now."""
    return contact_data.load(session, workspace_id, [contact]).is_suppressed(contact)


@dataclass(frozen=True, slots=True)
class Disclosure:
    """Values that are given away, in contract 2.7's shape, best first, and what they cost."""

    contact_id: str
    values: list[dict[str, Any]]
    charge: int
    already_owned: bool


def disclose(
    session: Session,
    *,
    workspace_id: str,
    job_id: str,
    contact: Contact,
    wish: FieldRequest,
    price: int,
    now: datetime,
    budget: int | None = None,
) -> Disclosure | None:
    """Return the values that fulfil the wish, and insert what the workspace owns from now on.

    None if nothing stored fulfils it, or the contact has been suppressed meanwhile. The price is charged if
    one of the values is new to the workspace, under this contact and any other; with a smaller `budget` only
    what it owns is given. What is older than usual still does, where nobody knows better; what is older than
    was asked for is given only to who owns it.
    """
    held = contact_data.load(session, workspace_id, [contact])
    if held.is_suppressed(contact):
        return None
    values = _values(held, contact.id, wish)
    is_owned = _owns(held, contact.id, wish, values)
    if not is_owned and budget is not None and price > budget:
        values = [row for row in values if held.owns(row)]
        is_owned = True
    if not _is_any_since(values, now - wish.max_age if wish.max_age and not is_owned else None):
        return None
    job = _Job(workspace_id, job_id, price, now)
    charge = 0 if is_owned else _buy(session, job, contact.id, wish.field, values, held)
    shown = [_object(wish.field, row, primary=index == 0) for index, row in enumerate(values)]
    return Disclosure(contact.id, shown, charge=charge or 0, already_owned=charge is None or is_owned)


@dataclass(frozen=True, slots=True)
class _Job:
    """Who pays for what is handed over, how much, and when."""

    workspace_id: str
    job_id: str
    price: int
    now: datetime


def _buy(  # noqa: PLR0917 -- what `hand_over` was given and has read
    session: Session,
    job: _Job,
    contact_id: str,
    field: ContactField,
    values: Sequence[EmailRow | PhoneRow],
    held: ContactData,
) -> int | None:
    """Return the price, or None if another job of the workspace has just bought the same values.

    Only who inserts a value that the workspace did not own pays, and owns the contact's field.
    """
    about: dict[str, Any] = {"workspace_id": job.workspace_id, "contact_id": contact_id, "field": field.value}
    about |= {"job_id": job.job_id, "now": job.now}
    if not reveals.claim(session, values=[contact_data.value_of(row) for row in values], **about):
        return None
    if not reveals.record(session, price=job.price, **about):
        return None
    stored: Sequence[EmailRow | PhoneRow] = _stored(held, contact_id, field)
    if len(stored) > len(values):
        reveals.claim(session, values=[contact_data.value_of(row) for row in stored], **about)
    return job.price


def _owns(
    held: ContactData, contact_id: str, wish: FieldRequest, values: Sequence[EmailRow | PhoneRow]
) -> bool:
    """Return whether there is nothing to pay: the field is owned, or every value that fulfils the wish."""
    is_field_owned = (contact_id, wish.field.value) in held.owned.fields
    return is_field_owned or (bool(values) and all(map(held.owns, values)))


def _object(field: ContactField, row: Any, *, primary: bool) -> dict[str, Any]:  # noqa: ANN401 -- a row of either table
    return (
        representations.email_object(row, primary=primary)
        if field is ContactField.EMAIL
        else representations.phone_object(row)
    )


def _values(held: ContactData, contact_id: str, wish: FieldRequest) -> list[EmailRow | PhoneRow]:
    rows = _stored(held, contact_id, wish.field)
    return sorted(
        (row for row in rows if wish.accepts(row.type, row.status)), key=representations.quality_key
    )


def _stored(held: ContactData, contact_id: str, field: ContactField) -> Sequence[EmailRow | PhoneRow]:
    stored: Mapping[str, Sequence[EmailRow | PhoneRow]] = (
        held.emails if field is ContactField.EMAIL else held.phones
    )
    return stored.get(contact_id, ())


def _is_any_fresh(
    values: Sequence[EmailRow | PhoneRow], wish: FieldRequest, usual_age: timedelta, *, now: datetime
) -> bool:
    """Tell whether a value is as young as was asked for, or else as its kind of verdict holds."""
    if wish.max_age or wish.field is ContactField.PHONE:
        return _is_any_since(values, now - (wish.max_age or usual_age))
    return any(
        is_fresh(EmailStatus(row.status), row.verified_at or row.last_seen_at, usual_age, now=now)
        for row in values
    )


def _is_any_since(values: Sequence[EmailRow | PhoneRow], oldest: datetime | None) -> bool:
    return any(oldest is None or (row.verified_at or row.last_seen_at) >= oldest for row in values)


def _unverified(held: ContactData, contact_id: str, wish: FieldRequest) -> tuple[FoundEmail, ...]:
    """Return the addresses that a verification may make good, as they were first told.

    One that the workspace itself reported is left to the next round of verifications: what it said of the
    address must not be stored as what a provider said.
    """
    if wish.field is not ContactField.EMAIL:
        return ()
    return tuple(
        emails.as_found(row)
        for row in held.emails.get(contact_id, ())
        if not isinstance(row, BouncedEmail)
        and row.type in wish.types
        and row.verified_at is None
        and row.status in _UNVERIFIED
    )


def _country(match: Match) -> str | None:
    """Give where the person is, or else their company."""
    stored = (match.contact, match.company)
    return next((one.country for one in stored if one is not None and one.country), None)


def _of_remembered(match: Match, held: ContactData, wish: FieldRequest) -> Contact | None:
    """Return the contact under which the workspace has what it wants, or else one that has it; else None.

    What a workspace was given for its words may be several contacts, each for another field.
    """

    def rank(contact: Contact) -> int:
        values = _values(held, contact.id, wish)
        if not values:
            return 1 if _unverified(held, contact.id, wish) else 0
        return 3 if _owns(held, contact.id, wish, values) else 2

    best = max(match.remembered, key=rank)
    return best if rank(best) else None


def _stored_facts(subject: Subject, contact: Contact, match: Match, held: ContactData) -> Subject:
    """Return what a provider may be asked by: what is stored of the contact, and nothing the caller said.

    The contact's e-mail or phone is among it if the caller named the contact by it, or if there is neither a
    profile nor a name at a company. So what the provider says is about this contact, whoever asks. Where no
    name is stored, the caller's is sent, without the contact's id: the provider may go by that name alone.
    """
    company = match.company
    exact = {key: getattr(subject, key) for key in ("email", "phone") if key in match.matched_on}
    if not (exact or contact.linkedin_url or (contact.full_name and company)):
        emails = sorted(held.emails.get(contact.id, ()), key=representations.quality_key)
        phones = sorted(held.phones.get(contact.id, ()), key=representations.quality_key)
        exact = {"email": emails[0].email} if emails else {"phone": phones[0].e164} if phones else {}
    return Subject(
        contact_id=contact.id if contact.full_name or not subject.name else None,
        linkedin_url=contact.linkedin_url,
        full_name=contact.full_name or subject.name,
        company_domain=company.domain if company else None,
        company_name=company.name if company else None,
        **exact,
    )
