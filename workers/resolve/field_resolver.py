"""Resolves one field of one person.

First from owned values, from the workspace's own systems, from fresh stored values, then by the waterfall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from app.domain.email_patterns.patterns import PatternStat
from app.domain.errors import InsufficientCredits, SpendingLimitReached
from app.domain.findings import FoundEmail, FoundPhone
from app.domain.kinds import Queue
from app.domain.normal.phones.phones import phone_from_e164
from app.domain.records.subjects import Subject
from app.domain.regional_rules import RegionalRules
from app.domain.spending import LimitUsage
from app.engine.contacts import bulk, learned_patterns, switchboards
from app.engine.exclusions.exclusion_checks import Excluded
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import LIMITED_BY
from app.engine.ledger import ownership
from app.engine.lookups import contact_data, disclosure, known_people, offers
from app.engine.lookups.disclosure import Disclosure, Purchase
from app.engine.lookups.field_requests import FieldRequest
from app.engine.lookups.known_people import KnownPerson
from app.engine.lookups.offers import Offer
from app.engine.matching import caller_identifiers
from app.engine.own_records.own_values import OwnField
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution.retries import MoveToQueue, RetryLater
from workers.execution.worker_services import WorkerServices
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse
from workers.resolve import (
    configured_waterfall,
    contact_storage,
    finding_identifiers,
    own_fields,
    provider_order,
)
from workers.resolve.waterfall import WaterfallResult


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldResolution:
    """A resolved field, before anything is stored or charged; `countries` are those known of the person.

    `own` are the values that the workspace has itself: if there are any, they are returned, and no others.
    """

    request: FieldRequest
    known: KnownPerson
    result: WaterfallResult
    countries: frozenset[str] = frozenset()
    own: OwnField | None = None

    @property
    def suppressed(self) -> bool:
        """Return whether the person is suppressed."""
        return self.known.suppressed or self.result.suppressed

    @property
    def is_free(self) -> bool:
        """Return whether nothing is charged: the workspace has the values, or there are none."""
        return self.own is not None or self.known.owned or self.is_empty

    @property
    def is_empty(self) -> bool:
        """Return whether no stored or found value may be disclosed."""
        return not (self.known.has_value or _fulfils(self.request, self.result.emails, self.result.phones))


@dataclass(frozen=True, slots=True)
class StoredField:
    """A stored field: its disclosure, if any value fulfils the request, or why the person is barred."""

    disclosure: Disclosure | None = None
    suppressed: bool = False
    exclusion: Excluded | None = None


def resolve_field(
    claim: Claim,
    services: WorkerServices,
    subject: Subject,
    field_request: FieldRequest,
    *,
    price: int,
    item: int | None = None,
    countries: frozenset[str] = frozenset(),
) -> FieldResolution:
    """Resolve a field from stored data, else from the providers; `item` is the index of an enrichment item.

    What the workspace has itself comes before what is paid for. `countries` are those in which providers have
    just placed the person.

    Raises:
        MoveToQueue: a provider must be called, which the queue of the claim does not do.
        RetryLater: the providers failed, or a result is pending.
        PurposeRequired: a purpose must be stated for the person; no provider was called.
        InsufficientCredits: the job's hold does not cover the price; no provider was called.

    """
    with services.database.reading() as session:
        now = database_clock.value(session)
        known = offers.assess(
            session,
            claim.workspace_id,
            subject,
            field_request,
            Offer(is_paid=price <= claim.budget, purpose=claim.purpose),
            default_max_age=services.settings.default_max_age,
            now=now,
        )
        known = _placed_in(known, countries, field_request, services.settings)
        [own] = own_fields.find_all(session, services, [(claim, known, field_request)], now=now)
    # Also for a barred person whom the workspace is not told about: the answer must not show it.
    if known.needs_purpose and claim.purpose is None and (known.is_hidden or not known.is_barred):
        raise services.settings.purpose_rule.refusal()
    verified = own_fields.verify(claim, services, known, own, item=item)
    if verified.field.values:
        return FieldResolution(
            request=field_request,
            known=known,
            result=WaterfallResult(trace=verified.trace + verified.field.trace(now)),
            countries=known.countries,
            own=verified.field,
        )
    try:
        resolved = _resolve_without_own(claim, services, known, field_request, price=price, item=item)
    except RetryLater as retry:
        retry.trace = verified.trace + retry.trace
        raise
    return replace(resolved, result=replace(resolved.result, trace=verified.trace + resolved.result.trace))


def _resolve_without_own(
    claim: Claim,
    services: WorkerServices,
    known: KnownPerson,
    field_request: FieldRequest,
    *,
    price: int,
    item: int | None,
) -> FieldResolution:
    """Resolve a field from stored data, else from the providers."""
    if not known.is_barred and not known.owned and price > claim.budget:
        raise _unaffordable(claim, price)
    if known.is_barred or known.has_fresh_value or not known.visible_types:
        return FieldResolution(
            request=field_request, known=known, result=WaterfallResult(), countries=known.countries
        )
    request = ProviderRequest(
        field=ProviderField(field_request.field.value),
        subject=known.subject,
        types=known.visible_types,
        patterns=_patterns(services, known),
        country=known.country,
        attempt=claim.attempts,
        max_age=field_request.max_age,
    )
    # A provider may take seconds; the threads of this queue are for what stored data answers in milliseconds.
    if claim.queue is Queue.INTERACTIVE and _needs_provider(services.settings, request, known):
        raise MoveToQueue(Queue.PROVIDERS)
    visible = replace(field_request, types=known.visible_types)
    result = _verify_then_fetch(claim, services, request, known, visible, item)
    # A response may identify a suppressed person whom the request did not, for example by a profile URL.
    with services.database.reading() as session:
        if switchboards.suppressed_people(session, finding_identifiers.of_result(result)):
            result = replace(result, suppressed=True)
    return FieldResolution(
        request=field_request,
        known=known,
        result=result,
        countries=known.countries | finding_identifiers.countries_of(result.contacts),
    )


def _placed_in(
    known: KnownPerson, countries: frozenset[str], field_request: FieldRequest, settings: Settings
) -> KnownPerson:
    """Return the person with these countries in addition to those that are stored."""
    if not countries:
        return known
    stored_country = known.stored_country or min(countries)  # of several, the same one in every run
    visible = settings.regional_rules.visible_types(field_request.types, stored_country)
    return replace(
        known,
        stored_country=stored_country,
        countries=known.countries | countries,
        visible_types=tuple(kind for kind in known.visible_types if kind in visible),
        needs_purpose=known.needs_purpose
        or (not known.owned and settings.purpose_rule.requires(*countries, *known.countries)),
    )


def _unaffordable(claim: Claim, price: int) -> InsufficientCredits:
    """Return why the job cannot pay the price: a spending limit made its hold smaller, or credits ran out."""
    limit = claim.request.get(LIMITED_BY)
    if limit is None:
        return InsufficientCredits(required=price, balance=claim.budget)
    return SpendingLimitReached(price, claim.budget, LimitUsage.from_dict(limit))


def _patterns(services: WorkerServices, known: KnownPerson) -> tuple[PatternStat, ...]:
    """Return the e-mail patterns that are known of the company's domain, and of its people elsewhere."""
    domain, company_id = known.subject.company_domain, known.company_id
    if domain is None and company_id is None:
        return ()
    with services.database.reading() as session:
        return tuple(learned_patterns.pattern_counts(session, domain, company_id))


