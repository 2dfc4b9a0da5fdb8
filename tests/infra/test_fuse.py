from __future__ import annotations

import pytest

from app.infra.fuse import Blown, Fuse


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def fuse(clock: Clock) -> Fuse:
    return Fuse(OSError, seconds=2.0, clock=clock)


def fail(fuse: Fuse) -> None:
    with pytest.raises(OSError, match="away"), fuse:
        raise OSError("away")


def refused(fuse: Fuse) -> bool:
    try:
        with fuse:
            return False
    except Blown:
        return True


def test_calls_go_through_as_long_as_they_succeed(fuse: Fuse) -> None:
    assert [refused(fuse) for _ in range(3)] == [False] * 3


def test_after_a_failure_calls_are_refused_at_once(fuse: Fuse, clock: Clock) -> None:
    fail(fuse)

    clock.now += 1.9

    assert refused(fuse)


def test_when_the_time_is_over_a_success_mends_it(fuse: Fuse, clock: Clock) -> None:
    fail(fuse)
    clock.now += 2.0

    first = refused(fuse)

    assert not first
    assert not refused(fuse)


def test_when_the_time_is_over_a_failure_blows_it_again(fuse: Fuse, clock: Clock) -> None:
    fail(fuse)
    clock.now += 2.0

    fail(fuse)

    assert refused(fuse)


def test_while_one_caller_tries_the_others_are_refused(fuse: Fuse, clock: Clock) -> None:
    fail(fuse)
    clock.now += 2.0

    with fuse:
        others = [refused(fuse) for _ in range(3)]

    assert others == [True] * 3


def test_a_trial_that_hangs_does_not_keep_it_out_for_ever(fuse: Fuse, clock: Clock) -> None:
    fail(fuse)
    clock.now += 2.0

    with fuse:
        clock.now += 2.0
        another = refused(fuse)

    assert not another


def test_errors_of_another_kind_do_not_blow_it(fuse: Fuse) -> None:
    with pytest.raises(KeyError), fuse:
        raise KeyError

    assert not refused(fuse)
