"""The waterfall: calls providers in order until one returns a value that is good enough.

It does not access the database. A `CallGateway` permits, deduplicates and records its calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone
from app.domain.kinds import TraceOutcome
from app.domain.normal.emails import email_reasons
from app.domain.records.subjects import Subject
from app.infra import clock
from app.infra.log import log
from workers.providers.base import (
    Pending,
    Provider,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
)

SECONDS_PER_PROVIDER = 10.0
"""Timeout of one call; with the wait for the rate limiter well within a lease."""
POLL_SECONDS = 15.0
"""Delay before a pending call is polled again when the provider names none."""
MAX_VERIFIED = 3
"""Maximum number of addresses verified per response, so that guesses are not probed one by one."""

FAILURES = frozenset(
    {
        TraceOutcome.ERROR,
        TraceOutcome.TIMEOUT,
        TraceOutcome.RATE_LIMITED,
        TraceOutcome.CIRCUIT_OPEN,
        TraceOutcome.NO_CREDITS,
    }
)
_ANSWERS = frozenset({TraceOutcome.HIT, TraceOutcome.MISS, TraceOutcome.KNOWN_MISS})
_UNVERIFIED = frozenset({EmailStatus.UNKNOWN, EmailStatus.RISKY})

GoodEnough: TypeAlias = Callable[[ProviderResponse], bool]


@dataclass(frozen=True, slots=True)
class CallRefused:
    """The call is not permitted now; nothing was sent."""

    outcome: TraceOutcome
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class StartedCall:
    """A permitted call; its request carries the poll token of an earlier call whose result is pending."""

    request: ProviderRequest
    asked_at: datetime
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class CallResult:
    """A provider's response, from this run of the job or an earlier one; `milliseconds` is its latency."""

    reply: ProviderResponse
    asked_at: datetime
    milliseconds: int = 0
    call_id: str | None = None
    is_refusal: bool = False


