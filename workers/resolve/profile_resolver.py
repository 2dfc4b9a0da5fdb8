"""Resolves the profile of a person or company: calls providers until no field is missing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from app.domain.findings import FoundCompany, Source, SourceKind
from app.domain.normal.places.countries import country_of
from app.domain.records.merging import sortable
from app.domain.records.subjects import Subject
from app.engine.contacts import companies, switchboards
from app.engine.contacts.stored_rows import StoredCompany, StoredContact
from app.engine.exclusions.exclusion_checks import Excluded
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import JobItem
from app.engine.lookups import offers
from app.engine.lookups.field_requests import DEFAULT_FIELD_REQUESTS, ContactField
from app.engine.lookups.known_people import KnownPerson
from app.engine.lookups.offers import Offer
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution.retries import RetryLater
from workers.execution.worker_services import WorkerServices
from workers.providers import registry
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse
from workers.resolve import configured_waterfall, finding_identifiers, provider_order
from workers.resolve.waterfall import GoodEnough, WaterfallResult

_FIELDS_BY_PART = {"profile": ("full_name", "title"), "company": ("company",)}
"""The fields that complete a person's profile and company."""
_COMPANY_FIELDS = frozenset({"name", "domain", "industry", "headcount", "country"})
_COLUMNS = {"company": "company_id"}
_CALLER = Source("caller", SourceKind.PROVIDER, datetime.min.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileResolution:
    """A resolved profile; `ranking` names the providers, most trusted first.

    `subject` is the subject of the calls; None if no provider was called. `is_told` is whether the workspace
    is told that the person is suppressed, or excluded for the reason of `exclusion`.
    """

    result: WaterfallResult = field(default_factory=WaterfallResult)
    ranking: tuple[str, ...] = ()
    subject: Subject | None = None
    is_told: bool = True
    exclusion: Excluded | None = None


@dataclass(slots=True)
class _MissingFields:
    """The fields of a record, a contact or a company, that no provider has returned yet."""

    record: Literal["contact", "company"]
    names: Collection[str]

    def filled_by(self, response: ProviderResponse) -> bool:
        """Remove the fields that a response fills; return whether none is missing any more."""
        found = response.contact if self.record == "contact" else response.company
        if found is not None:
            self.names = [name for name in self.names if not getattr(found, name)]
        return not self.names


def requested_company(request: dict[str, Any]) -> FoundCompany:
    """Return the company as the caller identified it."""
    return FoundCompany(source=_CALLER, **request["company"])


def person(claim: Claim, services: WorkerServices, item: JobItem) -> ProfileResolution:
    """Resolve the person's profile, unless the stored one is fresh and complete."""
    settings = services.settings
    requested = {name for part in claim.request["fields"] for name in _FIELDS_BY_PART.get(part, ())}
    with services.database.reading() as session:
        now = database_clock.value(session)
        known = _known(session, claim, settings, Subject(**item.request["subject"]), now=now)
    if known.suppressed:
        return ProfileResolution(result=WaterfallResult(suppressed=True), is_told=not known.is_hidden)
    if known.exclusion is not None:
        return ProfileResolution(exclusion=known.exclusion, is_told=not known.is_hidden)
    missing = _MissingFields(
        "contact", requested - _fresh_fields(known.contact, requested, since=now - settings.default_max_age)
    )
    if not missing.names:
        return ProfileResolution()
    request = ProviderRequest(
        field=ProviderField.PERSON, subject=known.subject, country=known.country, attempt=claim.attempts
    )
    result = _run_waterfall(
        claim,
        services,
        request,
        missing.filled_by,
        item=item,
        stored=known.contact is not None,
    )
    with services.database.reading() as session:
        if switchboards.suppressed_people(session, finding_identifiers.of_contacts(result.contacts)):
            result = replace(result, suppressed=True)
    return ProfileResolution(result=result, ranking=_ranking(settings, request), subject=known.subject)


def _known(
    session: Session, claim: Claim, settings: Settings, subject: Subject, *, now: datetime
) -> KnownPerson:
    """Return what is stored of the person, also if a value that the job sells is all that tells of it."""
    sold = [name for name in DEFAULT_FIELD_REQUESTS if name.value in claim.request["fields"]]
    for name in sold or [ContactField.EMAIL]:
        price = settings.price_of(name)
        known = offers.assess(
            session,
            claim.workspace_id,
            subject,
            DEFAULT_FIELD_REQUESTS[name],
            Offer(is_paid=bool(sold) and price <= claim.budget, purpose=claim.purpose),
            default_max_age=settings.default_max_age,
            now=now,
        )
        if known.is_sold or not known.is_hidden or known.is_barred:
            break
    return known


def company(claim: Claim, services: WorkerServices, item: JobItem) -> ProfileResolution:
    """Resolve the company, unless the stored one is fresh and complete."""
    settings, requested = services.settings, requested_company(item.request)
    with services.database.reading() as session:
        stored = companies.find(session, requested)
        now = database_clock.value(session)
    known = _fresh_fields(stored, _COMPANY_FIELDS, since=now - settings.default_max_age)
    missing = _MissingFields("company", _COMPANY_FIELDS - known)
    if not missing.names:
        return ProfileResolution()
    identity = stored or requested  # never the caller's data about a stored company
    subject = Subject(
        company_domain=identity.domain,
        company_name=identity.name,
        linkedin_url=identity.linkedin_url,  # the company's own
    )
    country = (stored.country if stored else None) or country_of(subject.company_domain)
    request = ProviderRequest(
        field=ProviderField.COMPANY, subject=subject, country=country, attempt=claim.attempts
    )
    result = _run_waterfall(
        claim,
        services,
        request,
        missing.filled_by,
        item=item,
        stored=stored is not None,
    )
    return ProfileResolution(result=result, ranking=_ranking(settings, request), subject=subject)


def _run_waterfall(
    claim: Claim,
    services: WorkerServices,
    request: ProviderRequest,
    good_enough: GoodEnough,
    *,
    item: JobItem,
    stored: bool,
) -> WaterfallResult:
    """Run the waterfall; if the last attempt fails too, return an empty result and rely on stored data."""
    try:
        return configured_waterfall.run(
            claim, services, request, good_enough, item=item.index, outlasts_outage=not stored
        )
    except RetryLater as retry:
        if retry.snooze or not stored or claim.attempts < services.settings.max_attempts:
            raise
        return WaterfallResult(trace=retry.trace)


def _fresh_fields(
    stored: StoredContact | StoredCompany | None, names: Collection[str], *, since: datetime
) -> set[str]:
    """Return which of these fields are stored, if any stored value is that recent; else none."""
    if stored is None:
        return set()
    latest = max((stamp["at"] for stamp in stored.provenance.values()), default="")
    if latest < sortable(since):
        return set()
    return {name for name in names if getattr(stored, _COLUMNS.get(name, name))}


def _ranking(settings: Settings, request: ProviderRequest) -> tuple[str, ...]:
    """Return the provider names in order of trust: the configured ones, the others, guessing ones last."""
    configured = provider_order.configured_order(settings, request.field, request.country)
    ranked = sorted((*configured, *registry.load(settings).values()), key=lambda provider: provider.guesses)
    return tuple(dict.fromkeys(provider.name for provider in ranked))
