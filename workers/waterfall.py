"""The waterfall: asks one provider after the other until one gives a value that is good enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.findings import FoundCompany, FoundContact, FoundEmail, FoundPhone
from app.domain.kinds import TraceOutcome
from app.infra.log import log
from workers import verification
from workers.providers.base import Ask, Provider, ProviderTimeout, Reply

SECONDS_PER_PROVIDER = 10.0
SECONDS_IN_ALL = 15.0

FAILURES = frozenset(
    {
        TraceOutcome.ERROR,
        TraceOutcome.TIMEOUT,
        TraceOutcome.RATE_LIMITED,
        TraceOutcome.CIRCUIT_OPEN,
        TraceOutcome.NO_CREDITS,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catch:
    """What the waterfall brought: every value, who was asked, and whether the silence means no.

    `failed` says that nobody could answer, so that asking later may help; `retry_after` is in seconds.
    """

    emails: tuple[FoundEmail, ...] = ()
    phones: tuple[FoundPhone, ...] = ()
    contact: FoundContact | None = None
    company: FoundCompany | None = None
    trace: tuple[dict[str, Any], ...] = ()
    suppressed: bool = False
    failed: bool = False
    retry_after: float | None = None


def run(ask: Ask, providers: Sequence[Provider], good_enough: Callable[[Reply], bool]) -> Catch:
    """Ask the providers in order; the first reply that is good enough stops, the others are kept."""
    catch = Catch()
    outcomes: list[tuple[Provider, TraceOutcome]] = []
    until = time.monotonic() + SECONDS_IN_ALL
    for provider in providers:
        seconds = min(SECONDS_PER_PROVIDER, until - time.monotonic())
        started = time.monotonic()
        reply = _ask(provider, ask, seconds) if seconds > 0 else Reply(outcome=TraceOutcome.TIMEOUT)
        enough = reply.outcome is TraceOutcome.HIT and good_enough(reply)
        if provider.guesses and reply.outcome is TraceOutcome.HIT and not enough:
            reply = replace(reply, outcome=TraceOutcome.MISS, emails=())
        catch = _add(catch, provider, reply, round((time.monotonic() - started) * 1000))
        outcomes.append((provider, reply.outcome))
        if enough or catch.suppressed:
            return catch
    return replace(catch, failed=_all_failed(outcomes))


def _ask(provider: Provider, ask: Ask, seconds: float) -> Reply:
    try:
        reply = provider.ask(ask, seconds=seconds)
        return replace(reply, emails=tuple(verification.assess(found) for found in reply.emails))
    except ProviderTimeout:
        return Reply(outcome=TraceOutcome.TIMEOUT)
    except Exception as error:  # noqa: BLE001 -- an adapter's bug must not end the waterfall
        log.warning("provider failed", provider=provider.name, exc_info=error)
        return Reply(outcome=TraceOutcome.ERROR)


def _add(catch: Catch, provider: Provider, reply: Reply, milliseconds: int) -> Catch:
    line: dict[str, Any] = {"provider": provider.name, "outcome": reply.outcome.value}
    if reply.emails:
        line["status"] = reply.emails[0].status.value
    line |= {"latency_ms": milliseconds, "cost": reply.cost}
    log.info("provider asked", **line)
    return replace(
        catch,
        emails=catch.emails + reply.emails,
        phones=catch.phones + reply.phones,
        contact=catch.contact or reply.contact,
        company=catch.company or reply.company,
        trace=(*catch.trace, line),
        suppressed=reply.outcome is TraceOutcome.SUPPRESSED,
        retry_after=reply.retry_after if catch.retry_after is None else catch.retry_after,
    )


def _all_failed(outcomes: Sequence[tuple[Provider, TraceOutcome]]) -> bool:
    """Tell whether somebody failed and nobody said no; a guesser's miss is no no."""
    answered = {TraceOutcome.HIT, TraceOutcome.MISS, TraceOutcome.KNOWN_MISS}
    said_no = any(outcome in answered and not provider.guesses for provider, outcome in outcomes)
    return not said_no and any(outcome in FAILURES for _provider, outcome in outcomes)
