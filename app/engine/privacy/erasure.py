"""Erases all data of a person and prevents new data from being stored (GDPR, articles 17, 19 and 21).

First all identifiers of the person are added to the suppression list, in a separate transaction: from then on
nothing new about them is stored. Then the stored data is searched, and deleted in one transaction.

Only the given identifiers and those stored with the person's contact are suppressed; of a person who has none
of their own, the name at the company. Another spelling of an address (a plus-address) that was never stored
can be imported again. An address or number shared with other contacts, such as a switchboard's, is kept for
them and not suppressed. The ledger, companies and accounts are not changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import and_, delete, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute

from app.domain import kinds
from app.domain.audit_actions import Action
from app.domain.errors import ContactNotFound
from app.domain.event_types import EventType
from app.domain.normal.names.name_keys import name_key, nickname_of
from app.domain.records.person_matcher import PersonMatcher
from app.domain.suppression_lists import forms
from app.engine.accounts.accounts import Account
from app.engine.accounts.workspaces import Workspace
from app.engine.audit_log import entries as audit_log
from app.engine.contacts import bulk, emails, phones, website_addresses
from app.engine.contacts.bounce_reports import Feedback
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.saved.contact_lists import ContactList
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.website_addresses import WebsiteAddress
from app.engine.events import deliveries
from app.engine.jobs.jobs import Job
from app.engine.jobs.provider_calls import ProviderCall
from app.engine.ledger import reveals
from app.engine.ledger.reveals import Reveal
from app.engine.lookups import contact_data
from app.engine.matching import caller_identifiers
from app.engine.mentions import mentions
from app.engine.mentions.mention_sources import JOBS, PROFILE_TEXTS, PROFILES
from app.engine.own_records import own_verifications
from app.engine.own_records.own_verifications import OwnVerification
from app.engine.privacy import recipient_events, redaction
from app.engine.privacy.holdings import PersonalData, all_holdings, all_sources
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.session import Session

_OF_CONTACTS: dict[str, InstrumentedAttribute[Any]] = {
    "contacts": Contact.id,
    "emails": Email.contact_id,
    "phones": Phone.contact_id,
    "reveals": Reveal.contact_id,
    "feedback": Feedback.contact_id,
}


@dataclass(frozen=True, slots=True)
class Recipient:
    """A workspace that received a field of the person, when, and for what purpose, if it was stated.

    It must be notified (article 19).
    """

    workspace_id: str
    workspace: str
    field: str
    at: datetime
    purpose: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasurePlan:
    """The stored data of a person, by id.

    `to_suppress` are the identifiers for the suppression list; `shared` counts those that other contacts also
    have. `lookup_ids` are jobs to delete, `job_ids` jobs to redact, `referring_ids` jobs about other people
    whose client reference mentions the person. `mentioning_ids` are saved profiles of other people that do,
    `list_ids` lists whose name does. `of_features` is what features hold, by the name under which it is
    counted. `providers` were asked about the person; `accounts` sign in with an address of the person.
    """

    matcher: PersonMatcher
    contact_ids: tuple[str, ...] = ()
    to_suppress: tuple[Identifier, ...] = ()
    shared: int = 0
    job_ids: tuple[str, ...] = ()
    referring_ids: tuple[str, ...] = ()
    lookup_ids: tuple[str, ...] = ()
    profile_ids: tuple[str, ...] = ()
    mentioning_ids: tuple[str, ...] = ()
    list_ids: tuple[str, ...] = ()
    of_features: Mapping[str, PersonalData] = field(default_factory=dict)
    recipients: tuple[Recipient, ...] = ()
    providers: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)


def find_contacts(
    session: Session, identifiers: Sequence[Identifier], contact_ids: Sequence[str]
) -> list[Contact]:
    """Return the contacts that have one of the identifiers or ids.

    This includes contacts without name and LinkedIn URL that callers requested by one of these identifiers
    and by no other of its kind.

    Raises:
        ContactNotFound: one of the ids does not exist.

    """
    matcher = redaction.person_matcher(identifiers)
    nameless = and_(Contact.full_name.is_(None), Contact.linkedin_url.is_(None))
    only_named = caller_identifiers.only_named_by(session, identifiers)
    ids = set(contact_ids)
    for query in (  # one by one, since alternatives of several tables would read every contact
        select(Contact.id).where(Contact.linkedin_url.in_(matcher.linkedin_urls)),
        select(Contact.id).where(Contact.member_url.in_(matcher.linkedin_urls)),
        select(Email.contact_id).where(emails.has_address(session, matcher.emails)),
        select(Phone.contact_id).where(phones.has_number(session, matcher.phones)),
        select(Contact.id).where(nameless, Contact.id.in_(only_named)),
    ):
        ids.update(session.scalars(query))
    found = list(session.scalars(select(Contact).where(Contact.id.in_(ids)).order_by(Contact.id)))
    if not {contact.id for contact in found}.issuperset(contact_ids):
        raise ContactNotFound
    return found


def plan(session: Session, contacts: Sequence[Contact], identifiers: Sequence[Identifier]) -> ErasurePlan:
    """Return the stored data of these contacts and identifiers."""
    ids = tuple(contact.id for contact in contacts)
    contact_points = emails.by_contact(session, ids), phones.by_contact(session, ids)
    stored = [
        identifier
        for contact in contacts
        for identifier in contact_data.stored_identifiers(contact, *contact_points)
    ]
    shared = _shared(session, stored, ids)
    own = tuple(
        dict.fromkeys(identifier for identifier in (*identifiers, *stored) if identifier not in shared)
    )
    unidentified = [
        contact
        for contact in contacts
        if shared.issuperset(contact_data.stored_identifiers(contact, *contact_points))
    ]
    employments = _employments(session, unidentified)
    matcher = redaction.person_matcher(own, contact_ids=ids, names=_names(session, contacts))
    jobs, referring, lookups = _jobs(session, matcher)
    profiles, mentioning = _profiles(session, matcher)
    lists = [
        row.id
        for row in session.execute(select(ContactList.id, ContactList.name))
        if matcher.matches(row.name)
    ]
    of_features = {
        name: find(session, matcher) for holdings in all_holdings() for name, find in holdings.find.items()
    } | {
        OwnVerification.__tablename__: own_verifications.of_person(session, matcher),
        WebsiteAddress.__tablename__: website_addresses.of_person(session, matcher),
    }
    notes = len(mentioning) + len(lists) + len(referring) + sum(held.notes for held in of_features.values())
    return ErasurePlan(
        matcher=matcher,
        contact_ids=ids,
        to_suppress=own + employments,
        shared=len(shared),
        job_ids=tuple(jobs),
        referring_ids=tuple(referring),
        lookup_ids=tuple(lookups),
        profile_ids=tuple(profiles),
        mentioning_ids=tuple(mentioning),
        list_ids=tuple(lists),
        of_features=of_features,
        recipients=_recipients(session, ids),
        providers=_providers(session, jobs),
        accounts=tuple(session.scalars(select(Account.id).where(Account.email.in_(matcher.emails)))),
        counts=_counts(session, ids)
        | {"jobs": len(jobs), "lookups": len(lookups)}
        | {"saved_profiles": len(profiles), "notes": notes}
        | {name: held.rows for name, held in of_features.items()},
    )


def erase(session: Session, erasure_plan: ErasurePlan, *, now: datetime) -> None:
    """Delete and redact the data in the plan, and release the credits held by jobs that end.

    The plan's identifiers are on the suppression list already. Contacts stored since then by a process that
    checked the list earlier are deleted too.
    """
    bulk.lock_resolution(session)
    mentions.lock(session, all_sources())
    job_ids = [*erasure_plan.job_ids, *erasure_plan.referring_ids]
    jobs = _locked_jobs(session, job_ids)  # before contacts: in the order of a worker's locks
    erased = {
        *erasure_plan.contact_ids,
        *(contact.id for contact in find_contacts(session, erasure_plan.to_suppress, ())),
    }
    recipient_events.notify(session, EventType.PERSON_ERASED, sorted(erased), now=now)
    reveals.reassign_shared(session, erased)
    session.execute(delete(Contact).where(Contact.id.in_(erased)))
    audit_log.record_each(session, Action.PERSON_ERASE, erased)
    own = or_(
        SavedProfile.id.in_(erasure_plan.profile_ids),
        SavedProfile.linkedin_url.in_(erasure_plan.matcher.linkedin_urls),
    )
    session.execute(delete(SavedProfile).where(own))
    for profile in session.scalars(
        select(SavedProfile).where(SavedProfile.id.in_(erasure_plan.mentioning_ids))
    ):
        _clean(profile, erasure_plan.matcher)
    named = ContactList.id.in_(erasure_plan.list_ids)
    session.execute(update(ContactList).where(named).values(name=ContactList.id))
    changed = [source for held in erasure_plan.of_features.values() for source in held.erase(session)]
    caller_identifiers.delete_all(session, erasure_plan.to_suppress)
    redaction.delete_lookups(session, erasure_plan.lookup_ids)
    for job in jobs:
        redaction.redact(session, job, erasure_plan.matcher, now=now)
    redaction.delete_idempotency_keys(session, [*erasure_plan.job_ids, *erasure_plan.profile_ids])
    deliveries.erase(session, erasure_plan.matcher)
    mentions.reindex(session, JOBS, [(job_id,) for job_id in job_ids])
    mentions.reindex(session, PROFILES, [(profile_id,) for profile_id in erasure_plan.mentioning_ids])
    for source, keys in changed:
        mentions.reindex(session, source, keys)


def _locked_jobs(session: Session, job_ids: Collection[str]) -> Sequence[Job]:
    query = select(Job).where(Job.id.in_(job_ids)).order_by(Job.workspace_id, Job.id).with_for_update()
    return session.scalars(query.execution_options(populate_existing=True)).all()


def _shared(session: Session, stored: Sequence[Identifier], ids: Sequence[str]) -> frozenset[Identifier]:
    """Return the identifiers that other contacts also have."""
    found: set[Identifier] = set()
    for kind, column, contact_id in (
        ("email", Email.email_index, Email.contact_id),
        ("phone", Phone.e164_index, Phone.contact_id),
    ):
        values = [identifier.value for identifier in stored if identifier.kind == kind]
        forms = stored_forms(session, kind, values)
        others = select(column).where(column.in_(forms), contact_id.not_in(ids))
        found |= {Identifier(kind, forms[form]) for form in session.scalars(others)}
    return frozenset(found)


def _names(session: Session, contacts: Sequence[Contact]) -> frozenset[tuple[str, str]]:
    """Return each name of the people, paired with their company's domain and with its normalised name."""
    pairs: set[tuple[str, str]] = set()
    for contact in contacts:
        company = session.get(Company, contact.company_id) if contact.company_id else None
        names = {contact.name_key, name_key(f"{contact.first_name or ''} {contact.last_name or ''}")}
        if nickname := nickname_of(contact.full_name or ""):
            names.add(name_key(f"{nickname} {contact.last_name or ''}"))
        company_keys = {company.domain, company.name_key} if company else set()
        pairs |= {
            (name, company_key) for name in names if name for company_key in company_keys if company_key
        }
    return frozenset(pairs)


