"""Enriches one item: resolves its profile and paid fields, then stores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from app.domain.errors import InsufficientCredits, ProviderFailed, PurposeRequired, SpendingLimitReached
from app.domain.kinds import Outcome
from app.domain.messages import Message
from app.domain.records.subjects import Subject
from app.engine.contacts import bulk, companies, hidden_values, switchboards
from app.engine.contacts.stored_rows import StoredCompany, StoredContact
from app.engine.enrichments.skips import Skip
from app.engine.exclusions.exclusion_checks import Excluded
from app.engine.jobs import jobs, leases
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import JobItem
from app.engine.lookups import contact_data, known_people, representations
from app.engine.lookups.contact_data import requested_identifiers
from app.engine.lookups.disclosure import Disclosure
from app.engine.lookups.field_requests import DEFAULT_FIELD_REQUESTS
from app.engine.matching import caller_identifiers, contact_matching, survivorship
from app.engine.matching.survivorship import SourceRecords
from app.engine.privacy import redaction
from app.infra.database import database_clock
from app.infra.database.session import Session
from workers.execution.retries import RetryLater
from workers.execution.worker_services import WorkerServices
from workers.resolve import field_resolver, finding_identifiers, item_skips, profile_resolver
from workers.resolve.field_resolver import FieldResolution
from workers.resolve.profile_resolver import ProfileResolution

OUT_OF_CREDITS = Message(
    "The credits of the workspace, or max_credits, were used up before this item. "
    "Add credits, and submit the item in a new request with a new Idempotency-Key."
)
LIMIT_USED_UP = Message(
    "The spending limit was used up before this item. "
    "Raise it, and submit the item in a new request with a new Idempotency-Key."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResolution:
    """A resolved item: its profile, its paid fields with their prices, and why others were not resolved.

    `skip` is why the person or some fields are skipped.
    """

    profile: ProfileResolution = field(default_factory=ProfileResolution)
    skip: Skip | None = None
    fields: tuple[tuple[FieldResolution, int], ...] = ()
    refused: PurposeRequired | None = None
    unaffordable: InsufficientCredits | None = None
    failed: tuple[RetryLater, ...] = ()

    @property
    def suppressed(self) -> bool:
        """Return whether the person is suppressed."""
        return self.profile.result.suppressed or any(resolved.suppressed for resolved, _price in self.fields)

    @property
    def exclusion(self) -> Excluded | None:
        """Return why the workspace excludes the person, if it does."""
        found = (self.profile.exclusion, *(resolved.known.exclusion for resolved, _price in self.fields))
        return next(filter(None, found), None)

    @property
    def named_in_own(self) -> list[str]:
        """Return the identifiers in the workspace's own records that the item returns."""
        own = [resolved.own for resolved, _price in self.fields if resolved.own is not None]
        return list(dict.fromkeys(text for values in own for text in values.named))

    @property
    def is_skipped(self) -> bool:
        """Return whether the person is skipped."""
        return self.skip is not None and self.skip.is_whole

    def requested(self, fields: Sequence[str]) -> list[str]:
        """Return the requested fields that are not skipped."""
        return [name for name in fields if not self.skip or name not in self.skip.fields]

    @property
    def trace(self) -> list[dict[str, Any]]:
        """Return the trace of provider calls for the item."""
        return [
            *self.profile.result.trace,
            *(entry for resolved, _price in self.fields for entry in resolved.result.trace),
            *(entry for retry in self.failed for entry in retry.trace),
        ]


def resolve_item(claim: Claim, services: WorkerServices, item: JobItem) -> ItemResolution:
    """Resolve one item; writes nothing but the renewed lease.

    Raises:
        RetryLater: the providers failed, or a result is pending.

    """
    if "company" in item.request:
        return ItemResolution(profile=profile_resolver.company(claim, services, item))
    skip = item_skips.find(claim, services, item)
    if skip is not None and skip.is_whole:
        return ItemResolution(skip=skip)
    resolution = ItemResolution(profile=profile_resolver.person(claim, services, item), skip=skip)
    is_barred = resolution.suppressed or resolution.exclusion is not None
    return resolution if is_barred else _paid_fields(claim, services, item, resolution)


def store_item(
    session: Session, claim: Claim, item: JobItem, resolution: ItemResolution, *, now: datetime
) -> None:
    """Store the values, disclose the paid fields, and fill in the item."""
    _store(session, claim, item, resolution, now=now)
    if resolution.skip is not None and item.outcome not in {Outcome.SUPPRESSED, Outcome.EXCLUDED}:
        item.result = {**(item.result or {}), jobs.SKIPPED: resolution.skip.to_json()}
    if item.outcome in {Outcome.FOUND, Outcome.PARTIAL} and (named := resolution.named_in_own):
        item.request = item.request | {jobs.OWN_RECORDS: named}


