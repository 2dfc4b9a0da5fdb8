"""The waterfall: asks one provider after the other until one gives a value that is good enough.

It knows no database. What limits it, remembers for it and writes down what it pays is the `Desk`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone
from app.domain.kinds import TraceOutcome
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
from workers.resolve import verification

SECONDS_PER_PROVIDER = 10.0
"""With the wait for a turn, well within a lease."""
POLL_SECONDS = 15.0
MAX_VERIFIED = 3
"""Addresses of one reply that are verified; a list of guesses must not become a search by trial."""

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
    """The provider is not to be asked now; nothing was sent."""

    outcome: TraceOutcome
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class StartedCall:
    """A call that may be made; `ask` has the ticket of an earlier one that waits for its answer."""

    ask: ProviderRequest
    asked_at: datetime
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a provider said, now or when this job ran before; `milliseconds` from question to answer."""

    reply: ProviderResponse
    asked_at: datetime
    milliseconds: int = 0
    call_id: str | None = None
    is_refusal: bool = False


class CallGateway(Protocol):
    """Who lets calls out and keeps what they brought."""

    def begin(
        self, provider: Provider, ask: ProviderRequest
    ) -> CallRefused | StartedCall | CallResult | Pending:
        """Let the call out, or say why not, or give the answer that this job has already got.

        Pending if the answer is on its way and nobody is to be asked now.
        """

    def wait(self, provider: Provider, started: StartedCall, pending: Pending) -> CallResult | None:
        """Keep the ticket; give an answer if the provider has been waited for long enough."""

    def end(
        self, provider: Provider, started: StartedCall, reply: ProviderResponse, milliseconds: int
    ) -> CallResult:
        """Keep what the provider said."""

    def record_verdict(self, heard: CallResult, reply: ProviderResponse) -> None:
        """Keep what became of an answer once its addresses were verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterfallResult:
    """What the waterfall brought: every value, who was asked, and whether the silence means no.

    `answers` are the replies that had some, each as it came; `verified` are stored addresses with a new
    verdict.
    `contacts` and `companies` are in the order they were told. `failed` says that nobody could answer, so
    that asking later may help, and `unasked` that this is because nobody's turn came. `waiting` says that
    somebody needs so many seconds more; `retry_after` when to come again after a failure, in seconds.
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
    """One going down of the waterfall."""

    ask: ProviderRequest
    desk: CallGateway
    verifiers: Sequence[Provider]
    catch: WaterfallResult = field(default_factory=WaterfallResult)
    heard: list[tuple[Provider, CallResult]] = field(default_factory=list)
    unverified_for: float | None = None


def run(
    ask: ProviderRequest,
    providers: Sequence[Provider],
    good_enough: GoodEnough,
    *,
    desk: CallGateway,
    verifiers: Sequence[Provider] = (),
) -> WaterfallResult:
    """Ask the providers in order; the first reply that is good enough stops, the others are kept.

    Addresses whose host nobody has asked are verified by the verifiers, in order, before they are judged.
    """
    down = _Run(ask, desk, verifiers)
    for provider in providers:
        heard = _call(provider, ask, desk)
        if isinstance(heard, Pending):
            return replace(down.catch, waiting=heard.after)
        checks: list[tuple[Provider, CallResult]] = []
        reply = _verified(down, provider, heard.reply, checks)
        opted_out = any(one.reply.outcome is TraceOutcome.SUPPRESSED for _verifier, one in checks)
        enough = reply.outcome is TraceOutcome.HIT and good_enough(reply)
        if provider.guesses and reply.outcome is TraceOutcome.HIT and not enough:
            reply = replace(reply, outcome=TraceOutcome.MISS, emails=())
        if reply != heard.reply:
            desk.record_verdict(heard, reply)
        _add(down, provider, replace(heard, reply=reply), checks)
        if opted_out:
            return replace(down.catch, suppressed=True)
        if enough or down.catch.suppressed:
            return down.catch
    if down.unverified_for is not None:
        return replace(down.catch, waiting=down.unverified_for)
    if not _all_failed(down.heard):
        return down.catch
    return replace(
        down.catch,
        failed=True,
        only_rate_limited=_only_rate_limited(down.heard),
        retry_after=_soonest(down.heard),
    )


