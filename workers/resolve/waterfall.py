"""The waterfall: calls providers in order until one returns a value that is good enough.

It does not access the database.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone
from app.domain.kinds import PROVIDER_FAILURES, TraceOutcome
from app.domain.records.subjects import Subject
from workers.providers.base import Pending, Provider, ProviderField, ProviderRequest, ProviderResponse
from workers.resolve.provider_call import CallGateway, CallResult, call_provider, trace_entry

MAX_VERIFIED = 3
"""Maximum number of addresses verified per response, so that guesses are not probed one by one."""

SHORT_WAIT_SECONDS = 30.0
"""The verification of a guess that is ready sooner is awaited before a paid provider is called.

A mail host that is busy is free within seconds; greylisting takes minutes.
"""

MIN_GUESS_CONFIDENCE = 0.3
"""Confidence below which a guess is dropped unless a verifier knows the mailbox."""

_DEFINITIVE = frozenset({TraceOutcome.HIT, TraceOutcome.MISS, TraceOutcome.KNOWN_MISS})
_THROTTLED = frozenset({TraceOutcome.RATE_LIMITED, TraceOutcome.CIRCUIT_OPEN})
_UNVERIFIED = frozenset({EmailStatus.UNKNOWN, EmailStatus.RISKY})
_EXISTING = frozenset({EmailStatus.VALID, EmailStatus.RISKY})

GoodEnough: TypeAlias = Callable[[ProviderResponse], bool]
Calls: TypeAlias = tuple[tuple[Provider, CallResult], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterfallResult:
    """All values returned by the providers, the trace of calls, and whether a retry may help.

    `people` are those that searches found, `has_more` whether one may find others on the next page. `answers`
    are the responses with values, `verified` the stored addresses with a new verdict. `contacts`
    and `companies` are in call order. `failed` means that no provider gave a definitive answer, so that a
    retry may help; `only_rate_limited` that rate limits were the only reason, and `only_throttled` that rate
    limits, pauses and open circuit breakers were: no provider was called. `waiting` is the number of seconds
    until a pending result is worth polling, `retry_after` the delay in seconds after a failure.
    """

    emails: tuple[FoundEmail, ...] = ()
    phones: tuple[FoundPhone, ...] = ()
    contacts: tuple[FoundContact, ...] = ()
    companies: tuple[FoundCompany, ...] = ()
    people: tuple[FoundContact, ...] = ()
    has_more: bool = False
    answers: tuple[ProviderResponse, ...] = ()
    verified: tuple[FoundEmail, ...] = ()
    trace: tuple[dict[str, Any], ...] = ()
    suppressed: bool = False
    failed: bool = False
    only_rate_limited: bool = False
    only_throttled: bool = False
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


@dataclass(frozen=True, slots=True)
class _VerifiedEmail:
    """An address with the first verdict on it, and the calls of verifiers.

    `wait` is set if no verifier gave a verdict and one needs more time, in seconds.
    """

    email: FoundEmail
    calls: Calls
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class _VerifiedReply:
    """A response whose addresses were verified, the calls of verifiers, and the shortest wait for one."""

    reply: ProviderResponse
    calls: Calls = ()
    wait: float | None = None


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
        call = call_provider(provider, state.request, gateway)
        if isinstance(call, Pending):
            return replace(state.result, waiting=call.after)
        if call.reply.patterns:  # what the company's website taught is for the guesses after it
            patterns = (*state.request.patterns, *call.reply.patterns)
            state.request = replace(state.request, patterns=patterns)
        if (result := _judge(state, provider, call, good_enough)) is not None:
            return result
    return _without_sufficient_value(state)


def _judge(
    state: _Run, provider: Provider, call: CallResult, good_enough: GoodEnough
) -> WaterfallResult | None:
    """Verify and record the response; return the result if it ends the waterfall, or has to be awaited."""
    verified = _verify_emails(state, provider, call.reply)
    reply, wait = verified.reply, verified.wait
    opted_out = _has_opted_out(verified.calls)
    is_good_enough = reply.outcome is TraceOutcome.HIT and good_enough(reply)
    is_final = is_good_enough or opted_out
    if provider.guesses and wait is not None and wait < SHORT_WAIT_SECONDS and not is_final:
        return replace(state.result, waiting=wait)  # the next provider may cost something
    # The other providers need not wait longer; if none has a sufficient value, the verification is awaited.
    state.verification_wait = _shorter(state.verification_wait, wait)
    # The values of every response are stored, also insufficient ones, since a source named them. Nobody named
    # a guess: it is used at once, or dropped.
    if provider.guesses and reply.outcome is TraceOutcome.HIT and not is_good_enough:
        reply = replace(reply, outcome=TraceOutcome.MISS, emails=())
    # The call was stored with the outcome before the verification; later requests read it to decide whether
    # calling the provider again may return anything else.
    if reply != call.reply:
        state.gateway.record_verdict(call, reply)
    _record(state, provider, replace(call, reply=reply), verified.calls)
    if opted_out:
        return replace(state.result, suppressed=True)
    return state.result if is_good_enough or state.result.suppressed else None


def _without_sufficient_value(state: _Run) -> WaterfallResult:
    """Return the result after all providers: awaited, failed, or final."""
    if state.verification_wait is not None:
        return replace(state.result, waiting=state.verification_wait)
    if not _all_failed(state.calls):
        return state.result
    return replace(
        state.result,
        failed=True,
        only_rate_limited=_are_refused(state.calls, frozenset({TraceOutcome.RATE_LIMITED})),
        only_throttled=_are_refused(state.calls, _THROTTLED),
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
    for email in stored[:MAX_VERIFIED]:
        verified = _verify(email, verifiers, gateway, request=request)
        new_verdicts = (verified.email,) if verified.email != email else ()
        result = replace(
            result,
            emails=result.emails + new_verdicts,
            verified=result.verified + new_verdicts,
            trace=result.trace + _verification_entries(verified.calls),
            suppressed=_has_opted_out(verified.calls),
            waiting=_shorter(result.waiting, verified.wait),
        )
        if result.suppressed:
            break
    return result


def _verify(
    email: FoundEmail, verifiers: Sequence[Provider], gateway: CallGateway, *, request: ProviderRequest
) -> _VerifiedEmail:
    """Verify an address, by the verifiers in order until one gives a verdict."""
    calls: Calls = ()
    wait: float | None = None
    verification = ProviderRequest(
        field=ProviderField.VERIFICATION,
        subject=Subject(email=email.email),
        country=request.country,
        attempt=request.attempt,
    )
    for verifier in verifiers:
        call = call_provider(verifier, verification, gateway)
        if isinstance(call, Pending):
            wait = _shorter(wait, call.after)
            continue
        calls += ((verifier, call),)
        if call.reply.outcome is TraceOutcome.HIT and call.reply.emails:
            return _VerifiedEmail(_with_verdict(email, call.reply.emails[0]), calls)
    return _VerifiedEmail(email, calls, wait)


def _verify_emails(state: _Run, provider: Provider, reply: ProviderResponse) -> _VerifiedReply:
    """Verify the first few addresses of a response that have no verdict.

    For a guessing provider keep one address: the likeliest, or if that is invalid the first that exists. A
    further guess is verified only while those before it are invalid: a server that accepts every address, or
    gives no verdict, cannot tell them apart.
    """
    if state.request.field is ProviderField.VERIFICATION or reply.outcome is not TraceOutcome.HIT:
        return _VerifiedReply(reply)
    emails: list[FoundEmail] = []
    calls: Calls = ()
    wait: float | None = None
    for position, email in enumerate(reply.emails):
        verified = _VerifiedEmail(email, ())
        if position < MAX_VERIFIED and email.status in _UNVERIFIED and email.verified_at is None:
            verified = _verify(email, state.verifiers, state.gateway, request=state.request)
            calls += verified.calls
            wait = _shorter(wait, verified.wait)
        if not provider.guesses:
            emails.append(verified.email)
        elif verified.email.status is not EmailStatus.INVALID:
            emails = [verified.email] if _is_credible(verified.email, position) else []
            break
    outcome = TraceOutcome.MISS if provider.guesses and not emails else reply.outcome
    return _VerifiedReply(replace(reply, outcome=outcome, emails=tuple(emails)), calls, wait)


def _has_opted_out(verifications: Calls) -> bool:
    """Return whether a verifier refuses requests about the person."""
    return any(call.reply.outcome is TraceOutcome.SUPPRESSED for _verifier, call in verifications)


def _verification_entries(verifications: Calls) -> tuple[dict[str, Any], ...]:
    return tuple(trace_entry(verifier, ProviderField.VERIFICATION, call) for verifier, call in verifications)


def _shorter(seconds: float | None, others: float | None) -> float | None:
    """Return the shorter of two waits; None if there is none."""
    return min((wait for wait in (seconds, others) if wait is not None), default=None)


def _is_credible(guess: FoundEmail, position: int) -> bool:
    """Return whether the mailbox exists by its verdict, or the guess is the likeliest and likely enough."""
    is_likely = guess.confidence is None or guess.confidence >= MIN_GUESS_CONFIDENCE
    return guess.status in _EXISTING or (position == 0 and is_likely)


def _with_verdict(email: FoundEmail, verdict: FoundEmail) -> FoundEmail:
    reasons = tuple(dict.fromkeys((*email.reasons, *verdict.reasons)))
    if verdict.status is EmailStatus.VALID:
        reasons = tuple(reason for reason in reasons if reason != "guessed")
    return replace(email, status=verdict.status, reasons=reasons, verified_at=verdict.verified_at)


def _record(state: _Run, provider: Provider, call: CallResult, verifications: Calls) -> None:
    reply, result = call.reply, state.result
    entry = trace_entry(provider, state.request.field, call)
    state.calls.append((provider, call))
    state.result = replace(
        result,
        emails=result.emails + reply.emails,
        phones=result.phones + reply.phones,
        contacts=result.contacts + ((reply.contact,) if reply.contact else ()),
        companies=result.companies + ((reply.company,) if reply.company else ()),
        people=result.people + reply.people,
        has_more=result.has_more or reply.has_more,
        answers=result.answers + ((reply,) if reply.outcome is TraceOutcome.HIT else ()),
        trace=(*result.trace, entry, *_verification_entries(verifications)),
        suppressed=reply.outcome is TraceOutcome.SUPPRESSED,
    )


def _all_failed(calls: Sequence[tuple[Provider, CallResult]]) -> bool:
    """Return whether a provider failed and none gave a definitive answer.

    A miss of a guessing provider is not definitive.
    """
    definitive = any(call.reply.outcome in _DEFINITIVE and not provider.guesses for provider, call in calls)
    return not definitive and any(_may_help_later(call) for _provider, call in calls)


def _may_help_later(call: CallResult) -> bool:
    """Return whether a retry may help.

    It may after a failure, for a daily budget (which, unlike a cost ceiling, renews) and for a rejected key
    (which may be replaced). A provider without a key is treated as absent.
    """
    reply = call.reply
    over_budget = reply.outcome is TraceOutcome.COST_CEILING and reply.retry_after is not None
    bad_key = reply.outcome is TraceOutcome.UNCONFIGURED and not call.is_refusal
    return over_budget or bad_key or reply.outcome in PROVIDER_FAILURES


def _min_retry_after(calls: Sequence[tuple[Provider, CallResult]]) -> float | None:
    """Return the shortest `retry_after` in seconds; None unless every failed call gave one."""
    delays = [call.reply.retry_after for _provider, call in calls if call.reply.outcome in PROVIDER_FAILURES]
    known = [seconds for seconds in delays if seconds is not None]
    return min(known) if known and len(known) == len(delays) else None


def _are_refused(calls: Sequence[tuple[Provider, CallResult]], outcomes: Collection[TraceOutcome]) -> bool:
    """Return whether every failure was a call that was refused, with one of these outcomes."""
    return all(
        call.is_refusal and call.reply.outcome in outcomes
        for _provider, call in calls
        if _may_help_later(call)
    )
