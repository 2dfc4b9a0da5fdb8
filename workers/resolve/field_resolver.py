"""Finding out one field of one person: what is owned, what is known and fresh, then the waterfall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from app.core.contacts import bulk, suppressions
from app.core.contacts.suppressions import Identifier
from app.core.jobs.leases import Claim
from app.core.lookups import disclosure
from app.core.lookups.disclosure import Disclosure, FieldRequest, KnownPerson
from app.core.matching import caller_identifiers
from app.domain.errors import InsufficientCredits
from app.domain.findings import FoundContact, FoundEmail, FoundPhone
from app.domain.kinds import Queue
from app.domain.records.subjects import Subject
from app.infra import database_clock
from app.settings import Settings
from workers.execution.job_runner import HandOver, RetryLater, WorkerServices
from workers.providers.base import ProviderField, ProviderRequest
from workers.providers.registry import in_order
from workers.resolve import contact_storage, provider_order, waterfall
from workers.resolve.call_gateway import DatabaseCallGateway
from workers.resolve.waterfall import GoodEnough, WaterfallResult

MAX_RATE_WAIT_SECONDS = 60.0
"""Seconds for which a job waits in line for providers that are asked as often as they may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldResolution:
    """What was found out about a field, before anything is written or paid."""

    request: FieldRequest
    known: KnownPerson
    result: WaterfallResult

    @property
    def suppressed(self) -> bool:
        """Tell whether the person must be left alone."""
        return self.known.suppressed or self.result.suppressed

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to hand over, and so nothing to pay."""
        return not (self.known.stored or _fulfils(self.request, self.result.emails, self.result.phones))


@dataclass(frozen=True, slots=True)
class StoredField:
    """What came of a finding once it was written: what is handed over, or that the person is suppressed."""

    disclosure: Disclosure | None = None
    suppressed: bool = False


def resolve_field(
    claim: Claim,
    services: WorkerServices,
    subject: Subject,
    wish: FieldRequest,
    *,
    price: int,
    item: int | None = None,
) -> FieldResolution:
    """Look at what is stored, and ask the providers if that does not do; `item` is an enrichment's.

    Raises:
        HandOver: somebody must be asked, which is not done in the queue of the claim.
        RetryLater: nobody could answer now, or somebody needs time.
        InsufficientCredits: the job does not hold what this would cost; nobody was asked.

    """
    with services.database.reading() as session:
        known = disclosure.assess(
            session,
            claim.workspace_id,
            subject,
            wish,
            usual_age=services.settings.usual_age,
            now=database_clock.value(session),
        )
    if not known.suppressed and not known.owned and price > claim.budget:
        raise InsufficientCredits(required=price, balance=claim.budget)
    if known.suppressed or known.good:
        return FieldResolution(request=wish, known=known, result=WaterfallResult())
    ask = ProviderRequest(
        field=ProviderField(wish.field.value),
        subject=known.subject,
        types=wish.types,
        patterns=known.patterns,
        country=known.country,
        attempt=claim.attempts,
        max_age=wish.max_age,
    )
    if claim.queue is Queue.INTERACTIVE and _needs_provider(services.settings, ask, known):
        raise HandOver(Queue.PROVIDERS)
    catch = _with_what_is_stored(claim, services, ask, known, wish, item)
    with services.database.reading() as session:
        if suppressions.suppressed(session, identified_by(catch)):
            catch = replace(catch, suppressed=True)
    return FieldResolution(request=wish, known=known, result=catch)


def _needs_provider(settings: Settings, ask: ProviderRequest, known: KnownPerson) -> bool:
    """Return whether anybody would be asked: a provider that takes the question, or a verifier."""
    if known.unverified and in_order(settings, ProviderField.VERIFICATION, ask.country):
        return True
    return any(
        provider.unavailability(ask) is None for provider in in_order(settings, ask.field, ask.country)
    )


def _with_what_is_stored(  # noqa: PLR0917 -- what `find_out` was given
    claim: Claim,
    services: WorkerServices,
    ask: ProviderRequest,
    known: KnownPerson,
    wish: FieldRequest,
    item: int | None,
) -> WaterfallResult:
    """Have stored addresses verified before others are bought; ask the providers if that does not do.

    Raises:
        RetryLater: nobody could answer now, or somebody needs time.
        LeaseLost: the job is no longer this worker's.

    """
    stored = waterfall.verify_stored(
        ask,
        known.unverified,
        desk=DatabaseCallGateway(services, claim, item),
        verifiers=in_order(services.settings, ProviderField.VERIFICATION, ask.country),
    )
    if stored.suppressed or _fulfils(wish, stored.emails, ()):
        return stored
    try:
        told = run_waterfall(claim, services, ask, _wanted(wish), item=item)
    except RetryLater as later:
        later.trace = stored.trace + later.trace
        raise
    if stored.waiting is not None and not _fulfils(wish, told.emails, ()):
        raise RetryLater(stored.trace + told.trace, after=stored.waiting, snooze=True)
    return replace(
        told,
        emails=stored.emails + told.emails,
        verified=stored.verified,
        trace=stored.trace + told.trace,
    )


def run_waterfall(
    claim: Claim,
    services: WorkerServices,
    ask: ProviderRequest,
    good_enough: GoodEnough,
    *,
    item: int | None = None,
) -> WaterfallResult:
    """Send the question down the waterfall that the settings lay for its field and country.

    Raises:
        RetryLater: nobody could answer now, or somebody needs time.
        LeaseLost: the job is no longer this worker's.

    """
    catch = waterfall.run(
        ask,
        provider_order.providers_for(services.database, services.settings, ask.field, ask.country),
        good_enough,
        desk=DatabaseCallGateway(services, claim, item),
        verifiers=in_order(services.settings, ProviderField.VERIFICATION, ask.country),
    )
    if catch.waiting is not None:
        raise RetryLater(catch.trace, after=catch.waiting, snooze=True)
    if catch.failed:
        in_line = catch.only_rate_limited and (catch.retry_after or 0.0) <= MAX_RATE_WAIT_SECONDS
        raise RetryLater(catch.trace, after=catch.retry_after, snooze=in_line)
    return catch


def store(
    session: Session, claim: Claim, finding: FieldResolution, *, price: int, now: datetime
) -> StoredField:
    """Store what was found and hand over what fulfils the wish.

    Raises:
        RetryLater: what the workspace owned was refunded meanwhile, and the job holds no credits for it.

    """
    if finding.suppressed:
        return StoredField(suppressed=True)
    workspace_id, known = claim.workspace_id, finding.known
    if told := identified_by(finding.result):
        bulk.lock_resolution(session)  # from here on nobody else suppresses or erases whom this is about
        named = disclosure.identifiers(session, workspace_id, known)
        if suppressions.suppressed(session, [*named, *told]):  # since the providers were asked
            return StoredField(suppressed=True)
    found = contact_storage.store(session, known, finding.result, now=now)
    if finding.result.answers and found and known.subject.contact_id is None:
        caller_identifiers.remember(session, workspace_id, known.provided, found[0].id, now=now)
    for contact in () if finding.is_empty else found:
        handed = disclosure.disclose(
            session,
            workspace_id=workspace_id,
            job_id=claim.job_id,
            contact=contact,
            wish=finding.request,
            price=price,
            now=now,
            budget=claim.budget,
        )
        if handed is not None:
            return StoredField(handed)
    is_hidden = any(disclosure.is_suppressed(session, workspace_id, contact) for contact in found)
    if known.owned and price > claim.budget and not is_hidden:
        raise RetryLater(after=0.0, snooze=True)  # refunded meanwhile; it is no longer owned, nor paid for
    return StoredField(suppressed=is_hidden)


def identified_by(catch: WaterfallResult) -> list[Identifier]:
    """Return everything by which the providers' answers name the person."""
    return [
        *(Identifier("email", found.email) for found in catch.emails),
        *(Identifier("phone", found.e164) for found in catch.phones),
        *identifying_values(catch.contacts),
    ]


def identifying_values(contacts: Sequence[FoundContact]) -> list[Identifier]:
    """Return everything by which providers name people in their answers."""
    profiles = [Identifier("linkedin_url", one.linkedin_url) for one in contacts if one.linkedin_url]
    addresses = [Identifier("email", email.email) for one in contacts for email in one.emails]
    numbers = [Identifier("phone", phone.e164) for one in contacts for phone in one.phones]
    return profiles + addresses + numbers


def _wanted(wish: FieldRequest) -> GoodEnough:
    return lambda reply: _fulfils(wish, reply.emails, reply.phones)


def _fulfils(wish: FieldRequest, emails: Sequence[FoundEmail], phones: Sequence[FoundPhone]) -> bool:
    values: tuple[FoundEmail | FoundPhone, ...] = (*emails, *phones)
    return any(wish.accepts(value.type, str(value.status)) for value in values)
