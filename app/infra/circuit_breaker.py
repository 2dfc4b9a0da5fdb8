"""A fuse: after one failure, do without the thing for a while instead of waiting for it every time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType


class CircuitOpen(Exception):  # noqa: N818 -- it names a state
    """The fuse is out; the thing behind it was not asked."""


class CircuitBreaker:
    """Guard calls: `with fuse: …`. A listed error inside blows it for so many seconds.

    They are twice as many after each trial that fails, too, up to the longest.

    When the time is over, one caller goes through as a trial while the others are still refused; its
    success mends the fuse. No lock is held during the call.
    """

    def __init__(
        self,
        *errors: type[Exception],
        seconds: float = 2.0,
        longest: float = 8.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._errors = errors
        self._first = seconds
        self._longest = longest
        self._seconds = seconds
        self._clock = clock
        self._closed_until: float | None = None
        self._blown_at: float | None = None
        self._deciding = threading.Lock()

    def __enter__(self) -> None:
        """Let the call through.

        Raises:
            Blown: the last call failed just now.

        """
        with self._deciding:
            if self._closed_until is None:
                return
            now = self._clock()
            if now < self._closed_until:
                raise CircuitOpen
            self._closed_until = now + self._seconds

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Blow on a listed error, mend on success."""
        if kind is None:
            self._closed_until, self._blown_at, self._seconds = None, None, self._first
        elif issubclass(kind, self._errors):
            now = self._clock()
            if (
                self._blown_at is not None and now - self._blown_at >= self._first
            ):  # not those who fail together
                self._seconds = min(2 * self._seconds, self._longest)
            self._closed_until, self._blown_at = now + self._seconds, now
