"""What is stored of a requested person, and whether it satisfies the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from app.domain.errors import ContactNotFound
from app.domain.findings import EmailStatus, FoundEmail
from app.domain.normal.places.countries import country_of
from app.domain.records.subjects import Subject
from app.domain.records.verdict_ttl import is_fresh
from app.engine.contacts import emails
from app.engine.contacts.stored_rows import StoredContact, StoredEmail, StoredPhone
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.exclusions.exclusion_checks import Excluded
from app.engine.lookups import contact_data, field_requests, lookup_parts, representations
from app.engine.lookups.contact_data import ContactData, Person, Wanted
from app.engine.lookups.field_requests import ContactField, FieldRequest
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.matching import contact_matching
from app.engine.matching.contact_matching import Match
from app.infra.database.session import Session

_UNVERIFIED = frozenset({EmailStatus.UNKNOWN.value, EmailStatus.RISKY.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPerson:
    """What is stored of a person; `provided` is the caller's subject, `subject` the one sent to providers.

    `subject` contains only stored facts of the contact, and its id. The id is missing if a reply might be
    about another person: if no name is stored, the subject has the caller's name, and if no contact is
    stored, it is the caller's subject.

    `has_fresh_value` is whether a fresh value satisfies the request, `has_value` whether one of any age does.
    `country` is the likely ISO country of the person, if known. `unverified` are stored addresses of a
    requested type that have not been verified. `countries` are the countries of all contacts that match.
    `visible_types` are the requested types without those that a regional rule hides of this person, by
    `stored_country`. `needs_purpose` is whether a purpose must be stated before the workspace obtains values
    of this person that it does not own. `company_id` is the stored company of the subject's facts. `data` is
    what was read of the contact. `exclusion` is why the workspace excludes the person. `looked_up` is the
    person as the workspace's own systems are searched, and nobody if the person is barred.

    `is_hidden` is whether the workspace is told nothing about an address or number of `provided`, not even
    that the person is suppressed. `is_sold` is whether the contact was found by it: only a sale tells that.
    """

    provided: Subject
    subject: Subject
    contact: StoredContact | None
    suppressed: bool
    owned: bool
    has_fresh_value: bool
    has_value: bool
    country: str | None = None
    stored_country: str | None = None
    countries: frozenset[str] = frozenset()
    visible_types: tuple[str, ...] = ()
    needs_purpose: bool = False
    unverified: tuple[FoundEmail, ...] = ()
    company_id: str | None = None
    data: ContactData
    looked_up: LookedUp
    is_hidden: bool = False
    is_sold: bool = False
    exclusion: Excluded | None = None

    @property
    def is_barred(self) -> bool:
        """Return whether no provider is asked about the person and nothing is disclosed."""
        return self.suppressed or self.exclusion is not None


@dataclass(frozen=True, slots=True)
class _StoredPerson:
    """The match of a subject, the data of the matched contacts, and the contact for the requested field.

    `countries` are the countries of all these contacts.
    """

    match: Match
    data: ContactData
    contact: StoredContact | None
    values: list[StoredEmail | StoredPhone]
    owned: bool
    suppressed: bool
    exclusion: Excluded | None
    countries: frozenset[str]


class Question(NamedTuple):
    """A field that a workspace requests of a person."""

    workspace_id: str
    subject: Subject
    field_request: FieldRequest


class AssessedPerson(NamedTuple):
    """What is stored of a person by requested field, the match, and the data of all people of the list."""

    fields: Mapping[ContactField, KnownPerson]
    match: Match
    data: ContactData


def assess(
    session: Session,
    workspace_id: str,
    subject: Subject,
    field_request: FieldRequest,
    *,
    default_max_age: timedelta,
    now: datetime,
    is_sale: bool = False,
) -> KnownPerson:
    """Match the subject to a contact and return whether its stored values satisfy the request.

    A person whom the workspace is not told about is an unknown one, unless the answer `is_sale` (`offers`).

    Raises:
        ContactNotFound: the subject has a contact id that does not exist.

    """
    question = Question(workspace_id, subject, field_request)
    match, data = find(session, workspace_id, subject, is_sale=is_sale)
    return _assess(session, question, match, data, default_max_age=default_max_age, now=now)


def assess_list(
    session: Session,
    workspace_id: str,
    subjects: Sequence[Subject],
    field_requests: Sequence[FieldRequest],
    *,
    default_max_age: timedelta,
    now: datetime,
) -> list[AssessedPerson | None]:
    """Return for each subject what `assess` does for each field, or None where it raises.

    The number of queries does not depend on the number of subjects, except that each subject matched by name
    needs its own.
    """
    matches = contact_matching.find_many(session, subjects, workspace_id=workspace_id)
    (data,) = contact_data.load_all(session, [_wanted(workspace_id, subjects, matches)])
    return [
        None
        if subject.contact_id is not None and match.contact is None
        else AssessedPerson(
            {
                request.field: _assess(
                    session,
                    Question(workspace_id, subject, request),
                    match,
                    data,
                    default_max_age=default_max_age,
                    now=now,
                )
                for request in field_requests
            },
            match,
            data,
        )
        for subject, match in zip(subjects, matches, strict=True)
    ]


def assess_by_key(
    session: Session, questions: Sequence[Question], *, default_max_age: timedelta, now: datetime
) -> list[KnownPerson | None]:
    """Return for each question what `assess` does, or None if no profile or id leads to the person.

    The number of queries does not depend on the number of questions. None has an address or a number.
    """
    matches = contact_matching.find_by_keys(session, [question.subject for question in questions])
    pairs = list(zip(questions, matches, strict=True))
    wanted = [
        _wanted(question.workspace_id, [question.subject], [match])
        for question, match in pairs
        if match.outcome == "matched"
    ]
    loaded = iter(contact_data.load_all(session, wanted))
    return [
        _assess(session, question, match, next(loaded), default_max_age=default_max_age, now=now)
        if match.outcome == "matched"
        else None
        for question, match in pairs
    ]


def _assess(
    session: Session,
    question: Question,
    match: Match,
    data: ContactData,
    *,
    default_max_age: timedelta,
    now: datetime,
) -> KnownPerson:
    subject, field_request = question.subject, question.field_request
    stored = _stored_person(question, match, data)
    contact = stored.contact
    stored_country = _stored_country(stored)
    provider_subject = subject
    if contact is not None and not match.remembered:
        provider_subject = _stored_facts(subject, contact, match, stored.data)
    return KnownPerson(
        provided=subject,
        subject=provider_subject.without_member_id(),
        contact=contact,
        suppressed=stored.suppressed,
        owned=stored.owned,
        # An owned value is returned however old it is, unless the request limits the age.
        has_fresh_value=_is_any_fresh(stored.values, field_request, default_max_age, now=now)
        if field_request.max_age or not stored.owned
        else bool(stored.values),
        has_value=bool(stored.values),
        country=_country(match) or country_of(provider_subject.company_domain),
        stored_country=stored_country,
        countries=stored.countries,
        visible_types=session.settings.regional_rules.visible_types(field_request.types, stored_country),
        needs_purpose=not stored.owned
        and session.settings.purpose_rule.requires(stored_country, *stored.countries),
        unverified=_unverified(stored.data, contact.id, field_request) if contact else (),
        company_id=_company_id(match, provider_subject),
        data=stored.data,
        looked_up=lookup_parts.of_match(
            question.workspace_id, match, stored.data, is_barred=stored.suppressed or bool(stored.exclusion)
        ),
        is_hidden=match.subject != subject,
        exclusion=stored.exclusion,
    )


def is_free(session: Session, workspace_id: str, subject: Subject, field_request: FieldRequest) -> bool:
    """Return whether the workspace owns the values, or obtains none, because the person is barred.

    Values that it is told nothing about are left out.
    """
    match, data = find(session, workspace_id, subject)
    stored = _stored_person(Question(workspace_id, subject, field_request), match, data)
    return stored.owned or stored.suppressed or stored.exclusion is not None


def _stored_person(question: Question, match: Match, data: ContactData) -> _StoredPerson:
    field_request = question.field_request
    contact = _best_remembered(match, data, field_request) if match.remembered else match.contact
    values = field_requests.requested_values(data, contact.id, field_request) if contact else []
    people = match.remembered or ((contact,) if contact else ())
    return _StoredPerson(
        match,
        data,
        contact,
        values,
        owned=contact is not None and field_requests.owns(data, contact.id, field_request, values),
        suppressed=any(data.is_suppressed(person, match.subject) for person in people or (None,)),
        exclusion=data.exclusion_of_any(people, question.subject),
        countries=frozenset(country for person in people if (country := data.country_of(person))),
    )


def find(
    session: Session,
    workspace_id: str,
    subject: Subject,
    *,
    is_sale: bool = False,
) -> tuple[Match, ContactData]:
    """Return the match of the subject, as `contact_matching.find_many` does, and the contacts' data."""
    (match,) = contact_matching.find_many(session, [subject], workspace_id=workspace_id, is_sale=is_sale)
    if subject.contact_id is not None and match.contact is None:
        raise ContactNotFound
    (data,) = contact_data.load_all(session, [_wanted(workspace_id, [subject], [match])])
    return match, data


