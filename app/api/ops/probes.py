"""Probes: ask a part of the service how it is, and do without its answer if it gives none in time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from app.infra.log import log

T = TypeVar("T")


class ProbeTimeout(Exception):  # noqa: N818 -- it names what happened
    """The part was asked and did not answer in time."""


class Unreachable(Exception):  # noqa: N818 -- it names a state
    """The part cannot be reached."""


class Probe(Generic[T]):
    """Ask in a thread, so that whoever wants to know never waits longer than `seconds`.

    While one question is without an answer no other is asked: a part that hangs must not be given more to
    hang on, and whoever asks meanwhile shares the answer.
    """

    def __init__(self, ask: Callable[[], T], *, seconds: float) -> None:
        self._ask = ask
        self._seconds = seconds
        self._lock = threading.Lock()
        self._asked: _ProbeRun[T] | None = None

    def __call__(self) -> T:
        """Give the answer.

        Raises:
            ProbeTimeout: there was none in time.
            Unreachable: it cannot be reached, or not be used.

        """
        with self._lock:
            if self._asked is None or self._asked.over.is_set():
                self._asked = _ProbeRun(self._ask)
                threading.Thread(target=self._asked.run, name="probe", daemon=True).start()
            asked = self._asked
        if not asked.over.wait(self._seconds):
            raise ProbeTimeout
        if asked.error is not None:
            raise Unreachable from asked.error
        return asked.answer[0]


class _ProbeRun(Generic[T]):
    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self.over = threading.Event()
        self.answer: list[T] = []
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.answer.append(self._ask())
        except Exception as error:  # noqa: BLE001 -- whatever it is, the part is of no use now
            log.warning("a part of the service cannot be used", error=type(error).__name__)
            self.error = error
        finally:
            self.over.set()
