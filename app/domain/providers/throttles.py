"""Throttling of provider calls. Each provider has one throttle, stored as a row and shared by all workers.

A call is refused by the rate limits, by a pause that the provider requested, or by the circuit breaker. The
breaker opens after five consecutive failures, or when more than half of at least twenty calls within thirty
seconds failed. After thirty seconds one call is admitted as a probe; its success closes the breaker. An empty
result, a demand for payment or a rejected API key is a response, not a failure.
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
    gate: ProviderThrottle, rates: Sequence[Rate], now: datetime, *, breaker: bool = True
) -> tuple[ProviderThrottle, Permit]:
    """Consume a token if the provider may be called; return the new throttle and the permit."""
    if gate.paused_until is not None and now < gate.paused_until:
        return gate, _refused(TraceOutcome.RATE_LIMITED, gate.paused_until, now)
    if (
        breaker
        and gate.state is not BreakerState.CLOSED
        and gate.open_until is not None
        and now < gate.open_until
    ):
        return gate, _refused(TraceOutcome.CIRCUIT_OPEN, gate.open_until, now)
    gate = _refilled(gate, rates, now)
    waits = [(1 - left) / rate.refill for left, rate in zip(gate.tokens, rates, strict=True)]
    wait = max([0.0, *waits])
    if wait > MAX_WAIT_SECONDS:
        return gate, Permit(refused=TraceOutcome.RATE_LIMITED, retry_after=wait)
    gate = replace(gate, tokens=tuple(left - 1 for left in gate.tokens))
    if breaker and gate.state is not BreakerState.CLOSED:
        gate = replace(gate, state=BreakerState.HALF_OPEN, open_until=now + PROBE)
    return gate, Permit(wait=wait)


def report(
    gate: ProviderThrottle, outcome: TraceOutcome, *, retry_after: float | None, now: datetime
) -> ProviderThrottle:
    """Return the throttle updated with the outcome of a call."""
    if now - gate.window_at > WINDOW:
        gate = replace(gate, window_at=now, window_calls=0, window_failures=0)
    failed = outcome in FAILURES
    gate = replace(
        gate,
        failures=gate.failures + 1 if failed else 0,
        window_calls=gate.window_calls + 1,
        window_failures=gate.window_failures + failed,
        last_outcome=outcome.value,
    )
    if outcome is TraceOutcome.RATE_LIMITED:
        seconds = PAUSE_SECONDS if retry_after is None else retry_after
        until = now + timedelta(seconds=seconds)
        gate = replace(gate, paused_until=max(gate.paused_until or until, until))
    if not failed:
        return replace(gate, state=BreakerState.CLOSED, open_until=None)
    if _breaks(gate):
        return replace(
            gate, state=BreakerState.OPEN, open_until=now + OPEN_FOR, window_calls=0, window_failures=0
        )
    return gate


def _breaks(gate: ProviderThrottle) -> bool:
    if gate.state is BreakerState.HALF_OPEN or gate.failures >= FAILURES_IN_A_ROW:
        return True
    return gate.window_calls >= MIN_CALLS and 2 * gate.window_failures > gate.window_calls


def _refilled(gate: ProviderThrottle, rates: Sequence[Rate], now: datetime) -> ProviderThrottle:
    """Refill the tokens. A clock that went back adds none; if the rates changed, the buckets start full."""
    if len(gate.tokens) != len(rates):
        return replace(gate, tokens=new(rates, now).tokens, refilled_at=now)
    seconds = max((now - gate.refilled_at).total_seconds(), 0.0)
    tokens = (
        min(left + seconds * rate.refill, rate.burst) for left, rate in zip(gate.tokens, rates, strict=True)
    )
    return replace(gate, tokens=tuple(tokens), refilled_at=max(now, gate.refilled_at))


def _refused(why: TraceOutcome, until: datetime, now: datetime) -> Permit:
    return Permit(refused=why, retry_after=(until - now).total_seconds())