def verify_stored(
    ask: ProviderRequest, stored: Sequence[FoundEmail], *, desk: CallGateway, verifiers: Sequence[Provider]
) -> WaterfallResult:
    """Have addresses verified that are stored and that nobody has verified, the first few of them."""
    catch = WaterfallResult()
    for found in stored[:MAX_VERIFIED]:
        judged, asked, wait = verify(found, verifiers, desk, ask=ask)
        lines = tuple(_line(verifier, ProviderField.VERIFICATION, one) for verifier, one in asked)
        new = (judged,) if judged != found else ()
        catch = replace(
            catch,
            emails=catch.emails + new,
            verified=catch.verified + new,
            trace=catch.trace + lines,
            suppressed=any(one.reply.outcome is TraceOutcome.SUPPRESSED for _verifier, one in asked),
            waiting=catch.waiting if wait is None else wait,
        )
        if catch.suppressed:
            break
    return catch


def verify(
    found: FoundEmail, verifiers: Sequence[Provider], desk: CallGateway, *, ask: ProviderRequest
) -> tuple[FoundEmail, list[tuple[Provider, CallResult]], float | None]:
    """Have an address verified; give it with the first verdict there is, who was asked, and how long to wait.

    The wait is for a verifier that needs time, in seconds; None if none does or another knew.
    """
    asked: list[tuple[Provider, CallResult]] = []
    wait: float | None = None
    question = ProviderRequest(
        field=ProviderField.VERIFICATION,
        subject=Subject(email=found.email),
        country=ask.country,
        attempt=ask.attempt,
    )
    for verifier in verifiers:
        heard = _call(verifier, question, desk)
        if isinstance(heard, Pending):
            wait = heard.after if wait is None else min(wait, heard.after)
            continue
        asked.append((verifier, heard))
        if heard.reply.outcome is TraceOutcome.HIT and heard.reply.emails:
            return _with_verdict(found, heard.reply.emails[0]), asked, None
    return found, asked, wait


def _call(provider: Provider, ask: ProviderRequest, desk: CallGateway) -> CallResult | Pending:
    """Ask one provider, if it can be asked and may be."""
    refusal = provider.unavailability(ask)
    if refusal is not None:
        return CallResult(ProviderResponse(outcome=refusal), clock.now(), is_refusal=True)
    begun = desk.begin(provider, ask)
    if isinstance(begun, Pending):
        return begun
    if isinstance(begun, CallRefused):
        refused = ProviderResponse(outcome=begun.outcome, retry_after=begun.retry_after)
        return CallResult(refused, clock.now(), is_refusal=True)
    if isinstance(begun, CallResult):
        return begun
    started = time.monotonic()
    reply = _invoke(provider, begun.ask)
    if isinstance(reply, Pending):
        return desk.wait(provider, begun, reply) or reply
    heard = desk.end(provider, begun, reply, round((time.monotonic() - started) * 1000))
    log.info("provider asked", **_line(provider, ask.field, heard))
    return heard


def _invoke(provider: Provider, ask: ProviderRequest) -> ProviderResponse | Pending:
    try:
        reply = provider.ask(ask, seconds=SECONDS_PER_PROVIDER)
        if isinstance(reply, Pending):
            return reply
        emails = tuple(verification.assess(found) for found in reply.emails)
        return replace(reply, emails=emails, cost=max(reply.cost, 0.0))
    except Exception as error:  # noqa: BLE001 -- an adapter's bug must not end the waterfall
        log.warning("provider failed", provider=provider.name, exc_info=error)
        outcome = TraceOutcome.TIMEOUT if isinstance(error, ProviderTimeout) else TraceOutcome.ERROR
        if ask.poll_token is not None:  # what is on order is not given up because of one bad moment
            return Pending(ask.poll_token, POLL_SECONDS, outcome)
        return ProviderResponse(outcome=outcome)