def _store(
    session: Session, claim: Claim, item: JobItem, resolution: ItemResolution, *, now: datetime
) -> None:
    if resolution.is_skipped:
        item.outcome = Outcome.SKIPPED.value
    elif resolution.suppressed:
        _suppress(session, claim, item, resolution)
    elif (exclusion := resolution.exclusion) is not None:
        _exclude(session, claim, item, exclusion, is_told=resolution.profile.is_told)
    elif "company" in item.request:
        requested = profile_resolver.requested_company(item.request)
        profile = resolution.profile
        records = survivorship.store_company(
            session, requested, profile.result.companies, ranking=profile.ranking, now=now
        )
        company = companies.find(session, requested) or survivorship.first_company(session, records)
        _fill_in(session, item, ["company"], records, contact=None, company=company, disclosures={})
    else:
        _store_person(session, claim, item, resolution, now=now)


def _suppress(session: Session, claim: Claim, item: JobItem, resolution: ItemResolution) -> None:
    """Mark the item as suppressed or, if the workspace is not told about the person, as not found."""
    item.outcome = Outcome.SUPPRESSED.value
    if "subject" in item.request:
        item.request = redaction.without_subject(item.request)
    if not resolution.profile.is_told:
        _find_nothing(session, claim, item)


def _exclude(
    session: Session, claim: Claim, item: JobItem, exclusion: Excluded, *, is_told: bool = True
) -> None:
    """Mark the item as excluded or, if the workspace is not told about the person, as not found."""
    if is_told:
        item.outcome, item.result = Outcome.EXCLUDED.value, {jobs.EXCLUDED: exclusion.to_public()}
    else:
        _find_nothing(session, claim, item)


def _find_nothing(session: Session, claim: Claim, item: JobItem) -> None:
    fields = claim.request["fields"]
    _fill_in(session, item, fields, SourceRecords(), contact=None, company=None, disclosures={})


def _paid_fields(
    claim: Claim, services: WorkerServices, item: JobItem, resolution: ItemResolution
) -> ItemResolution:
    """Resolve each requested field that the job can still pay for."""
    fields: list[tuple[FieldResolution, int]] = []
    subject = Subject(**item.request["subject"])
    countries = finding_identifiers.countries_of(resolution.profile.result.contacts)
    refused = unaffordable = None
    failed: list[RetryLater] = []
    for name, field_request in DEFAULT_FIELD_REQUESTS.items():
        if name.value not in resolution.requested(claim.request["fields"]):
            continue
        _renew(claim, services)
        price = services.settings.price_of(name)
        try:
            resolved = field_resolver.resolve_field(
                claim, services, subject, field_request, price=price, item=item.index, countries=countries
            )
        except PurposeRequired as problem:
            refused = problem
            continue
        except InsufficientCredits as problem:
            unaffordable = problem
            continue
        except RetryLater as retry:
            if retry.snooze or claim.attempts < services.settings.max_attempts:
                raise  # an item is stored once, with all its fields
            failed.append(retry)  # the other fields are still resolved
            continue
        fields.append((resolved, price))
        # Nothing is charged yet; the next field must fit into what this one will leave of the hold.
        if not resolved.is_free:
            claim = replace(claim, charged=claim.charged + price)
    return replace(
        resolution, fields=tuple(fields), refused=refused, unaffordable=unaffordable, failed=tuple(failed)
    )


def _store_person(
    session: Session, claim: Claim, item: JobItem, resolution: ItemResolution, *, now: datetime
) -> None:
    subject = Subject(**item.request["subject"])
    profile = resolution.profile
    bulk.lock_resolution(session)  # no suppression or erasure commits until this transaction ends
    if _is_suppressed_by_now(session, claim, subject, resolution):
        _suppress(session, claim, item, resolution)
        return
    records = survivorship.store_person(
        session,
        profile.subject or subject,
        profile.result.contacts,
        ranking=profile.ranking,
        now=now,
        workspace_id=claim.workspace_id,
    )
    known = _stored_contact(session, claim, subject) or _resolved_contact(
        session, profile.subject or subject, records
    )
    disclosures, refused = _disclose_fields(session, claim, resolution, known, now=now)
    if disclosures is None:
        _suppress(session, claim, item, resolution)
        return
    if isinstance(disclosures, Excluded):
        _exclude(session, claim, item, disclosures)
        return
    contact = _stored_contact(session, claim, subject)
    if contact is None and (contact := survivorship.first_contact(session, records)) is not None:
        caller_identifiers.remember(session, claim.workspace_id, subject, contact.id, now=now)
    if contact is not None and not disclosures:
        data = contact_data.load(session, claim.workspace_id, [contact], [subject])
        if data.is_suppressed(contact):
            _suppress(session, claim, item, resolution)  # during the provider calls
            return
        if (exclusion := data.exclusion_of(contact, subject)) is not None:
            _exclude(session, claim, item, exclusion)
            return
    company = companies.get(session, contact.company_id) if contact and contact.company_id else None
    _fill_in(
        session,
        item,
        resolution.requested(claim.request["fields"]),
        records,
        contact=contact,
        company=company,
        disclosures=disclosures,
    )
    if (error := _error(replace(resolution, refused=refused))) is not None:
        item.error = error
        if item.outcome == Outcome.NOT_FOUND:  # not resolved
            item.outcome = None


