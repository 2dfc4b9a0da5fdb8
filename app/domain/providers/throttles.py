"""Gates: whether a provider may be asked now. One per provider, shared by all workers, kept as a row.

Three things close it: its rates, an answer that said to come back later, and a circuit breaker. The breaker
opens after five failures in a row, or when more than half of at least twenty calls within thirty seconds
failed; after thirty seconds one caller goes through as a probe, and its success closes the breaker. That a
provider found nothing, wants paying or knows no such key is an answer, not a failure.
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
"""For how long a probe may take before another is sent: longer than any call."""
PAUSE_SECONDS = 5.0
"""How long to leave a provider alone that said it is asked too often, but not for how long."""
MAX_WAIT_SECONDS = 1.0
"""For how many seconds a worker waits for its turn; if that is not enough, somebody else is asked."""
FAILURES = frozenset({TraceOutcome.ERROR, TraceOutcome.TIMEOUT})


class BreakerState(StrEnum):
    """The breaker's: closed lets calls through, half open has its probe on the way."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderThrottle:
    """What is known of a provider's readiness.

    `tokens` has one figure for each of its rates, as of `refilled_at`; below zero, callers wait for their
    turn. `open_until` is when the breaker lets the next probe through, `paused_until` when the provider wants
    to be asked again. `failures` are those in a row; the window counts calls and failures since `window_at`.
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
        """Tell whether asking this provider may help."""
        dead = {TraceOutcome.UNCONFIGURED.value, TraceOutcome.NO_CREDITS.value}
        return self.state is BreakerState.CLOSED and self.last_outcome not in dead


@dataclass(frozen=True, slots=True)
class Permit:
    """Whether a call may be made: after `wait` seconds; or why not, and when to come again."""

    wait: float = 0.0
    refused: TraceOutcome | None = None
    retry_after: float | None = None


def new(rates: Sequence[Rate], now: datetime) -> ProviderThrottle:
    """Give the gate of a provider that was never asked."""
    return ProviderThrottle(tokens=tuple(float(rate.burst) for rate in rates), refilled_at=now, window_at=now)


def admit(
    gate: ProviderThrottle, rates: Sequence[Rate], now: datetime, *, breaker: bool = True
) -> tuple[ProviderThrottle, Permit]:
    """Take a token if the provider may be asked; give the gate as it is then."""
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
    """Take in how a call ended."""
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
    """Add what came in since; a clock that went back adds nothing. Other rates than before start full."""
    if len(gate.tokens) != len(rates):
        return replace(gate, tokens=new(rates, now).tokens, refilled_at=now)
    seconds = max((now - gate.refilled_at).total_seconds(), 0.0)
    tokens = (
        min(left + seconds * rate.refill, rate.burst) for left, rate in zip(gate.tokens, rates, strict=True)
    )
    return replace(gate, tokens=tuple(tokens), refilled_at=max(now, gate.refilled_at))


def _refused(why: TraceOutcome, until: datetime, now: datetime) -> Permit:
    return Permit(refused=why, retry_after=(until - now).total_seconds())
