"""Groups: calls that are made at the same time run together, in one transaction or one round trip.

While one group runs, the next calls gather; when it ends, the first of them runs them all. There is no timer:
a lone call runs at once, in the thread of its caller.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from app.domain.errors import Unavailable
from app.infra.telemetry import metrics

Item = TypeVar("Item")
Result = TypeVar("Result")
MAX_SECONDS = 30.0
"""The longest time that a call waits for other callers; the deadlines of their transactions are shorter."""


class Grouped(Generic[Item, Result]):
    """A function of many items, to be called with one: the calls of several threads share an execution.

    `run` takes the items of at most `size` calls and returns their results in the same order. If it raises
    `Unavailable`, so does each of the calls: what they need is away, so nothing is tried again. After any
    other error, each call runs `run` with its own item alone, and raises its own error. So `run` must leave
    nothing behind if it raises. An error of the thread that runs a group, such as its end, is `Unavailable`
    for the others.

    `name` is the group's label in the metric of group sizes.
    """

    def __init__(self, run: Callable[[Sequence[Item]], Sequence[Result]], *, name: str, size: int) -> None:
        self._run, self._size = run, size
        self._sizes = metrics.GROUP_SIZES.labels(group=name)
        self._gathered: list[_Call[Item, Result]] = []
        self._is_led = False
        """Whether a call leads: it runs a group, or was woken to run the next one."""
        self._lock = threading.Lock()

    def __call__(self, item: Item) -> Result:
        """Return the result for the item.

        Raises:
            Unavailable: what the group needs is not available, or the group took too long. Whether it ran is
                unknown.

        """
        call: _Call[Item, Result] = _Call(item)
        with self._lock:
            self._gathered.append(call)
            call.leads, self._is_led = not self._is_led, True
            if not call.leads:
                call.woken = threading.Event()
        if call.woken is not None:
            self._wait(call, call.woken)
        if call.leads:
            self._lead()
        if call.is_alone:
            return self._run([item])[0]
        if not call.results:
            raise Unavailable from call.error
        return call.results[0]

    def _wait(self, call: _Call[Item, Result], woken: threading.Event) -> None:
        """Wait until the call has run, or leads; leave the group if its thread is interrupted."""
        is_woken = False
        try:
            is_woken = woken.wait(MAX_SECONDS)
        finally:
            if not is_woken:
                self._leave(call)

    def _leave(self, call: _Call[Item, Result]) -> None:
        with self._lock:
            if call in self._gathered:
                self._gathered.remove(call)
            if call.leads:  # since just now
                call.leads = False
                self._hand_over()

    def _lead(self) -> None:
        """Run the calls that have gathered, then let the next ones be led."""
        with self._lock:
            group, self._gathered = self._gathered[: self._size], self._gathered[self._size :]
        try:
            self._execute(group)
        finally:
            with self._lock:
                self._hand_over()
            for call in group:
                if call.woken is not None:
                    call.woken.set()

    def _hand_over(self) -> None:
        """Wake the first of the gathered calls to lead the next group; call it with the lock held."""
        self._is_led = bool(self._gathered)
        if self._gathered:
            following = self._gathered[0]
            following.leads = True
            if following.woken is not None:
                following.woken.set()

    def _execute(self, group: Sequence[_Call[Item, Result]]) -> None:
        self._sizes.observe(len(group))
        try:
            results = self._run([call.item for call in group])
        except Unavailable as error:
            for call in group:
                call.error = error
        except Exception:
            if len(group) == 1:
                raise
            for call in group:
                call.is_alone = True
        else:
            for call, result in zip(group, results, strict=True):
                call.results = (result,)


class _Call(Generic[Item, Result]):
    """A call; `results` has its result once there is one. `woken` is None if it leads from the start."""

    __slots__ = ("error", "is_alone", "item", "leads", "results", "woken")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.leads = self.is_alone = False
        self.woken: threading.Event | None = None
        self.results: tuple[Result] | tuple[()] = ()
        self.error: Unavailable | None = None