def _needs_provider(settings: Settings, request: ProviderRequest, known: KnownPerson) -> bool:
    """Return whether a provider would be called: one that supports the request, or a verifier."""
    if known.unverified and provider_order.configured_order(
        settings, ProviderField.VERIFICATION, request.country
    ):
        return True
    return any(
        provider.unavailability(request) is None
        for provider in provider_order.configured_order(settings, request.field, request.country)
    )


def _verify_then_fetch(  # noqa: PLR0917 -- the parameters of `resolve_field`
    claim: Claim,
    services: WorkerServices,
    request: ProviderRequest,
    known: KnownPerson,
    field_request: FieldRequest,
    item: int | None,
) -> WaterfallResult:
    """Verify stored addresses before buying others; call the providers if none fulfils the request."""
    oldest = claim.claimed_at - field_request.max_age if field_request.max_age else None
    stored = configured_waterfall.verify_stored(claim, services, request, known.unverified, item=item)
    if stored.suppressed or _fulfils(field_request, stored.emails, (), oldest):
        return stored
    try:
        rules = services.settings.regional_rules
        is_fulfilled = partial(_is_fulfilled_by, field_request, rules, known.stored_country, oldest)
        fetched = configured_waterfall.run(
            claim, services, request, is_fulfilled, item=item, outlasts_outage=item is not None
        )
    except RetryLater as retry:
        retry.trace = stored.trace + retry.trace
        raise
    if stored.waiting is not None and not _fulfils(field_request, fetched.emails, (), oldest):
        raise RetryLater(stored.trace + fetched.trace, after=stored.waiting, snooze=True)
    return replace(
        fetched,
        emails=stored.emails + fetched.emails,
        verified=stored.verified,
        trace=stored.trace + fetched.trace,
    )


def store(
    session: Session, claim: Claim, resolution: FieldResolution, *, price: int, now: datetime
) -> StoredField:
    """Store the values and disclose those that fulfil the request.

    Raises:
        PurposeRequired: only now it is known that a purpose must be stated; the values are stored.
        RetryLater: the owned value was refunded meanwhile, and the job holds no credits for it; or the person
            was excluded meanwhile, of whom the workspace has the values itself.

    """
    if resolution.suppressed:
        return StoredField(suppressed=True)
    if resolution.known.exclusion is not None:
        return StoredField(exclusion=resolution.known.exclusion)
    if resolution.own is not None:
        return _disclose_own(session, claim, resolution.known, resolution.own)
    return _store_found(session, claim, resolution, price=price, now=now)


