"""Circuit breaker: after a failure, calls are refused for a while instead of waiting each time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType


class CircuitOpen(Exception):  # noqa: N818 -- it names a state
    """The circuit is open; the call was not made."""


class CircuitBreaker:
    """Guards calls: `with breaker: …`. One of `errors` inside opens the circuit for `seconds`.

    After that time one call is let through as a trial, while others are still refused. Its success closes
    the circuit; each failed trial doubles the time, up to `max_seconds`. No lock is held during the call.
    """

    def __init__(
        self,
        *errors: type[Exception],
        seconds: float = 2.0,
        max_seconds: float = 8.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._errors = errors
        self._initial_seconds = seconds
        self._max_seconds = max_seconds
        self._seconds = seconds
        self._clock = clock
        self._open_until: float | None = None
        self._opened_at: float | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        """Allow the call.

        Raises:
            CircuitOpen: a recent call failed.

        """
        with self._lock:
            if self._open_until is None:
                return
            now = self._clock()
            if now < self._open_until:
                raise CircuitOpen
            self._open_until = now + self._seconds  # this call is the trial; meanwhile, others are refused

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Open the circuit on a listed error, close it on success."""
        if kind is None:
            self._open_until, self._opened_at, self._seconds = None, None, self._initial_seconds
        elif issubclass(kind, self._errors):
            now = self._clock()
            if (
                self._opened_at is not None and now - self._opened_at >= self._initial_seconds
            ):  # not for calls that failed at the same time
                self._seconds = min(2 * self._seconds, self._max_seconds)
            self._open_until, self._opened_at = now + self._seconds, now