def _error(resolution: ItemResolution) -> dict[str, Any] | None:
    """Return the error of the fields that were not resolved; None if all were."""
    if resolution.refused is not None:
        return resolution.refused.as_dict()
    if isinstance(resolution.unaffordable, SpendingLimitReached):
        return resolution.unaffordable.as_dict() | {"detail": LIMIT_USED_UP}
    if resolution.unaffordable is not None:
        return resolution.unaffordable.as_dict() | {"detail": OUT_OF_CREDITS}
    return ProviderFailed().as_dict() if resolution.failed else None


def _is_suppressed_by_now(
    session: Session, claim: Claim, subject: Subject, resolution: ItemResolution
) -> bool:
    """Return whether an identifier of the person was suppressed during the provider calls."""
    identifiers = [
        *requested_identifiers(subject, names=False),
        *finding_identifiers.of_contacts(resolution.profile.result.contacts),
    ]
    for resolved, _price in resolution.fields:
        identifiers += [
            *known_people.identifiers(session, claim.workspace_id, resolved.known),
            *finding_identifiers.of_result(resolved.result),
        ]
    return bool(switchboards.suppressed_people(session, identifiers))


def _disclose_fields(
    session: Session, claim: Claim, resolution: ItemResolution, known: StoredContact | None, *, now: datetime
) -> tuple[dict[str, Disclosure] | Excluded | None, PurposeRequired | None]:
    """Store the paid fields; return their disclosures by name, None if the person is now suppressed.

    If the workspace now excludes the person, return why. Return also the error of those for which a purpose
    must be stated.
    """
    disclosures: dict[str, Disclosure] = {}
    refused = resolution.refused
    for resolved, price in resolution.fields:
        found = _with_contact(resolved, known)
        try:
            stored = field_resolver.store(session, claim, found, price=price, now=now)
        except PurposeRequired as problem:
            refused = problem
            continue
        if stored.suppressed and not disclosures:
            return None, None
        if stored.exclusion is not None and not disclosures:
            return stored.exclusion, None
        if stored.disclosure is not None:
            disclosures[resolved.request.field.value] = stored.disclosure
            claim = replace(claim, charged=claim.charged + stored.disclosure.charge)
    return disclosures, refused


def _stored_contact(session: Session, claim: Claim, subject: Subject) -> StoredContact | None:
    return contact_matching.find(session, subject, workspace_id=claim.workspace_id).contact


def _resolved_contact(session: Session, subject: Subject, records: SourceRecords) -> StoredContact | None:
    """Return the contact in the responses, if the request can match only one person."""
    is_one = subject.contact_id is not None or subject.names_one_way
    return survivorship.first_contact(session, records) if is_one else None


def _with_contact(resolution: FieldResolution, person: StoredContact | None) -> FieldResolution:
    """Return the resolution with the person as its contact, if it has none and can match only one person."""
    known = resolution.known
    if known.contact is not None or person is None or not known.subject.names_one_way:
        return resolution
    subject = replace(known.subject, contact_id=person.id)
    return replace(resolution, known=replace(known, contact=person, subject=subject))


def _renew(claim: Claim, services: WorkerServices) -> None:
    with services.database.transaction() as session:
        lease = timedelta(seconds=services.settings.lease_seconds)
        leases.renew(session, claim, lease_until=database_clock.now() + lease)


def _fill_in(
    session: Session,
    item: JobItem,
    requested: Sequence[str],
    records: SourceRecords,
    *,
    contact: StoredContact | None,
    company: StoredCompany | None,
    disclosures: dict[str, Disclosure],
) -> None:
    values = {
        "profile": representations.contact_card(contact) if contact else None,
        "company": representations.company_card(company) if company else None,
        "email": disclosures["email"].values if "email" in disclosures else [],
        "phone": disclosures["phone"].values if "phone" in disclosures else [],
    }
    item.result = {
        "contact": values["profile"] if "profile" in requested else None,
        "company": values["company"] if "company" in requested else None,
        "emails": values["email"],
        "phones": values["phone"],
        **survivorship.field_provenance(
            session,
            records,
            contact=contact,
            company=company if "company" in requested else None,
            profile="profile" in requested,
        ),
    }
    for disclosed in (one for one in disclosures.values() if one.contact_id):
        item.request = item.request | {hidden_values.ANSWERED_ABOUT: disclosed.contact_id}
    missing = [name for name in requested if not values[name]]
    item.outcome = (
        Outcome.FOUND
        if not missing
        else Outcome.PARTIAL
        if len(missing) < len(requested)
        else Outcome.NOT_FOUND
    ).value
    item.charged = sum(disclosed.charge for disclosed in disclosures.values())
