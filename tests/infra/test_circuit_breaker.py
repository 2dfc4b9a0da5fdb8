from __future__ import annotations

from dataclasses import dataclass

import pytest

from app.infra.circuit_breaker import CircuitBreaker, CircuitOpen


@dataclass
class Clock:
    seconds: float = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def fuse(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(OSError, seconds=2.0, clock=clock)


def call(fuse: CircuitBreaker, error: Exception | None = None) -> str:
    try:
        with fuse:
            if error is not None:
                raise error
    except (OSError, LookupError):
        return "failed"
    except CircuitOpen:
        return "refused"
    return "done"


def test_successful_calls_pass(fuse: CircuitBreaker) -> None:
    assert [call(fuse), call(fuse)] == ["done", "done"]


def test_after_a_failure_calls_are_refused_for_a_while(fuse: CircuitBreaker, clock: Clock) -> None:
    first = call(fuse, OSError())
    clock.seconds += 1.9

    assert (first, call(fuse)) == ("failed", "refused")


def test_a_successful_trial_closes_the_circuit(fuse: CircuitBreaker, clock: Clock) -> None:
    call(fuse, OSError())
    clock.seconds += 2.0

    assert [call(fuse), call(fuse)] == ["done", "done"]


def test_a_failed_trial_opens_the_circuit_again(fuse: CircuitBreaker, clock: Clock) -> None:
    call(fuse, OSError())
    clock.seconds += 2.0

    assert [call(fuse, OSError()), call(fuse)] == ["failed", "refused"]


def test_trials_become_less_frequent_during_an_outage(fuse: CircuitBreaker, clock: Clock) -> None:
    refused_for = []
    for _ in range(4):
        call(fuse, OSError())
        began = clock.seconds
        while call(fuse, OSError()) == "refused":
            clock.seconds += 0.5
        refused_for.append(clock.seconds - began)

    assert refused_for == [2.0, 4.0, 8.0, 8.0]


def test_simultaneous_failures_count_once(fuse: CircuitBreaker, clock: Clock) -> None:
    with pytest.raises(OSError), fuse, fuse, fuse:  # noqa: PT011 -- the message does not matter
        raise OSError
    clock.seconds += 2.0

    assert call(fuse) == "done"


def test_other_calls_are_refused_during_a_trial(fuse: CircuitBreaker, clock: Clock) -> None:
    call(fuse, OSError())
    clock.seconds += 2.0
    with fuse:
        others = [call(fuse), call(fuse)]

    assert others == ["refused", "refused"]
    assert call(fuse) == "done"


def test_other_errors_do_not_open_the_circuit(fuse: CircuitBreaker) -> None:
    assert [call(fuse, LookupError()), call(fuse)] == ["failed", "done"]