def _store_found(
    session: Session, claim: Claim, resolution: FieldResolution, *, price: int, now: datetime
) -> StoredField:
    workspace_id, known = claim.workspace_id, resolution.known
    if returned := finding_identifiers.of_result(resolution.result):
        bulk.lock_resolution(session)  # no suppression or erasure commits until this transaction ends
        stored = known_people.identifiers(session, workspace_id, known)
        if switchboards.suppressed_people(session, [*stored, *returned]):  # during the provider calls
            return StoredField(suppressed=True)
    contacts = contact_storage.store(session, known, resolution.result, now=now)
    if resolution.result.answers and contacts and known.subject.contact_id is None:
        caller_identifiers.remember(session, workspace_id, known.provided, contacts[0].id, now=now)
    purchase = purchase_of(claim, price=price, countries=resolution.countries, now=now)
    for contact in () if resolution.is_empty else contacts:
        data = contact_data.load(session, workspace_id, [contact], [known.provided], as_admin=True)
        exclusion = data.exclusion_of(contact, known.provided)
        if exclusion is not None and not data.is_suppressed(contact):
            return StoredField(exclusion=exclusion)
        disclosed = disclosure.disclose(session, purchase, contact, resolution.request, data)
        if disclosed is not None:
            offers.remember_sale(session, workspace_id, known, contact, now=now)
            return StoredField(disclosed)
    is_hidden = any(known_people.is_suppressed(session, workspace_id, contact) for contact in contacts)
    if (
        known.owned
        and price > claim.budget
        and not is_hidden
        and not _is_field_owned(session, claim, resolution)
    ):
        raise RetryLater(after=0.0, snooze=True)  # refunded meanwhile: no longer owned, and not paid for
    return StoredField(suppressed=is_hidden)


def _disclose_own(session: Session, claim: Claim, known: KnownPerson, own: OwnField) -> StoredField:
    """Disclose what the workspace has itself; nothing is stored, owned or charged.

    Raises:
        RetryLater: the workspace excludes the person or a value since it was found.

    """
    if own_fields.is_suppressed(session, claim, known, own):
        return StoredField(suppressed=True)
    if own_fields.is_excluded(session, claim, known, own):
        raise RetryLater(after=0.0, snooze=True)
    contact_id = known.contact.id if known.contact else None
    return StoredField(Disclosure(contact_id, own.to_public(), charge=0, already_owned=False))


def purchase_of(
    claim: Claim, *, price: int, countries: frozenset[str] = frozenset(), now: datetime
) -> Purchase:
    """Return the purchase of a field by a job; `countries` are those known of the person."""
    return Purchase(
        workspace_id=claim.workspace_id,
        job_id=claim.job_id,
        price=price,
        budget=claim.budget,
        now=now,
        purpose=claim.purpose,
        countries=countries,
    )


def _is_field_owned(session: Session, claim: Claim, resolution: FieldResolution) -> bool:
    """Return whether the workspace owns the field of the stored contact, even if it has no values."""
    contact = resolution.known.contact
    if contact is None:
        return False
    owned = ownership.owned(session, claim.workspace_id, [contact.id])
    return (contact.id, resolution.request.field.value) in owned.fields


def _is_fulfilled_by(
    field_request: FieldRequest,
    rules: RegionalRules,
    country: str | None,
    oldest: datetime | None,
    response: ProviderResponse,
) -> bool:
    """Return whether a value of the response fulfils the request and is not hidden; `country` is stored."""
    if not country and response.contact is not None:
        country = finding_identifiers.country_of(response.contact)
    emails = [found for found in response.emails if not rules.hides_email(found.type, country)]
    phones = [found for found in response.phones if not _is_hidden(rules, found, country)]
    return _fulfils(field_request, emails, phones, oldest)


def _is_hidden(rules: RegionalRules, found: FoundPhone, country: str | None) -> bool:
    number = phone_from_e164(found.e164)
    return rules.hides_phone(found.type, number.line_type, country, number.country)


def _fulfils(
    field_request: FieldRequest,
    emails: Sequence[FoundEmail],
    phones: Sequence[FoundPhone],
    oldest: datetime | None = None,
) -> bool:
    """Return whether a value has a requested type and status, and was verified or seen since `oldest`."""
    values: tuple[FoundEmail | FoundPhone, ...] = (*emails, *phones)
    return any(
        field_request.accepts(value.type, str(value.status))
        and (oldest is None or (value.verified_at or value.source.at) >= oldest)
        for value in values
    )