def _verified(
    down: _Run, provider: Provider, reply: ProviderResponse, checks: list[tuple[Provider, CallResult]]
) -> ProviderResponse:
    """Have the addresses verified that nobody has verified, the first few of them.

    Of a guesser's only one is kept: the likeliest, or, where that bounces, the first that is known not to.
    """
    if down.ask.field is ProviderField.VERIFICATION or reply.outcome is not TraceOutcome.HIT:
        return reply
    kept: list[FoundEmail] = []
    for place, found in enumerate(reply.emails):
        judged = found
        if place < MAX_VERIFIED and found.status in _UNVERIFIED and found.verified_at is None:
            judged, asked, wait = verify(found, down.verifiers, down.desk, ask=down.ask)
            checks += asked
            down.unverified_for = down.unverified_for if wait is None else wait
        if not provider.guesses:
            kept.append(judged)
        elif judged.status is not EmailStatus.INVALID:
            kept = [judged] if place == 0 or judged.verified_at is not None else []
            break
    if provider.guesses and not kept:
        return replace(reply, outcome=TraceOutcome.MISS, emails=())
    return replace(reply, emails=tuple(kept))


def _with_verdict(found: FoundEmail, verdict: FoundEmail) -> FoundEmail:
    reasons = tuple(dict.fromkeys((*found.reasons, *verdict.reasons)))
    if verdict.status is EmailStatus.VALID:
        reasons = tuple(reason for reason in reasons if reason != "guessed")
    return replace(found, status=verdict.status, reasons=reasons, verified_at=verdict.verified_at)


def _add(
    down: _Run, provider: Provider, heard: CallResult, checks: list[tuple[Provider, CallResult]]
) -> None:
    reply, catch = heard.reply, down.catch
    lines = [
        _line(provider, down.ask.field, heard),
        *(_line(verifier, ProviderField.VERIFICATION, one) for verifier, one in checks),
    ]
    down.heard.append((provider, heard))
    down.catch = replace(
        catch,
        emails=catch.emails + reply.emails,
        phones=catch.phones + reply.phones,
        contacts=catch.contacts + ((reply.contact,) if reply.contact else ()),
        companies=catch.companies + ((reply.company,) if reply.company else ()),
        answers=catch.answers + ((reply,) if reply.outcome is TraceOutcome.HIT else ()),
        trace=(*catch.trace, *lines),
        suppressed=reply.outcome is TraceOutcome.SUPPRESSED,
    )


def _line(provider: Provider, asked: ProviderField, heard: CallResult) -> dict[str, Any]:
    """Write the receipt's line: who was asked for what, what came of it, and the provider's own credits."""
    reply = heard.reply
    line: dict[str, Any] = {"provider": provider.name, "field": asked.value, "outcome": reply.outcome.value}
    if reply.emails:
        line["status"] = reply.emails[0].status.value
    cost = int(reply.cost) if reply.cost == int(reply.cost) else reply.cost
    return line | {"latency_ms": heard.milliseconds, "cost": cost, "at": clock.rfc3339(heard.asked_at)}


def _all_failed(heard: Sequence[tuple[Provider, CallResult]]) -> bool:
    """Tell whether somebody failed and nobody said no; a guesser's miss is no no."""
    said_no = any(one.reply.outcome in _ANSWERS and not provider.guesses for provider, one in heard)
    return not said_no and any(_may_help_later(one) for _provider, one in heard)


def _may_help_later(heard: CallResult) -> bool:
    """Tell whether asking later may help: a budget, unlike a ceiling, comes back, and a bad key is mended.

    Who has no key at all is simply not there.
    """
    reply = heard.reply
    used_up = reply.outcome is TraceOutcome.COST_CEILING and reply.retry_after is not None
    bad_key = reply.outcome is TraceOutcome.UNCONFIGURED and not heard.is_refusal
    return used_up or bad_key or reply.outcome in FAILURES


def _soonest(heard: Sequence[tuple[Provider, CallResult]]) -> float | None:
    """Give when the first may be asked again; None as soon as there is one that did not say."""
    said = [one.reply.retry_after for _provider, one in heard if one.reply.outcome in FAILURES]
    known = [seconds for seconds in said if seconds is not None]
    return min(known) if known and len(known) == len(said) else None


def _only_rate_limited(heard: Sequence[tuple[Provider, CallResult]]) -> bool:
    """Tell whether every failure was a turn that did not come."""
    return all(
        one.is_refusal and one.reply.outcome is TraceOutcome.RATE_LIMITED
        for _provider, one in heard
        if _may_help_later(one)
    )
