from __future__ import annotations

from dataclasses import dataclass

import pytest

from app.infra.circuit_breaker import CircuitBreaker, CircuitOpen


@dataclass
class FakeClock:
    seconds: float = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def breaker(clock: FakeClock) -> CircuitBreaker:
    return CircuitBreaker(OSError, seconds=2.0, clock=clock)


def call(breaker: CircuitBreaker, error: Exception | None = None) -> str:
    try:
        with breaker:
            if error is not None:
                raise error
    except (OSError, LookupError):
        return "failed"
    except CircuitOpen:
        return "refused"
    return "done"


def test_successful_calls_pass(breaker: CircuitBreaker) -> None:
    assert [call(breaker), call(breaker)] == ["done", "done"]


def test_after_a_failure_calls_are_refused_for_a_while(breaker: CircuitBreaker, clock: FakeClock) -> None:
    first = call(breaker, OSError())
    clock.seconds += 1.9

    assert (first, call(breaker)) == ("failed", "refused")


def test_a_successful_trial_closes_the_circuit(breaker: CircuitBreaker, clock: FakeClock) -> None:
    call(breaker, OSError())
    clock.seconds += 2.0

    assert [call(breaker), call(breaker)] == ["done", "done"]


def test_a_failed_trial_opens_the_circuit_again(breaker: CircuitBreaker, clock: FakeClock) -> None:
    call(breaker, OSError())
    clock.seconds += 2.0

    assert [call(breaker, OSError()), call(breaker)] == ["failed", "refused"]


def test_trials_become_less_frequent_during_an_outage(breaker: CircuitBreaker, clock: FakeClock) -> None:
    refused_for = []
    for _ in range(4):
        call(breaker, OSError())
        began = clock.seconds
        while call(breaker, OSError()) == "refused":
            clock.seconds += 0.5
        refused_for.append(clock.seconds - began)

    assert refused_for == [2.0, 4.0, 8.0, 8.0]


def test_simultaneous_failures_count_once(breaker: CircuitBreaker, clock: FakeClock) -> None:
    with pytest.raises(OSError), breaker, breaker, breaker:  # noqa: PT011 -- the message does not matter
        raise OSError
    clock.seconds += 2.0

    assert call(breaker) == "done"


def test_other_calls_are_refused_during_a_trial(breaker: CircuitBreaker, clock: FakeClock) -> None:
    call(breaker, OSError())
    clock.seconds += 2.0
    with breaker:
        refused = [call(breaker), call(breaker)]

    assert refused == ["refused", "refused"]
    assert call(breaker) == "done"


def test_other_errors_do_not_open_the_circuit(breaker: CircuitBreaker) -> None:
    assert [call(breaker, LookupError()), call(breaker)] == ["failed", "done"]
