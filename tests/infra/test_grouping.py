from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

import gevent
import pytest
from gevent import GreenletExit
from gevent.event import Event
from gevent.lock import BoundedSemaphore
from jobs_support import at_once

from app.domain.errors import Unavailable
from app.infra import grouping
from app.infra.grouping import ALONE, Alone, Grouped


@pytest.fixture(autouse=True)
def patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let calls wait for the groups that a test holds, unless it is about that."""
    if "behind_a_group" not in request.node.name:
        monkeypatch.setattr(grouping, "PATIENCE_SECONDS", 60)


class Doubling:
    """A function for groups that holds each one until it may go on, and records it."""

    def __init__(
        self,
        *,
        fails: Callable[[Sequence[int]], BaseException | None] = lambda _items: None,
        leaves_out: Collection[int] = (),
    ) -> None:
        self.groups: list[list[int]] = []
        self.threads: list[int] = []
        self.begun, self.may_end = threading.Semaphore(0), threading.Semaphore(0)
        self._fails, self._leaves_out = fails, leaves_out

    def __call__(self, items: Sequence[int]) -> list[int | Alone]:
        self.groups.append(list(items))
        self.threads.append(threading.get_ident())
        self.begun.release()
        assert self.may_end.acquire(timeout=10)
        if error := self._fails(items):
            raise error
        if len(items) == 1:
            return [2 * items[0]]
        return [ALONE if item in self._leaves_out else 2 * item for item in items]


class Calls:
    """Calls in threads of their own, begun one after the other."""

    def __init__(self, grouped: Grouped[int, int]) -> None:
        self._grouped = grouped
        self._threads: dict[int, threading.Thread] = {}
        self.outcomes: dict[int, object] = {}

    def begin(self, *items: int) -> None:
        for item in items:
            gathered = len(self._grouped._gathered)  # noqa: SLF001 -- nothing else tells that a call waits
            is_led = self._grouped._leader is not None  # noqa: SLF001 -- likewise
            thread = threading.Thread(target=self._run, args=(item,), daemon=True)
            self._threads[item] = thread
            thread.start()
            deadline = time.monotonic() + 10
            while is_led and len(self._grouped._gathered) == gathered:  # noqa: SLF001 -- likewise
                assert time.monotonic() < deadline
                time.sleep(0.001)

    def end(self, *items: int) -> None:
        """Wait for the calls with these items, by default for all."""
        for item in items or self._threads:
            self._threads[item].join(10)
            assert not self._threads[item].is_alive()

    def _run(self, item: int) -> None:
        try:
            self.outcomes[item] = self._grouped(item)
        except BaseException as error:  # noqa: BLE001 -- the end of a thread is an outcome, too
            self.outcomes[item] = type(error)


def _grouped(run: Any, size: int = 8) -> Grouped[int, int]:
    return Grouped(run, name="test", size=size)


def _run_two_groups(run: Doubling, *, size: int = 8) -> dict[int, object]:
    """Call with 1, and with 2 to 4 while that runs; return the outcomes."""
    calls = Calls(_grouped(run, size))
    calls.begin(1)
    assert run.begun.acquire(timeout=10)
    calls.begin(2, 3, 4)
    run.may_end.release(100)
    calls.end()
    return calls.outcomes


def test_a_lone_call_runs_at_once_in_its_own_thread() -> None:
    run = Doubling()
    run.may_end.release()

    assert _grouped(run)(21) == 42
    assert (run.groups, run.threads) == ([[21]], [threading.get_ident()])


def test_calls_gather_while_a_group_runs_and_then_run_together() -> None:
    run = Doubling()

    outcomes = _run_two_groups(run)

    assert outcomes == {1: 2, 2: 4, 3: 6, 4: 8}
    assert run.groups == [[1], [2, 3, 4]]


def test_a_group_has_at_most_its_size() -> None:
    run = Doubling()

    outcomes = _run_two_groups(run, size=2)

    assert outcomes == {1: 2, 2: 4, 3: 6, 4: 8}
    assert run.groups == [[1], [2, 3], [4]]


def test_what_is_unavailable_is_so_for_each_call_and_not_tried_again() -> None:
    run = Doubling(fails=lambda items: Unavailable() if len(items) > 1 else None)

    outcomes = _run_two_groups(run)

    assert outcomes == {1: 2, 2: Unavailable, 3: Unavailable, 4: Unavailable}
    assert run.groups == [[1], [2, 3, 4]]


def test_after_another_error_each_call_runs_alone_and_has_its_own() -> None:
    run = Doubling(fails=lambda items: ValueError() if 3 in items else None)

    outcomes = _run_two_groups(run)

    assert outcomes == {1: 2, 2: 4, 3: ValueError, 4: 8}
    assert sorted(run.groups) == [[1], [2], [2, 3, 4], [3], [4]]


def test_a_lone_call_raises_its_own_error() -> None:
    run = Doubling(fails=lambda _items: ValueError("mine"))
    run.may_end.release()

    with pytest.raises(ValueError, match="mine"):
        _grouped(run)(1)


def test_the_end_of_the_thread_that_runs_a_group_is_unavailable_for_the_others() -> None:
    run = Doubling(fails=lambda items: SystemExit() if 2 in items else None)
    calls = Calls(_grouped(run))
    calls.begin(1)
    assert run.begun.acquire(timeout=10)
    calls.begin(2, 3)
    run.may_end.release()
    assert run.begun.acquire(timeout=10)
    calls.begin(4)
    run.may_end.release(100)
    calls.end()

    assert calls.outcomes == {1: 2, 2: SystemExit, 3: Unavailable, 4: 8}


def test_calls_do_not_wait_for_long_behind_a_group_that_does_not_end() -> None:
    run = Doubling()
    calls = Calls(grouped := _grouped(run))
    calls.begin(1)
    assert run.begun.acquire(timeout=10)
    calls.begin(2)
    assert run.begun.acquire(timeout=10)  # beside the first
    assert run.groups == [[1], [2]]

    run.may_end.release(100)
    calls.end()
    assert calls.outcomes == {1: 2, 2: 4}
    assert grouped(3) == 6
    assert grouped._leader is None  # noqa: SLF001 -- no call leads for ever


def test_groups_do_not_multiply_behind_a_group_that_ends_late(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, groups = threading.Semaphore(0), list[list[int]]()
    may_end = {item: threading.Event() for item in (1, 2, 3)}

    def run(items: Sequence[int]) -> list[int]:
        groups.append(list(items))
        begun.release()
        assert may_end[items[0]].wait(10)
        return [2 * item for item in items]

    calls = Calls(_grouped(run))
    calls.begin(1)
    assert begun.acquire(timeout=10)
    calls.begin(2)
    assert begun.acquire(timeout=10)  # beside the first
    monkeypatch.setattr(grouping, "PATIENCE_SECONDS", 60)
    calls.begin(3)

    may_end[1].set()
    calls.end(1)
    is_third_beside_the_second = begun.acquire(timeout=0.2)
    may_end[2].set()
    may_end[3].set()
    calls.end()

    assert not is_third_beside_the_second
    assert calls.outcomes == {1: 2, 2: 4, 3: 6}


def test_a_call_whose_group_does_not_end_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = threading.Event()

    class Impatient(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002 -- the event's signature
            assert taken.wait(10)
            return False

    events: Iterator[threading.Event] = iter([threading.Event(), Impatient()])
    fake = SimpleNamespace(Event=events.__next__, Lock=threading.Lock)
    monkeypatch.setattr(grouping, "threading", fake)
    run = Doubling()
    calls = Calls(_grouped(run))
    calls.begin(1)
    assert run.begun.acquire(timeout=10)
    calls.begin(2, 3)
    run.may_end.release()
    assert run.begun.acquire(timeout=10)
    taken.set()
    calls.end(3)
    run.may_end.release(100)
    calls.end()

    assert calls.outcomes == {1: 2, 2: 4, 3: Unavailable}
    assert run.groups == [[1], [2, 3]]


def test_a_call_that_is_left_out_runs_alone() -> None:
    run = Doubling(leaves_out={3})

    outcomes = _run_two_groups(run)

    assert outcomes == {1: 2, 2: 4, 3: 6, 4: 8}
    assert run.groups == [[1], [2, 3, 4], [3]]


def test_a_lone_call_cannot_be_left_out() -> None:
    grouped: Grouped[int, int] = Grouped(lambda _items: [ALONE], name="test", size=8)

    with pytest.raises(RuntimeError, match="left out"):
        grouped(1)


def test_a_function_that_forgets_a_result_fails_alone() -> None:
    grouped: Grouped[int, int] = Grouped(lambda _items: [], name="test", size=8)

    with pytest.raises(ValueError, match="zip"):
        grouped(1)


class Killed(Event):
    """An event whose waiter is killed when it wakes."""

    def wait(self, timeout: float | None = None) -> NoReturn:
        super().wait(timeout)
        raise GreenletExit


@pytest.mark.parametrize("event", [Event, Killed], ids=["waiting", "about to lead"])
def test_a_call_whose_greenlet_is_killed_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, event: type[Event]
) -> None:
    events = iter([event])

    def new_event() -> Event:
        return next(events, Event)()

    monkeypatch.setattr(grouping, "threading", SimpleNamespace(Event=new_event, Lock=BoundedSemaphore))
    begun, may_end = Event(), Event()
    groups: list[list[int]] = []

    def run(items: Sequence[int]) -> list[int]:
        groups.append(list(items))
        begun.set()
        may_end.wait(10)
        return [2 * item for item in items]

    grouped: Grouped[int, int] = Grouped(run, name="test", size=8)
    callers = {item: gevent.spawn(grouped, item) for item in (1, 2, 3)}
    assert begun.wait(10)
    gevent.sleep(0)
    if event is Event:
        callers[2].kill()
    may_end.set()
    gevent.joinall(list(callers.values()), 10)
    last = gevent.spawn(grouped, 4)
    last.join(10)

    assert [callers[item].value for item in (1, 3)] == [2, 6]
    assert last.value == 8
    assert groups == [[1], [3], [4]]


def test_each_of_many_calls_has_its_own_result() -> None:
    sizes: list[int] = []

    def run(items: Sequence[int]) -> list[int]:
        sizes.append(len(items))
        time.sleep(0.0002)
        return [2 * item for item in items]

    grouped: Grouped[int, int] = Grouped(run, name="test", size=4)

    results = at_once(16, lambda caller: [grouped(1000 * caller + number) for number in range(50)])

    assert results == [[2 * (1000 * caller + number) for number in range(50)] for caller in range(16)]
    assert sum(sizes) == 800
    assert max(sizes) <= 4
    assert len(sizes) < 400
