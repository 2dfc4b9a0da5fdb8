"""Groups: calls that are made at the same time run together, in one transaction or one round trip.

While one group runs, the next calls gather; when it ends, the first of them runs them all. A lone call runs
at once, in the thread of its caller, and no call waits for others to come.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, Generic, TypeAlias, TypeVar

from app.domain.errors import Unavailable
from app.infra.telemetry import metrics

Item = TypeVar("Item")
Result = TypeVar("Result")
PATIENCE_SECONDS = 0.1
"""How long calls gather behind a group that does not end, for example at a lock; then they run beside it."""
MAX_SECONDS = 30.0
"""The longest time that a call waits for its group; the deadline of its transaction is shorter."""


class Alone(Enum):
    """Stands for the result of a call that its group left out."""

    ALONE = "alone"


ALONE: Final = Alone.ALONE
Results: TypeAlias = Sequence[Result | Alone]


class Grouped(Generic[Item, Result]):
    """A function of many items, to be called with one: the calls of several threads share an execution.

    `run` takes the items of at most `size` calls and returns their results in the same order. A call with the
    result `ALONE` runs `run` with its own item alone. If `run` raises `Unavailable`, so does each of the
    calls: what they need is away, so nothing is tried again. After any other error, each call runs alone, and
    raises its own error. So `run` must leave nothing behind if it raises. The end of the thread that runs a
    group is `Unavailable` for the others.

    A lone item is always run in the thread of its call.

    `name` is the group's label in the metric of group sizes.
    """

    def __init__(self, run: Callable[[Sequence[Item]], Results[Result]], *, name: str, size: int) -> None:
        self._run, self._size = run, size
        self._sizes = metrics.GROUP_SIZES.labels(group=name)
        self._gathered: list[_Call[Item, Result]] = []
        self._leader: _Call[Item, Result] | None = None
        """The call that runs a group, or was woken to run the next one; not one that took too long."""
        self._lock = threading.Lock()

    def __call__(self, item: Item) -> Result:
        """Return the result for the item.

        Raises:
            Unavailable: what the group needs is not available, or the group took too long. Whether it ran is
                unknown.

        """
        call: _Call[Item, Result] = _Call(item)
        with self._lock:
            if self._leader is None:
                self._make_leader(call)
            else:
                self._gathered.append(call)
                call.woken = threading.Event()
        if call.woken is not None:
            self._wait(call, call.woken)
        if call.leads:
            self._lead(call)
        return self._alone(call) if call.is_alone else call.result()

    def _wait(self, call: _Call[Item, Result], woken: threading.Event) -> None:
        """Wait until the call has run, or leads; leave the group if its thread is interrupted."""
        try:
            if not woken.wait(PATIENCE_SECONDS) and not self._leads_after_all(call):
                woken.wait(MAX_SECONDS)
        except BaseException:
            self._leave(call)
            raise

    def _leads_after_all(self, call: _Call[Item, Result]) -> bool:
        """Let the call lead instead of the one that takes so long, unless a group has taken it.

        The other one will not let a further call lead: more groups at the same time would be smaller, and
        cost more, just when the machine is slow. Return whether the call leads.
        """
        with self._lock:
            if call in self._gathered:
                self._gathered.remove(call)
                self._make_leader(call)
            return call.leads

    def _leave(self, call: _Call[Item, Result]) -> None:
        with self._lock:
            if call.leads:  # since just now
                self._hand_over(call)
            elif call in self._gathered:
                self._gathered.remove(call)

    def _lead(self, call: _Call[Item, Result]) -> None:
        """Run the call with those that have gathered, then let the next ones be led."""
        if call.woken is not None:
            time.sleep(0)  # threads that can run now, and would call next, run first and are in this group
        with self._lock:
            others = self._size - 1
            group, self._gathered = [call, *self._gathered[:others]], self._gathered[others:]
        try:
            self._execute(group)
        finally:
            with self._lock:
                self._hand_over(call)
            for member in group:
                if member.woken is not None:
                    member.woken.set()

    def _make_leader(self, call: _Call[Item, Result]) -> None:
        """Let a call lead that is not among the gathered ones any more; call it with the lock held."""
        call.leads, self._leader = True, call
        if call.woken is not None:
            call.woken.set()

    def _hand_over(self, call: _Call[Item, Result]) -> None:
        """End the lead of a call, and let the first of the gathered ones lead; call it with the lock held."""
        if self._leader is not call:
            return
        self._leader = None
        if self._gathered:
            self._make_leader(self._gathered.pop(0))

    def _alone(self, call: _Call[Item, Result]) -> Result:
        (result,) = self._run([call.item])
        if result is ALONE:
            raise RuntimeError("A lone call was left out.")
        return result

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
                call.is_alone = result is ALONE
                call.results = () if result is ALONE else (result,)


class _Call(Generic[Item, Result]):
    """A call; `results` has its result once there is one. `woken` is None if it leads from the start."""

    __slots__ = ("error", "is_alone", "item", "leads", "results", "woken")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.leads = self.is_alone = False
        self.woken: threading.Event | None = None
        self.results: tuple[Result] | tuple[()] = ()
        self.error: Unavailable | None = None

    def result(self) -> Result:
        """Return the result.

        Raises:
            Unavailable: there is none.

        """
        if not self.results:
            raise Unavailable from self.error
        return self.results[0]
