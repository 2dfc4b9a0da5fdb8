"""Probes: check a part of the service within a time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from app.infra.telemetry.log import log

T = TypeVar("T")


class ProbeTimeout(Exception):  # noqa: N818 -- it names what happened
    """The part did not answer in time."""


class Unreachable(Exception):  # noqa: N818 -- it names a state
    """The part cannot be reached or used."""


class Probe(Generic[T]):
    """Runs a check in a thread, so that the caller waits no longer than `seconds`.

    Only one check runs at a time, so that a hanging part does not accumulate threads. Callers that arrive
    meanwhile share its result.
    """

    def __init__(self, check: Callable[[], T], *, seconds: float) -> None:
        self._check = check
        self._seconds = seconds
        self._lock = threading.Lock()
        self._run: _ProbeRun[T] | None = None

    def __call__(self) -> T:
        """Return the result of the check.

        Raises:
            ProbeTimeout: the part did not answer in time.
            Unreachable: the part cannot be reached or used.

        """
        with self._lock:
            if self._run is None or self._run.done.is_set():
                self._run = _ProbeRun(self._check)
                threading.Thread(target=self._run.run, name="probe", daemon=True).start()
            run = self._run
        if not run.done.wait(self._seconds):
            raise ProbeTimeout
        if run.error is not None:
            raise Unreachable from run.error
        return run.result[0]


class _ProbeRun(Generic[T]):
    def __init__(self, check: Callable[[], T]) -> None:
        self._check = check
        self.done = threading.Event()
        self.result: list[T] = []
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.result.append(self._check())
        except Exception as error:  # noqa: BLE001 -- whatever it is, the part is of no use now
            log.warning("probe failed", error=type(error).__name__)
            self.error = error
        finally:
            self.done.set()
