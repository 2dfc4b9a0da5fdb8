from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jobs_support import NOW

from app.domain.kinds import TraceOutcome
from app.domain.providers import throttles
from app.domain.providers.rates import Rate
from app.domain.providers.throttles import BreakerState, ProviderThrottle

MINUTE = (Rate(60, 60.0),)


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def reported(gate: ProviderThrottle, *outcomes: TraceOutcome, after: float | None = None) -> ProviderThrottle:
    for outcome in outcomes:
        gate = throttles.report(gate, outcome, retry_after=after, now=NOW)
    return gate


def broken() -> ProviderThrottle:
    return reported(throttles.new((), NOW), *[TraceOutcome.ERROR] * throttles.FAILURES_IN_A_ROW)


@given(
    st.sampled_from([Rate(1, 1.0), Rate(3, 1.0), Rate(15, 1.0), Rate(60, 60.0), Rate(100, 60.0)]),
    st.lists(st.floats(0, 2), min_size=1, max_size=300),
)
def test_no_window_admits_more_calls_than_the_rate(rate: Rate, pauses: list[float]) -> None:
    gate = throttles.new([rate], NOW)
    calls, clock = [], 0.0

    for pause in pauses:
        clock += pause
        gate, admission = throttles.admit(gate, [rate], later(clock))
        if admission.refused is None:
            calls.append(clock + admission.wait)

    spans = [sum(start <= call < start + rate.seconds - 1e-6 for call in calls) for start in calls]
    assert max(spans, default=0) <= rate.count


def test_the_burst_is_admitted_at_once_and_the_next_call_waits() -> None:
    gate = throttles.new([Rate(20, 1.0)], NOW)

    waits = []
    for _ in range(4):
        gate, admission = throttles.admit(gate, [Rate(20, 1.0)], NOW)
        waits.append(round(admission.wait, 3))

    assert waits == [0.0, 0.0, 0.053, 0.105]


def test_a_call_that_would_wait_too_long_is_refused_and_takes_no_token() -> None:
    gate, _first = throttles.admit(throttles.new([Rate(1, 60.0)], NOW), [Rate(1, 60.0)], NOW)

    refused, admission = throttles.admit(gate, [Rate(1, 60.0)], later(1))

    assert admission.refused is TraceOutcome.RATE_LIMITED
    assert admission.retry_after == pytest.approx(59.0)
    assert refused.tokens == pytest.approx((1 / 60,))


def test_the_strictest_of_several_rates_counts() -> None:
    rates = [Rate(10, 1.0), Rate(1, 60.0)]
    gate, _first = throttles.admit(throttles.new(rates, NOW), rates, NOW)

    _gate, admission = throttles.admit(gate, rates, later(5))

    assert admission.refused is TraceOutcome.RATE_LIMITED


def test_a_clock_that_goes_back_adds_no_tokens() -> None:
    gate, _first = throttles.admit(throttles.new([Rate(1, 1.0)], NOW), [Rate(1, 1.0)], NOW)

    _gate, admission = throttles.admit(gate, [Rate(1, 1.0)], later(-100))

    assert admission.wait == 1.0


def test_after_a_clock_that_was_ahead_is_corrected_calls_are_admitted_at_the_rate() -> None:
    rates = [Rate(1, 60.0)]
    gate, _first = throttles.admit(throttles.new(rates, later(3600)), rates, later(3600))

    gate, too_early = throttles.admit(gate, rates, NOW)
    _gate, second = throttles.admit(gate, rates, later(60))

    assert (too_early.refused, second.refused) == (TraceOutcome.RATE_LIMITED, None)


def test_a_breaker_that_was_opened_by_a_clock_ahead_admits_a_probe_once_it_is_corrected() -> None:
    gate, admission = throttles.admit(broken(), (), later(-3600))

    assert (gate.state, admission.refused) == (BreakerState.HALF_OPEN, None)


def test_a_pause_that_was_requested_by_a_clock_ahead_does_not_last_longer_than_the_longest_pause() -> None:
    gate = reported(throttles.new((), NOW), TraceOutcome.RATE_LIMITED, after=throttles.MAX_PAUSE_SECONDS)

    longest = throttles.admit(gate, (), NOW)[1]
    longer = throttles.admit(gate, (), later(-3600))[1]

    assert (longest.refused, longer.refused) == (TraceOutcome.RATE_LIMITED, None)


def test_failures_counted_by_a_clock_ahead_are_of_another_window_once_it_is_corrected() -> None:
    gate = reported(throttles.new((), NOW), *(TraceOutcome.ERROR, TraceOutcome.HIT) * 10)

    gate = throttles.report(gate, TraceOutcome.ERROR, retry_after=None, now=later(-3600))

    assert (gate.state, gate.window_calls, gate.window_failures) == (BreakerState.CLOSED, 1, 1)


def test_changed_rates_start_with_full_buckets() -> None:
    gate, _first = throttles.admit(throttles.new([Rate(1, 60.0)], NOW), [Rate(1, 60.0)], NOW)

    _gate, admission = throttles.admit(gate, [Rate(1, 60.0), Rate(5, 1.0)], NOW)

    assert admission.refused is None


def test_without_a_rate_every_call_is_admitted() -> None:
    assert throttles.admit(throttles.new((), NOW), (), NOW)[1] == throttles.Permit()