def _employments(session: Session, contacts: Sequence[Contact]) -> tuple[Identifier, ...]:
    """Return the names of the people at their companies; of one without a company, nothing is specific."""
    pairs = sorted(
        (contact.name_key, employer)
        for contact in contacts
        if contact.company_id and (company := session.get(Company, contact.company_id))
        for employer in (company.domain, company.name_key)
        if contact.name_key and employer
    )
    return tuple(Identifier("name", forms.employment(*pair)) for pair in pairs)


def _jobs(session: Session, matcher: PersonMatcher) -> tuple[list[str], list[str], list[str]]:
    """Return the ids of jobs that mention the person.

    They are those to redact, those that do so only in a client reference, and lookups to delete.
    """
    job_ids: set[str] = set()
    referring_ids: set[str] = set()
    lookup_ids: set[str] = set()
    for row, content in mentions.find(session, JOBS, matcher):
        if row.kind in kinds.deleted() and row.finished_at:
            lookup_ids.add(row.id)
        elif matcher.matches(redaction.without_references(content)):
            job_ids.add(row.id)
        else:
            referring_ids.add(row.id)
    return sorted(job_ids), sorted(referring_ids - job_ids), sorted(lookup_ids)


def _profiles(session: Session, matcher: PersonMatcher) -> tuple[list[str], list[str]]:
    """Return the ids of the person's saved profiles, and of other people's that mention the person."""
    own: set[str] = set()
    mentioning: set[str] = set()
    for row, (subject, *_texts) in mentions.find(session, PROFILES, matcher):
        (own if matcher.matches(subject) else mentioning).add(row.id)
    return sorted(own), sorted(mentioning)