class CallGateway(Protocol):
    """Permits provider calls and stores their results."""

    def begin(
        self, provider: Provider, request: ProviderRequest
    ) -> CallRefused | StartedCall | CallResult | Pending:
        """Permit the call, refuse it, or return the response that this job already has.

        Return `Pending` if the response is awaited from an earlier call and no call is to be made now.
        """

    def wait(self, provider: Provider, started: StartedCall, pending: Pending) -> CallResult | None:
        """Store the poll token; return a timeout result if the provider has been polled for too long."""

    def end(
        self, provider: Provider, started: StartedCall, reply: ProviderResponse, milliseconds: int
    ) -> CallResult:
        """Store the response."""

    def record_verdict(self, call: CallResult, reply: ProviderResponse) -> None:
        """Store the outcome of a response after its addresses were verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterfallResult:
    """All values returned by the providers, the trace of calls, and whether a retry may help.

    `answers` are the responses with values, `verified` the stored addresses with a new verdict. `contacts`
    and `companies` are in call order. `failed` means that no provider gave a definitive answer, so that a
    retry may help; `only_rate_limited` that rate limits were the only reason. `waiting` is the number of
    seconds until a pending result is worth polling, `retry_after` the delay in seconds after a failure.
    """

    emails: tuple[FoundEmail, ...] = ()
    phones: tuple[FoundPhone, ...] = ()
    contacts: tuple[FoundContact, ...] = ()
    companies: tuple[FoundCompany, ...] = ()
    answers: tuple[ProviderResponse, ...] = ()
    verified: tuple[FoundEmail, ...] = ()
    trace: tuple[dict[str, Any], ...] = ()
    suppressed: bool = False
    failed: bool = False
    only_rate_limited: bool = False
    waiting: float | None = None
    retry_after: float | None = None


@dataclass(slots=True)
class _Run:
    """The state of one run of the waterfall."""

    request: ProviderRequest
    gateway: CallGateway
    verifiers: Sequence[Provider]
    result: WaterfallResult = field(default_factory=WaterfallResult)
    calls: list[tuple[Provider, CallResult]] = field(default_factory=list)
    verification_wait: float | None = None


def run(
    request: ProviderRequest,
    providers: Sequence[Provider],
    good_enough: GoodEnough,
    *,
    gateway: CallGateway,
    verifiers: Sequence[Provider] = (),
) -> WaterfallResult:
    """Call the providers in order until a response is good enough, and return the values of all.

    Addresses without a verdict are verified, by the verifiers in order, before a response is judged.
    """
    state = _Run(request, gateway, verifiers)
    for provider in providers:
        call = _call(provider, request, gateway)
        if isinstance(call, Pending):
            return replace(state.result, waiting=call.after)
        checks: list[tuple[Provider, CallResult]] = []
        reply = _verify_emails(state, provider, call.reply, checks)
        opted_out = any(check.reply.outcome is TraceOutcome.SUPPRESSED for _verifier, check in checks)
        enough = reply.outcome is TraceOutcome.HIT and good_enough(reply)
        if provider.guesses and reply.outcome is TraceOutcome.HIT and not enough:
            reply = replace(reply, outcome=TraceOutcome.MISS, emails=())
        if reply != call.reply:
            gateway.record_verdict(call, reply)
        _record(state, provider, replace(call, reply=reply), checks)
        if opted_out:
            return replace(state.result, suppressed=True)
        if enough or state.result.suppressed:
            return state.result
    if state.verification_wait is not None:
        return replace(state.result, waiting=state.verification_wait)
    if not _all_failed(state.calls):
        return state.result
    return replace(
        state.result,
        failed=True,
        only_rate_limited=_only_rate_limited(state.calls),
        retry_after=_min_retry_after(state.calls),
    )


def verify_stored(
    request: ProviderRequest,
    stored: Sequence[FoundEmail],
    *,
    gateway: CallGateway,
    verifiers: Sequence[Provider],
) -> WaterfallResult:
    """Verify the first few stored addresses that have no verdict yet."""
    result = WaterfallResult()
    for found in stored[:MAX_VERIFIED]:
        judged, checks, wait = verify(found, verifiers, gateway, request=request)
        entries = tuple(
            _trace_line(verifier, ProviderField.VERIFICATION, check) for verifier, check in checks
        )
        new = (judged,) if judged != found else ()
        result = replace(
            result,
            emails=result.emails + new,
            verified=result.verified + new,
            trace=result.trace + entries,
            suppressed=any(check.reply.outcome is TraceOutcome.SUPPRESSED for _verifier, check in checks),
            waiting=result.waiting if wait is None else wait,
        )
        if result.suppressed:
            break
    return result


def verify(
    found: FoundEmail, verifiers: Sequence[Provider], gateway: CallGateway, *, request: ProviderRequest
) -> tuple[FoundEmail, list[tuple[Provider, CallResult]], float | None]:
    """Verify an address; return it with the first verdict, the calls made, and a wait in seconds.

    The wait is set if no verifier gave a verdict and one needs more time.
    """
    calls: list[tuple[Provider, CallResult]] = []
    wait: float | None = None
    verification = ProviderRequest(
        field=ProviderField.VERIFICATION,
        subject=Subject(email=found.email),
        country=request.country,
        attempt=request.attempt,
    )
    for verifier in verifiers:
        call = _call(verifier, verification, gateway)
        if isinstance(call, Pending):
            wait = call.after if wait is None else min(wait, call.after)
            continue
        calls.append((verifier, call))
        if call.reply.outcome is TraceOutcome.HIT and call.reply.emails:
            return _with_verdict(found, call.reply.emails[0]), calls, None
    return found, calls, wait


def _call(provider: Provider, request: ProviderRequest, gateway: CallGateway) -> CallResult | Pending:
    """Call one provider if it supports the request and the gateway permits it."""
    refusal = provider.unavailability(request)
    if refusal is not None:
        return CallResult(ProviderResponse(outcome=refusal), clock.now(), is_refusal=True)
    permit = gateway.begin(provider, request)
    if isinstance(permit, Pending):
        return permit
    if isinstance(permit, CallRefused):
        refused = ProviderResponse(outcome=permit.outcome, retry_after=permit.retry_after)
        return CallResult(refused, clock.now(), is_refusal=True)
    if isinstance(permit, CallResult):
        return permit
    started = time.monotonic()
    reply = _invoke(provider, permit.request)
    if isinstance(reply, Pending):
        return gateway.wait(provider, permit, reply) or reply
    call = gateway.end(provider, permit, reply, round((time.monotonic() - started) * 1000))
    log.info("provider called", **_trace_line(provider, request.field, call))
    return call


def _invoke(provider: Provider, request: ProviderRequest) -> ProviderResponse | Pending:
    try:
        reply = provider.call(request, seconds=SECONDS_PER_PROVIDER)
        if isinstance(reply, Pending):
            return reply
        emails = tuple(with_address_reasons(found) for found in reply.emails)
        return replace(reply, emails=emails, cost=max(reply.cost, 0.0))
    except Exception as error:  # noqa: BLE001 -- an adapter's bug must not end the waterfall
        log.warning("provider failed", provider=provider.name, exc_info=error)
        outcome = TraceOutcome.TIMEOUT if isinstance(error, ProviderTimeout) else TraceOutcome.ERROR
        if request.poll_token is not None:  # one failed poll does not abandon a pending call
            return Pending(request.poll_token, POLL_SECONDS, outcome)
        return ProviderResponse(outcome=outcome)


def with_address_reasons(found: FoundEmail) -> FoundEmail:
    """Add the reasons evident from the address (role, disposable, webmail); a disposable is at best risky."""
    reasons = tuple(dict.fromkeys((*found.reasons, *email_reasons(found.email))))
    status = found.status
    if "disposable" in reasons and status in {EmailStatus.VALID, EmailStatus.ACCEPT_ALL}:
        status = EmailStatus.RISKY
    return replace(found, reasons=reasons, status=status)


def _verify_emails(
    state: _Run, provider: Provider, reply: ProviderResponse, checks: list[tuple[Provider, CallResult]]
) -> ProviderResponse:
    """Return the response with its first few unverified addresses verified.

    For a guessing provider keep one address: the likeliest, or if that is invalid the first verified one.
    """
    if state.request.field is ProviderField.VERIFICATION or reply.outcome is not TraceOutcome.HIT:
        return reply
    kept: list[FoundEmail] = []
    for position, found in enumerate(reply.emails):
        judged = found
        if position < MAX_VERIFIED and found.status in _UNVERIFIED and found.verified_at is None:
            judged, calls, wait = verify(found, state.verifiers, state.gateway, request=state.request)
            checks += calls
            state.verification_wait = state.verification_wait if wait is None else wait
        if not provider.guesses:
            kept.append(judged)
        elif judged.status is not EmailStatus.INVALID:
            kept = [judged] if position == 0 or judged.verified_at is not None else []
            break
    if provider.guesses and not kept:
        return replace(reply, outcome=TraceOutcome.MISS, emails=())
    return replace(reply, emails=tuple(kept))


def _with_verdict(found: FoundEmail, verdict: FoundEmail) -> FoundEmail:
    reasons = tuple(dict.fromkeys((*found.reasons, *verdict.reasons)))
    if verdict.status is EmailStatus.VALID:
        reasons = tuple(reason for reason in reasons if reason != "guessed")
    return replace(found, status=verdict.status, reasons=reasons, verified_at=verdict.verified_at)


def _record(
    state: _Run, provider: Provider, call: CallResult, checks: list[tuple[Provider, CallResult]]
) -> None:
    reply, result = call.reply, state.result
    entries = [
        _trace_line(provider, state.request.field, call),
        *(_trace_line(verifier, ProviderField.VERIFICATION, check) for verifier, check in checks),
    ]
    state.calls.append((provider, call))
    state.result = replace(
        result,
        emails=result.emails + reply.emails,
        phones=result.phones + reply.phones,
        contacts=result.contacts + ((reply.contact,) if reply.contact else ()),
        companies=result.companies + ((reply.company,) if reply.company else ()),
        answers=result.answers + ((reply,) if reply.outcome is TraceOutcome.HIT else ()),
        trace=(*result.trace, *entries),
        suppressed=reply.outcome is TraceOutcome.SUPPRESSED,
    )


def _trace_line(provider: Provider, field: ProviderField, call: CallResult) -> dict[str, Any]:
    """Return the trace entry of a call: provider, field, outcome, and cost in the provider's credits."""
    reply = call.reply
    entry: dict[str, Any] = {"provider": provider.name, "field": field.value, "outcome": reply.outcome.value}
    if reply.emails:
        entry["status"] = reply.emails[0].status.value
    cost = int(reply.cost) if reply.cost == int(reply.cost) else reply.cost
    return entry | {"latency_ms": call.milliseconds, "cost": cost, "at": clock.rfc3339(call.asked_at)}


