"""Transaction deadlines: the connection of an overdue transaction is closed, even if the server hangs.

A driver waits for a reply as long as the connection is open. With a network that drops packets or a stopped
server, that takes hours. Shutting down the socket from another thread ends the wait with an error.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from sqlalchemy import Engine, event

from app.infra.log import log

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
        self._thread_pid: int | None = None
        event.listen(engine, "checkout", self._begin)
        for ending in ("checkin", "invalidate", "close"):
            event.listen(engine, ending, self._end)

    def _begin(self, connection: Any, *_more: Any) -> None:  # noqa: ANN401 -- a driver's connection
        seconds = _seconds.get()
        if seconds is not None:
            with self._lock:
                self._deadlines[id(connection)] = (time.monotonic() + seconds, connection)
                self._start_thread()

    def _end(self, connection: Any, *_more: Any) -> None:  # noqa: ANN401 -- None if it was closed before
        with self._lock:
            self._deadlines.pop(id(connection), None)

    def _start_thread(self) -> None:
        """Start the checking thread, once per process."""
        if self._thread_pid != os.getpid():
            self._thread_pid = os.getpid()
            threading.Thread(target=self._run, name="transaction-reaper", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(CHECK_INTERVAL_SECONDS)
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


def _shut_down(connection: Any) -> None:  # noqa: ANN401 -- psycopg's
    with suppress(OSError, connection.OperationalError):  # already closed
        duplicate = socket.socket(fileno=os.dup(connection.fileno()))
        with duplicate:
            duplicate.shutdown(socket.SHUT_RDWR)