def _wanted(workspace_id: str, subjects: Sequence[Subject], matches: Sequence[Match]) -> Wanted:
    people = [
        person
        for match in matches
        for person in match.remembered or ([match.contact] if match.contact else [])
    ]
    return Wanted(
        workspace_id,
        people,
        [match.subject for match in matches],
        subjects,
        same_people=[match.remembered for match in matches],
        employers=contact_data.employers_of(
            people, (company for match in matches for company in match.companies)
        ),
        as_admin=True,  # what is hidden from members only is left out by the role of the job's account
    )


def identifiers(session: Session, workspace_id: str, known: KnownPerson) -> list[Identifier]:
    """Return all identifiers of the person, given by the caller and stored."""
    provided = contact_data.requested_identifiers(known.provided, names=known.contact is None)
    if known.contact is None:
        return provided
    data = contact_data.load(session, workspace_id, [known.contact])
    return [*provided, *data.identifiers_of(known.contact)]


def is_suppressed(session: Session, workspace_id: str, contact: Person) -> bool:
    """Return whether the contact is currently suppressed."""
    return contact_data.load(session, workspace_id, [contact]).is_suppressed(contact)


def _is_any_fresh(
    values: Sequence[StoredEmail | StoredPhone],
    field_request: FieldRequest,
    default_max_age: timedelta,
    *,
    now: datetime,
) -> bool:
    """Return whether any value is younger than max_age or, without one, than its verdict's lifetime."""
    if field_request.max_age or field_request.field is ContactField.PHONE:
        return field_requests.is_any_since(values, now - (field_request.max_age or default_max_age))
    return any(
        is_fresh(EmailStatus(row.status), row.verified_at or row.last_seen_at, default_max_age, now=now)
        for row in values
    )