def _all_failed(calls: Sequence[tuple[Provider, CallResult]]) -> bool:
    """Return whether a provider failed and none gave a definitive answer.

    A miss of a guessing provider is not definitive.
    """
    definitive = any(call.reply.outcome in _ANSWERS and not provider.guesses for provider, call in calls)
    return not definitive and any(_may_help_later(call) for _provider, call in calls)


def _may_help_later(call: CallResult) -> bool:
    """Return whether a retry may help.

    It may after a failure, for a daily budget (which, unlike a cost ceiling, renews) and for a rejected key
    (which may be replaced). A provider without a key is treated as absent.
    """
    reply = call.reply
    over_budget = reply.outcome is TraceOutcome.COST_CEILING and reply.retry_after is not None
    bad_key = reply.outcome is TraceOutcome.UNCONFIGURED and not call.is_refusal
    return over_budget or bad_key or reply.outcome in FAILURES


def _min_retry_after(calls: Sequence[tuple[Provider, CallResult]]) -> float | None:
    """Return the shortest `retry_after` in seconds; None unless every failed call gave one."""
    delays = [call.reply.retry_after for _provider, call in calls if call.reply.outcome in FAILURES]
    known = [seconds for seconds in delays if seconds is not None]
    return min(known) if known and len(known) == len(delays) else None


def _only_rate_limited(calls: Sequence[tuple[Provider, CallResult]]) -> bool:
    """Return whether every failure was a call refused by the rate limiter."""
    return all(
        call.is_refusal and call.reply.outcome is TraceOutcome.RATE_LIMITED
        for _provider, call in calls
        if _may_help_later(call)
    )
