"""Enriching one item: who or what it is, and each paid field of it; first found out, then written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.core.contacts import bulk, companies, suppressions
from app.core.contacts.companies import Company
from app.core.contacts.contacts import Contact
from app.core.jobs import leases
from app.core.jobs.jobs import JobItem
from app.core.jobs.leases import Claim
from app.core.lookups import disclosure, representations
from app.core.lookups.contact_data import given_identifiers
from app.core.lookups.disclosure import Disclosure
from app.core.lookups.enrichment_estimates import DEFAULT_FIELD_REQUESTS, JOB_KIND_BY_FIELD
from app.core.matching import caller_identifiers, contact_matching, survivorship
from app.core.matching.survivorship import SourceRecords
from app.core.privacy import redaction
from app.domain.errors import InsufficientCredits, ProviderFailed
from app.domain.kinds import Outcome
from app.domain.records.subjects import Subject
from app.infra import database_clock
from workers.execution.job_runner import RetryLater, WorkerServices
from workers.resolve import field_resolver, profile_resolver
from workers.resolve.field_resolver import FieldResolution
from workers.resolve.profile_resolver import ProfileResolution

OUT_OF_CREDITS = (
    "The workspace's credits or max_credits had run out when it was this item's turn. "
    "Ask for it again in a new request, with a new Idempotency-Key, when there are more."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResolution:
    """What was found out about an item: who it is, and its paid fields with their prices."""

    profile: ProfileResolution
    fields: tuple[tuple[FieldResolution, int], ...] = ()
    unaffordable: InsufficientCredits | None = None
    failed: tuple[RetryLater, ...] = ()

    @property
    def suppressed(self) -> bool:
        """Tell whether the person must be left alone."""
        return self.profile.suppressed or any(one.suppressed for one, _price in self.fields)

    @property
    def trace(self) -> list[dict[str, Any]]:
        """Give who was asked about the item."""
        return [
            *self.profile.result.trace,
            *(line for one, _price in self.fields for line in one.result.trace),
            *(line for later in self.failed for line in later.trace),
        ]


def resolve_item(claim: Claim, services: WorkerServices, item: JobItem) -> ItemResolution:
    """Ask about one item, without writing anything but a longer lease.

    Raises:
        RetryLater: nobody could answer now, or somebody needs time.
        ContactNotFound: the item gives a contact id that does not exist.
        LeaseLost: the job is no longer this worker's.

    """
    if "company" in item.request:
        return ItemResolution(profile=profile_resolver.company(claim, services, item))
    found = ItemResolution(profile=profile_resolver.person(claim, services, item))
    return found if found.suppressed else _paid_fields(claim, services, item, found)


def store_item(
    session: Session, claim: Claim, item: JobItem, found: ItemResolution, *, now: datetime
) -> None:
    """Store what was found, hand over what is paid for, and fill in the item."""
    if found.suppressed:
        item.outcome = Outcome.SUPPRESSED.value
    elif "company" in item.request:
        named = profile_resolver.named_company(item.request)
        told = found.profile
        said = survivorship.keep_company(session, named, told.result.companies, ranking=told.ranking, now=now)
        company = companies.find(session, named) or survivorship.first_company(session, said)
        _fill_in(session, item, ["company"], said, contact=None, company=company, handed={})
    else:
        _write_person(session, claim, item, found, now=now)
    if item.outcome == Outcome.SUPPRESSED and "subject" in item.request:
        item.request = redaction.without_subject(item.request)


def _paid_fields(
    claim: Claim, services: WorkerServices, item: JobItem, found: ItemResolution
) -> ItemResolution:
    """Find out each paid field that the job can still afford."""
    findings: list[tuple[FieldResolution, int]] = []
    subject = Subject(**item.request["subject"])
    unaffordable = None
    failed: list[RetryLater] = []
    for name, wish in DEFAULT_FIELD_REQUESTS.items():
        if name.value not in claim.request["fields"]:
            continue
        _renew(claim, services)
        price = services.settings.prices[JOB_KIND_BY_FIELD[name]]
        try:
            one = field_resolver.resolve_field(claim, services, subject, wish, price=price, item=item.index)
        except InsufficientCredits as problem:
            unaffordable = problem
            continue
        except RetryLater as later:
            if later.snooze or claim.attempts < services.settings.max_attempts:
                raise
            failed.append(later)  # what the other fields brought is kept
            continue
        findings.append((one, price))
        if not (one.known.owned or one.is_empty):
            claim = replace(claim, charged=claim.charged + price)
    return replace(found, fields=tuple(findings), unaffordable=unaffordable, failed=tuple(failed))


def _write_person(
    session: Session, claim: Claim, item: JobItem, found: ItemResolution, *, now: datetime
) -> None:
    subject = Subject(**item.request["subject"])
    told = found.profile
    bulk.lock_resolution(session)  # from here on nobody else suppresses or erases whom this is about
    if _is_suppressed_by_now(session, claim, subject, found):
        item.outcome = Outcome.SUPPRESSED.value
        return
    said = survivorship.keep_person(
        session, told.asked or subject, told.result.contacts, ranking=told.ranking, now=now
    )
    known = _known(session, claim, subject) or _same_person(session, told.asked or subject, said)
    handed = _hand_over(session, claim, found, known, now=now)
    if handed is None:
        item.outcome = Outcome.SUPPRESSED.value
        return
    contact = _known(session, claim, subject)
    if contact is None and (contact := survivorship.first_contact(session, said)) is not None:
        caller_identifiers.remember(session, claim.workspace_id, subject, contact.id, now=now)
    if contact is not None and not handed and disclosure.is_suppressed(session, claim.workspace_id, contact):
        item.outcome = Outcome.SUPPRESSED.value  # suppressed while the providers were asked
        return
    company = companies.get(session, contact.company_id) if contact and contact.company_id else None
    _fill_in(session, item, claim.request["fields"], said, contact=contact, company=company, handed=handed)
    if found.failed:
        item.error = ProviderFailed().as_dict()
        if item.outcome == Outcome.NOT_FOUND:
            item.outcome = None
    if found.unaffordable is not None:
        item.error = found.unaffordable.as_dict() | {"detail": OUT_OF_CREDITS}
        if item.outcome == Outcome.NOT_FOUND:  # nobody looked
            item.outcome = None


def _is_suppressed_by_now(session: Session, claim: Claim, subject: Subject, found: ItemResolution) -> bool:
    """Return whether anything that names the person went on the list while the providers were asked."""
    names = [*given_identifiers(subject), *field_resolver.identifying_values(found.profile.result.contacts)]
    for one, _price in found.fields:
        names += [
            *disclosure.identifiers(session, claim.workspace_id, one.known),
            *field_resolver.identified_by(one.result),
        ]
    return bool(suppressions.suppressed(session, names))


def _hand_over(
    session: Session, claim: Claim, found: ItemResolution, known: Contact | None, *, now: datetime
) -> dict[str, Disclosure] | None:
    """Store and hand over the paid fields, by name; None if the person has been suppressed meanwhile."""
    handed: dict[str, Disclosure] = {}
    for one, price in found.fields:
        kept = field_resolver.store(session, claim, _about(one, known), price=price, now=now)
        if kept.suppressed and not handed:
            return None
        if kept.disclosure is not None:
            handed[one.request.field.value] = kept.disclosure
            claim = replace(claim, charged=claim.charged + kept.disclosure.charge)
    return handed


def _known(session: Session, claim: Claim, subject: Subject) -> Contact | None:
    return contact_matching.find(session, subject, workspace_id=claim.workspace_id).contact


def _same_person(session: Session, asked: Subject, said: SourceRecords) -> Contact | None:
    """Return whom the providers told of, if the question can have been about one person only."""
    is_one = asked.contact_id is not None or asked.names_one_way
    return survivorship.first_contact(session, said) if is_one else None


def _about(one: FieldResolution, person: Contact | None) -> FieldResolution:
    """Let the values be stored with the person, if they are about one only and it is not stored yet."""
    known = one.known
    if known.contact is not None or person is None or not known.subject.names_one_way:
        return one
    subject = replace(known.subject, contact_id=person.id)
    return replace(one, known=replace(known, contact=person, subject=subject))


def _renew(claim: Claim, services: WorkerServices) -> None:
    with services.database.transaction() as session:
        lease = timedelta(seconds=services.settings.lease_seconds)
        leases.renew(session, claim, lease_until=database_clock.now() + lease)


def _fill_in(
    session: Session,
    item: JobItem,
    wanted: Sequence[str],
    said: SourceRecords,
    *,
    contact: Contact | None,
    company: Company | None,
    handed: dict[str, Disclosure],
) -> None:
    got = {
        "profile": representations.contact_card(contact) if contact else None,
        "company": representations.company_card(company) if company else None,
        "email": handed["email"].values if "email" in handed else [],
        "phone": handed["phone"].values if "phone" in handed else [],
    }
    item.result = {
        "contact": got["profile"] if "profile" in wanted else None,
        "company": got["company"] if "company" in wanted else None,
        "emails": got["email"],
        "phones": got["phone"],
        **survivorship.field_provenance(
            session,
            said,
            contact=contact,
            company=company if "company" in wanted else None,
            profile="profile" in wanted,
        ),
    }
    missing = [name for name in wanted if not got[name]]
    item.outcome = (
        Outcome.FOUND if not missing else Outcome.PARTIAL if len(missing) < len(wanted) else Outcome.NOT_FOUND
    ).value
    item.charged = sum(one.charge for one in handed.values())
