"""Finding out who or what an item is: one provider after the other, until nothing is wanting."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from app.core.contacts import companies, suppressions
from app.core.contacts.companies import Company
from app.core.contacts.contacts import Contact
from app.core.jobs.jobs import JobItem
from app.core.jobs.leases import Claim
from app.core.lookups import disclosure
from app.core.lookups.enrichment_estimates import DEFAULT_FIELD_REQUESTS
from app.domain.findings import FoundCompany, FoundContact, Source, SourceKind
from app.domain.normal.countries import country_of
from app.domain.records.merging import sortable
from app.domain.records.subjects import Subject
from app.infra import database_clock
from app.settings import Settings
from workers.execution.job_runner import RetryLater, WorkerServices
from workers.providers import registry
from workers.providers.base import ProviderField, ProviderRequest
from workers.resolve import field_resolver
from workers.resolve.waterfall import GoodEnough, WaterfallResult

_WANTED = {"profile": ("full_name", "title"), "company": ("company",)}
"""What a person's profile and company are complete with."""
_WANTED_OF_COMPANY = frozenset({"name", "domain", "industry", "headcount", "country"})
_COLUMNS = {"company": "company_id"}
_CALLER = Source("caller", SourceKind.PROVIDER, datetime.min.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileResolution:
    """What the providers told; `ranking` names them, most trusted first. Who is `hidden` is suppressed.

    `asked` is what they were asked by; None if nobody was.
    """

    result: WaterfallResult = field(default_factory=WaterfallResult)
    ranking: tuple[str, ...] = ()
    is_suppressed: bool = False
    asked: Subject | None = None

    @property
    def suppressed(self) -> bool:
        """Tell whether the person must be left alone."""
        return self.is_suppressed or self.result.suppressed


@dataclass(slots=True)
class _MissingFields:
    """What nobody has said yet."""

    names: Collection[str]

    def filled_by(self, found: FoundContact | FoundCompany | None) -> bool:
        """Take note of what somebody says; tell whether nothing is wanting any more."""
        if found is not None:
            self.names = [name for name in self.names if not getattr(found, name)]
        return not self.names


def named_company(request: dict[str, Any]) -> FoundCompany:
    """Read how the caller names the company of an item."""
    return FoundCompany(source=_CALLER, **request["company"])


def person(claim: Claim, services: WorkerServices, item: JobItem) -> ProfileResolution:
    """Ask who the person is, unless what is stored is fresh and has what is wanted.

    Raises:
        RetryLater: nobody could answer now, or somebody needs time.
        ContactNotFound: the item gives a contact id that does not exist.
        LeaseLost: the job is no longer this worker's.

    """
    settings = services.settings
    wanted = {name for part in claim.request["fields"] for name in _WANTED.get(part, ())}
    with services.database.reading() as session:
        now = database_clock.value(session)
        known = disclosure.assess(
            session,
            claim.workspace_id,
            Subject(**item.request["subject"]),
            DEFAULT_FIELD_REQUESTS[disclosure.ContactField.EMAIL],
            usual_age=settings.usual_age,
            now=now,
        )
    if known.suppressed:
        return ProfileResolution(is_suppressed=True)
    gaps = _MissingFields(wanted - _known_of(known.contact, wanted, since=now - settings.usual_age))
    if not gaps.names:
        return ProfileResolution()
    ask = ProviderRequest(
        field=ProviderField.PERSON, subject=known.subject, country=known.country, attempt=claim.attempts
    )
    catch = _ask_around(
        claim,
        services,
        ask,
        lambda reply: gaps.filled_by(reply.contact),
        item=item,
        stored=known.contact is not None,
    )
    with services.database.reading() as session:
        if suppressions.suppressed(session, field_resolver.identifying_values(catch.contacts)):
            catch = replace(catch, suppressed=True)
    return ProfileResolution(result=catch, ranking=_ranking(settings, ask), asked=known.subject)


def company(claim: Claim, services: WorkerServices, item: JobItem) -> ProfileResolution:
    """Ask about the company, unless what is stored is fresh and complete.

    Raises:
        RetryLater: nobody could answer now, or somebody needs time.
        LeaseLost: the job is no longer this worker's.

    """
    settings, named = services.settings, named_company(item.request)
    with services.database.reading() as session:
        stored = companies.find(session, named)
        now = database_clock.value(session)
    known = _known_of(stored, _WANTED_OF_COMPANY, since=now - settings.usual_age)
    gaps = _MissingFields(_WANTED_OF_COMPANY - known)
    if not gaps.names:
        return ProfileResolution()
    asked = stored or named  # of a stored company only what is stored, whatever the caller said beside it
    subject = Subject(
        company_domain=asked.domain,
        company_name=asked.name,
        linkedin_url=asked.linkedin_url,  # the company's own
    )
    country = (stored.country if stored else None) or country_of(subject.company_domain)
    ask = ProviderRequest(
        field=ProviderField.COMPANY, subject=subject, country=country, attempt=claim.attempts
    )
    catch = _ask_around(
        claim,
        services,
        ask,
        lambda reply: gaps.filled_by(reply.company),
        item=item,
        stored=stored is not None,
    )
    return ProfileResolution(result=catch, ranking=_ranking(settings, ask), asked=subject)


def _ask_around(
    claim: Claim,
    services: WorkerServices,
    ask: ProviderRequest,
    good_enough: GoodEnough,
    *,
    item: JobItem,
    stored: bool,
) -> WaterfallResult:
    """Ask the providers; if in the end none could answer, what is stored has to do."""
    try:
        return field_resolver.run_waterfall(claim, services, ask, good_enough, item=item.index)
    except RetryLater as later:
        if later.snooze or not stored or claim.attempts < services.settings.max_attempts:
            raise
        return WaterfallResult(trace=later.trace)


def _known_of(stored: Contact | Company | None, names: Collection[str], *, since: datetime) -> set[str]:
    """Give what of these is stored, if anything of it was said since then."""
    if stored is None:
        return set()
    latest = max((stamp["at"] for stamp in stored.provenance.values()), default="")
    if latest < sortable(since):
        return set()
    return {name for name in names if getattr(stored, _COLUMNS.get(name, name))}


def _ranking(settings: Settings, ask: ProviderRequest) -> tuple[str, ...]:
    """Name the providers in the order of trust: as they are asked, then others, then guessers."""
    asked = registry.in_order(settings, ask.field, ask.country)
    everybody = sorted((*asked, *registry.load(settings).values()), key=lambda one: one.guesses)
    return tuple(dict.fromkeys(one.name for one in everybody))