def _unverified(data: ContactData, contact_id: str, field_request: FieldRequest) -> tuple[FoundEmail, ...]:
    """Return the addresses that a verification could make usable, as their first source reported them.

    An address with a bounce reported by this workspace is left to the scheduled verification: the workspace's
    report must not be stored as a provider's status.
    """
    if field_request.field is not ContactField.EMAIL:
        return ()
    return tuple(
        emails.as_found(row)
        for row in data.emails.get(contact_id, ())
        if row.bounce_id is None
        and row.type in field_request.types
        and row.verified_at is None
        and row.status in _UNVERIFIED
    )


def _country(match: Match) -> str | None:
    """Return the country of the person, or else of their company."""
    records = (match.contact, match.company)
    return next((record.country for record in records if record is not None and record.country), None)


def _company_id(match: Match, subject: Subject) -> str | None:
    """Return the id of the contact's company, or of the one with the subject's domain."""
    company = match.company
    if company is None or match.remembered:
        return None
    is_sure = match.contact is not None or (company.domain and company.domain == subject.company_domain)
    return company.id if is_sure else None


def _stored_country(stored: _StoredPerson) -> str | None:
    """Return the country by which regional rules hide values of the person; None if it is not stored."""
    own = stored.data.country_of(stored.contact) if stored.contact is not None else None
    if own or stored.countries:
        return own or min(stored.countries)
    return stored.match.company.country if stored.contact is None and stored.match.company else None


def _best_remembered(match: Match, data: ContactData, field_request: FieldRequest) -> StoredContact | None:
    """Return the remembered contact that satisfies the request, preferably one owned; None if none does.

    The same request may have led to several contacts, each for another field.
    """

    def rank(contact: StoredContact) -> int:
        values = field_requests.requested_values(data, contact.id, field_request)
        if not values:
            return 1 if _unverified(data, contact.id, field_request) else 0
        return 3 if field_requests.owns(data, contact.id, field_request, values) else 2

    best = max(match.remembered, key=rank)
    return best if rank(best) else None


def _stored_facts(subject: Subject, contact: StoredContact, match: Match, data: ContactData) -> Subject:
    """Return the subject to send to providers: stored facts of the contact, nothing from the caller.

    The contact's e-mail or phone is included if the caller identified the contact by it, or if neither a
    profile nor a name with a company is stored. The reply is then about this contact for every workspace.
    If no name is stored, the caller's name is sent without the contact id: the provider may use it alone.
    """
    company = match.company
    exact = {key: getattr(subject, key) for key in ("email", "phone") if key in match.matched_on}
    if not (exact or contact.linkedin_url or (contact.full_name and company)):
        emails = sorted(data.emails.get(contact.id, ()), key=representations.quality_key)
        phones = sorted(data.phones.get(contact.id, ()), key=representations.quality_key)
        exact = {"email": emails[0].email} if emails else {"phone": phones[0].e164} if phones else {}
    return Subject(
        contact_id=contact.id if contact.full_name or not subject.name else None,
        linkedin_url=contact.linkedin_url,
        full_name=contact.full_name or subject.name,
        company_domain=company.domain if company else None,
        company_name=company.name if company else None,
        **exact,
    )