@pytest.mark.parametrize(("retry_after", "seconds"), [(7.0, 7.0), (None, throttles.PAUSE_SECONDS)])
def test_a_requested_pause_is_respected(retry_after: float | None, seconds: float) -> None:
    gate = reported(throttles.new((), NOW), TraceOutcome.RATE_LIMITED, after=retry_after)

    before = throttles.admit(gate, (), later(seconds - 1))[1]
    after = throttles.admit(gate, (), later(seconds))[1]

    assert (before.refused, before.retry_after) == (TraceOutcome.RATE_LIMITED, 1.0)
    assert after.refused is None


def test_the_longest_requested_pause_counts() -> None:
    gate = reported(throttles.new((), NOW), TraceOutcome.RATE_LIMITED, after=600.0)

    gate = reported(gate, TraceOutcome.RATE_LIMITED, after=5.0)  # the response to another worker's call

    assert throttles.admit(gate, (), later(599))[1].refused is TraceOutcome.RATE_LIMITED
    assert throttles.admit(gate, (), later(600))[1].refused is None


def test_five_failures_in_a_row_open_the_breaker() -> None:
    gate = broken()

    admission = throttles.admit(gate, (), later(1))[1]

    assert (gate.state, admission.refused, admission.retry_after) == (
        BreakerState.OPEN,
        TraceOutcome.CIRCUIT_OPEN,
        throttles.OPEN_FOR.total_seconds() - 1,
    )


def test_four_failures_and_a_success_do_not_open_the_breaker() -> None:
    gate = reported(
        throttles.new((), NOW), *[TraceOutcome.TIMEOUT] * 4, TraceOutcome.MISS, TraceOutcome.ERROR
    )

    assert (gate.state, gate.failures) == (BreakerState.CLOSED, 1)


@pytest.mark.parametrize(
    "pair", [(TraceOutcome.ERROR, TraceOutcome.HIT), (TraceOutcome.HIT, TraceOutcome.ERROR)]
)
def test_failures_of_more_than_half_of_twenty_calls_open_the_breaker(
    pair: tuple[TraceOutcome, TraceOutcome],
) -> None:
    half = reported(throttles.new((), NOW), *pair * 10)
    more = reported(half, TraceOutcome.ERROR)

    assert (half.state, more.state) == (BreakerState.CLOSED, BreakerState.OPEN)


def test_a_late_failure_does_not_keep_the_breaker_open_longer() -> None:
    gate = reported(throttles.new((), NOW), *(TraceOutcome.ERROR, TraceOutcome.HIT) * 10, TraceOutcome.ERROR)

    gate = throttles.report(gate, TraceOutcome.ERROR, retry_after=None, now=later(2))

    assert (gate.state, gate.open_until) == (BreakerState.OPEN, NOW + throttles.OPEN_FOR)


def test_failures_of_another_window_do_not_count() -> None:
    gate = reported(throttles.new((), NOW), *(TraceOutcome.ERROR, TraceOutcome.HIT) * 10)

    gate = throttles.report(gate, TraceOutcome.ERROR, retry_after=None, now=later(31))

    assert (gate.state, gate.window_calls, gate.window_failures) == (BreakerState.CLOSED, 1, 1)


@pytest.mark.parametrize("outcome", sorted(set(TraceOutcome) - throttles.FAILURES))
def test_a_response_without_a_result_is_not_a_failure(outcome: TraceOutcome) -> None:
    assert reported(throttles.new((), NOW), *[outcome] * 30).state is BreakerState.CLOSED


def test_one_probe_is_admitted_after_the_open_time() -> None:
    gate = broken()

    gate, probe = throttles.admit(gate, (), later(30))
    _gate, second = throttles.admit(gate, (), later(31))

    assert (probe.refused, second.refused) == (None, TraceOutcome.CIRCUIT_OPEN)


def test_a_lost_probe_is_sent_again() -> None:
    gate, _probe = throttles.admit(broken(), (), later(30))

    _gate, again = throttles.admit(gate, (), later(30) + throttles.PROBE)

    assert again.refused is None


@pytest.mark.parametrize(
    ("outcome", "state"), [(TraceOutcome.MISS, BreakerState.CLOSED), (TraceOutcome.ERROR, BreakerState.OPEN)]
)
def test_the_result_of_the_probe_closes_or_opens_the_breaker(
    outcome: TraceOutcome, state: BreakerState
) -> None:
    gate, _probe = throttles.admit(broken(), (), later(30))

    assert reported(gate, outcome).state is state


def test_a_provider_without_a_breaker_is_called_despite_failures() -> None:
    gate, admission = throttles.admit(broken(), (), NOW, breaker=False)

    assert (gate.state, admission.refused) == (BreakerState.OPEN, None)  # the call is not a probe


@pytest.mark.parametrize(
    ("outcome", "healthy"),
    [
        (TraceOutcome.HIT, True),
        (TraceOutcome.ERROR, True),
        (TraceOutcome.UNCONFIGURED, False),
        (TraceOutcome.NO_CREDITS, False),
    ],
)
def test_a_provider_is_healthy_if_a_call_may_succeed(outcome: TraceOutcome, *, healthy: bool) -> None:
    assert reported(throttles.new((), NOW), outcome).is_healthy is healthy


def test_an_open_breaker_is_not_healthy() -> None:
    assert not broken().is_healthy
