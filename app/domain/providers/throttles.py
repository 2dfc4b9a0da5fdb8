"""Throttling of provider calls. Each provider has one throttle, stored as a row and shared by all workers.

A call is refused by the rate limits, by a pause that the provider requested, or by the circuit breaker. The
breaker opens after five consecutive failures, or when more than half of at least twenty calls within thirty
seconds failed. After thirty seconds one call is admitted as a probe; its success closes the breaker. An empty
result, a demand for payment or a rejected API key is a response, not a failure.

A clock that was ahead for a while leaves times behind that are too far in the future to be true. They are
ignored once it is corrected, so that no provider is refused until they have come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from app.domain.kinds import TraceOutcome
from app.domain.providers.rates import Rate

FAILURES_IN_A_ROW = 5
WINDOW = timedelta(seconds=30)
MIN_CALLS = 20
OPEN_FOR = timedelta(seconds=30)
PROBE = timedelta(seconds=15)
"""The time after which another probe is sent: longer than any call takes."""
PAUSE_SECONDS = 5.0
"""The pause after a rate-limited response without a Retry-After."""
MAX_PAUSE_SECONDS = 86_400.0
"""The longest pause that a provider can request."""
MAX_WAIT_SECONDS = 1.0
"""The longest wait for a token; if the wait would be longer, the next provider is called."""
FAILURES = frozenset({TraceOutcome.ERROR, TraceOutcome.TIMEOUT})


class BreakerState(StrEnum):
    """The state of the breaker: closed admits calls, half open waits for the result of its probe."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderThrottle:
    """The rate limits and circuit breaker of a provider.

    `tokens` has one count for each rate, as of `refilled_at`; a negative count means that callers wait.
    The breaker admits the next probe at `open_until`; the provider accepts calls again at `paused_until`.
    `failures` counts consecutive failures; the window counts calls and failures since `window_at`.
    """

    tokens: tuple[float, ...]
    refilled_at: datetime
    window_at: datetime
    state: BreakerState = BreakerState.CLOSED
    open_until: datetime | None = None
    paused_until: datetime | None = None
    failures: int = 0
    window_calls: int = 0
    window_failures: int = 0
    last_outcome: str | None = None

    @property
    def is_healthy(self) -> bool:
        """Return whether a call to this provider may succeed."""
        dead = {TraceOutcome.UNCONFIGURED.value, TraceOutcome.NO_CREDITS.value}
        return self.state is BreakerState.CLOSED and self.last_outcome not in dead


@dataclass(frozen=True, slots=True)
class Permit:
    """The decision on a call: admitted after `wait` seconds, or refused, with the seconds until a retry."""

    wait: float = 0.0
    refused: TraceOutcome | None = None
    retry_after: float | None = None


def new(rates: Sequence[Rate], now: datetime) -> ProviderThrottle:
    """Return the throttle of a provider that was never called."""
    return ProviderThrottle(tokens=tuple(float(rate.burst) for rate in rates), refilled_at=now, window_at=now)


def admit(
    throttle: ProviderThrottle, rates: Sequence[Rate], now: datetime, *, breaker: bool = True
) -> tuple[ProviderThrottle, Permit]:
    """Consume a token if the provider may be called; return the new throttle and the permit."""
    paused = _remaining(throttle.paused_until, now, timedelta(seconds=MAX_PAUSE_SECONDS))
    if paused:
        return throttle, Permit(refused=TraceOutcome.RATE_LIMITED, retry_after=paused)
    if breaker and throttle.state is not BreakerState.CLOSED:
        open_for = _remaining(throttle.open_until, now, OPEN_FOR)
        if open_for:
            return throttle, Permit(refused=TraceOutcome.CIRCUIT_OPEN, retry_after=open_for)
    throttle = _refilled(throttle, rates, now)
    waits = [(1 - remaining) / rate.refill for remaining, rate in zip(throttle.tokens, rates, strict=True)]
    wait = max([0.0, *waits])
    if wait > MAX_WAIT_SECONDS:
        return throttle, Permit(refused=TraceOutcome.RATE_LIMITED, retry_after=wait)
    throttle = replace(throttle, tokens=tuple(remaining - 1 for remaining in throttle.tokens))
    if breaker and throttle.state is not BreakerState.CLOSED:
        throttle = replace(throttle, state=BreakerState.HALF_OPEN, open_until=now + PROBE)
    return throttle, Permit(wait=wait)


def report(
    throttle: ProviderThrottle, outcome: TraceOutcome, *, retry_after: float | None, now: datetime
) -> ProviderThrottle:
    """Return the throttle updated with the outcome of a call."""
    if abs(now - throttle.window_at) > WINDOW:
        throttle = replace(throttle, window_at=now, window_calls=0, window_failures=0)
    failed = outcome in FAILURES
    throttle = replace(
        throttle,
        failures=throttle.failures + 1 if failed else 0,
        window_calls=throttle.window_calls + 1,
        window_failures=throttle.window_failures + failed,
        last_outcome=outcome.value,
    )
    if outcome is TraceOutcome.RATE_LIMITED:
        seconds = PAUSE_SECONDS if retry_after is None else min(retry_after, MAX_PAUSE_SECONDS)
        resume_at = now + timedelta(seconds=seconds)
        throttle = replace(throttle, paused_until=max(throttle.paused_until or resume_at, resume_at))
    if not failed:
        return replace(throttle, state=BreakerState.CLOSED, open_until=None)
    if _breaks(throttle):
        return replace(
            throttle, state=BreakerState.OPEN, open_until=now + OPEN_FOR, window_calls=0, window_failures=0
        )
    return throttle


def _breaks(throttle: ProviderThrottle) -> bool:
    if throttle.state is BreakerState.HALF_OPEN or throttle.failures >= FAILURES_IN_A_ROW:
        return True
    return throttle.window_calls >= MIN_CALLS and 2 * throttle.window_failures > throttle.window_calls


def _refilled(throttle: ProviderThrottle, rates: Sequence[Rate], now: datetime) -> ProviderThrottle:
    """Refill the tokens. A clock that went back adds none; if the rates changed, the buckets start full."""
    if len(throttle.tokens) != len(rates):
        return replace(throttle, tokens=new(rates, now).tokens, refilled_at=now)
    seconds = max((now - throttle.refilled_at).total_seconds(), 0.0)
    tokens = (
        min(remaining + seconds * rate.refill, rate.burst)
        for remaining, rate in zip(throttle.tokens, rates, strict=True)
    )
    return replace(throttle, tokens=tuple(tokens), refilled_at=now)


def _remaining(until: datetime | None, now: datetime, longest: timedelta) -> float:
    """Return the seconds until then; 0 if they are over, or more than the longest that was ever set."""
    remaining = timedelta(0) if until is None else until - now
    return remaining.total_seconds() if timedelta(0) < remaining <= longest else 0.0
