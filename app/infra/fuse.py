"""A fuse: after one failure, do without the thing for a while instead of waiting for it every time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType


class Blown(Exception):  # noqa: N818 -- it names a state
    """The fuse is out; the thing behind it was not asked."""


class Fuse:
    """Guard calls: `with fuse: …`. A listed error inside blows it for so many seconds.

    When the time is over, one caller goes through as a trial while the others are still refused; its
    success mends the fuse. No lock is held during the call.
    """

    def __init__(
        self,
        *errors: type[Exception],
        seconds: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._errors = errors
        self._seconds = seconds
        self._clock = clock
        self._closed_until: float | None = None
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
                raise Blown
            self._closed_until = now + self._seconds

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Blow on a listed error, mend on success."""
        if kind is None:
            self._closed_until = None
        elif issubclass(kind, self._errors):
            self._closed_until = self._clock() + self._seconds