def _clean(profile: SavedProfile, matcher: PersonMatcher) -> None:
    """Remove the person from another person's saved profile."""
    for name in PROFILE_TEXTS:
        if matcher.matches(getattr(profile, name)):
            setattr(profile, name, None)
    profile.tags = [tag for tag in profile.tags if not matcher.matches(tag)]


def _recipients(session: Session, ids: Sequence[str]) -> tuple[Recipient, ...]:
    query = (
        select(Reveal.workspace_id, Workspace.name, Reveal.field, Reveal.created_at, Reveal.purpose)
        .join(Workspace, Workspace.id == Reveal.workspace_id)
        .where(Reveal.contact_id.in_(ids))
        .order_by(Reveal.created_at, Reveal.workspace_id, Reveal.field)
    )
    return tuple(Recipient(*row) for row in session.execute(query))


def _providers(session: Session, job_ids: Sequence[str]) -> tuple[str, ...]:
    query = select(ProviderCall.provider).where(ProviderCall.job_id.in_(job_ids)).distinct()
    return tuple(sorted(session.scalars(query)))


def _counts(session: Session, ids: Sequence[str]) -> dict[str, int]:
    counts = {
        table: session.scalar(select(func.count()).where(column.in_(ids))) or 0
        for table, column in _OF_CONTACTS.items()
    }
    for holdings in all_holdings():
        counts |= holdings.count(session, ids)
    return counts
