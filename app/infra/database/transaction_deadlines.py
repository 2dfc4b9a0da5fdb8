"""Transaction deadlines: the connection of an overdue transaction is closed, even if the server hangs.

A driver waits for a reply as long as the connection is open. With a network that drops packets or a stopped
server, that takes hours. Shutting down the socket from another thread ends the wait with an error.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import psycopg
from sqlalchemy import Engine, event

from app.infra.telemetry.log import log

CHECK_INTERVAL_SECONDS = 0.5
_seconds: ContextVar[float | None] = ContextVar("seconds", default=None)


@contextmanager
def limited_to(seconds: float | None) -> Iterator[None]:
    """Limit connections checked out in this block to `seconds`; None means no limit."""
    token = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(token)


class TransactionReaper:
    """Closes the connections of an engine that are in use beyond their deadline."""

    def __init__(self, engine: Engine) -> None:
        self._deadlines: dict[int, tuple[float, Any]] = {}
        self._lock = threading.Lock()
        event.listen(engine, "checkout", self._begin)
        for ending in ("checkin", "invalidate", "close"):
            event.listen(engine, ending, self._end)

    def close_overdue(self) -> None:
        """Close the connections whose deadline has passed."""
        with self._lock:  # held, so that no file descriptor is closed and reused meanwhile
            overdue = [
                (key, connection)
                for key, (deadline, connection) in self._deadlines.items()
                if deadline <= time.monotonic()
            ]
            for key, connection in overdue:
                del self._deadlines[key]
                _shut_down(connection)
        if overdue:
            log.warning("overdue database connections closed", connections=len(overdue))

    def _begin(self, connection: psycopg.Connection[Any], *_more: object) -> None:
        seconds = _seconds.get()
        if seconds is not None:
            with self._lock:
                self._deadlines[id(connection)] = (time.monotonic() + seconds, connection)
            _checks.include(self)

    def _end(self, connection: object, *_more: object) -> None:
        with self._lock:
            self._deadlines.pop(id(connection), None)


class _Checks:
    """The thread of this process that checks the connections of all its engines."""

    def __init__(self) -> None:
        self._reapers: weakref.WeakSet[TransactionReaper] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._thread_pid: int | None = None

    def include(self, reaper: TransactionReaper) -> None:
        """Check the reaper's connections, too; start the thread, once per process."""
        if reaper in self._reapers and self._thread_pid == os.getpid():
            return
        with self._lock:
            self._reapers.add(reaper)
            if self._thread_pid != os.getpid():
                self._thread_pid = os.getpid()
                threading.Thread(target=self._run, name="transaction-reaper", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(CHECK_INTERVAL_SECONDS)
            self._check()

    def _check(self) -> None:
        with self._lock:
            reapers = list(self._reapers)
        for reaper in reapers:
            reaper.close_overdue()


_checks = _Checks()


def _shut_down(connection: psycopg.Connection[Any]) -> None:
    with suppress(OSError, connection.OperationalError):  # already closed
        # A duplicate, because a Python socket closes its descriptor, and this one is the driver's.
        duplicate = socket.socket(fileno=os.dup(connection.fileno()))
        with duplicate:
            duplicate.shutdown(socket.SHUT_RDWR)
