"""The waterfall of a job: with the providers of the settings, and retried if they fail."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.findings import FoundEmail
from app.engine.jobs.claims import Claim
from workers.execution.retries import RetryLater
from workers.execution.worker_services import WorkerServices
from workers.providers.base import Provider, ProviderField, ProviderRequest
from workers.resolve import provider_order, waterfall
from workers.resolve.call_gateway import DatabaseCallGateway
from workers.resolve.waterfall import GoodEnough, WaterfallResult

MAX_RATE_WAIT_SECONDS = 60.0
"""Longest rate-limit delay that a job waits without it counting as an attempt."""
MIN_OUTAGE_WAIT_SECONDS = 5.0
"""Shortest time between two attempts while the circuit breakers of all providers are open."""


def run(
    claim: Claim,
    services: WorkerServices,
    request: ProviderRequest,
    good_enough: GoodEnough,
    *,
    item: int | None = None,
    outlasts_outage: bool = False,
) -> WaterfallResult:
    """Run the waterfall of the providers configured for the request's field and country.

    With `outlasts_outage` no attempt is spent while every provider is refused by its throttle, so that the
    job waits until its deadline; without it, the job fails soon, because a user waits for the result.

    Raises:
        RetryLater: the providers failed, or a result is pending.

    """
    result = waterfall.run(
        request,
        provider_order.providers_for(services.database, services.settings, request.field, request.country),
        good_enough,
        gateway=DatabaseCallGateway(services, claim, item),
        verifiers=_verifiers(services, request),
    )
    if result.waiting is not None:
        raise RetryLater(result.trace, after=result.waiting, snooze=True)
    if result.failed:
        raise _retry(result, outlasts_outage=outlasts_outage)
    return result


def verify_stored(
    claim: Claim,
    services: WorkerServices,
    request: ProviderRequest,
    stored: Sequence[FoundEmail],
    *,
    item: int | None,
) -> WaterfallResult:
    """Verify the first few stored addresses that have no verdict yet."""
    return waterfall.verify_stored(
        request,
        stored,
        gateway=DatabaseCallGateway(services, claim, item),
        verifiers=_verifiers(services, request),
    )


def verify_privately(
    claim: Claim,
    services: WorkerServices,
    request: ProviderRequest,
    addresses: Sequence[FoundEmail],
    verifiers: Sequence[Provider],
    *,
    item: int | None,
) -> WaterfallResult:
    """Verify the first few addresses of a workspace's own; no other workspace shares the calls."""
    gateway = DatabaseCallGateway(services, claim, item, is_private=True)
    return waterfall.verify_stored(request, addresses, gateway=gateway, verifiers=verifiers)


def free_verifiers(services: WorkerServices, request: ProviderRequest) -> list[Provider]:
    """Return the verifiers whose calls cost nothing."""
    return [
        verifier
        for verifier in _verifiers(services, request)
        if verifier.terms.is_free or verifier.terms.prices.get(ProviderField.VERIFICATION) == 0
    ]


def _verifiers(services: WorkerServices, request: ProviderRequest) -> Sequence[Provider]:
    return provider_order.configured_order(services.settings, ProviderField.VERIFICATION, request.country)


def _retry(result: WaterfallResult, *, outlasts_outage: bool) -> RetryLater:
    """Return when and how a job is retried whose providers failed; no attempt is spent on a short wait."""
    seconds = result.retry_after or 0.0
    if result.only_rate_limited and seconds <= MAX_RATE_WAIT_SECONDS:
        return RetryLater(result.trace, after=result.retry_after, snooze=True)
    if result.only_throttled and outlasts_outage:
        return RetryLater(result.trace, after=max(seconds, MIN_OUTAGE_WAIT_SECONDS), outage=True)
    return RetryLater(result.trace, after=result.retry_after)
