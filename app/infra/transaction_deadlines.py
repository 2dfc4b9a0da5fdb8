"""Time limits: a transaction that lasts too long is hung up on, also when the server gives no answer at all.

A driver waits for an answer as long as the connection stands, and behind a network that swallows packets, or
a server that is stopped, it stands for hours. Hanging up from outside makes the wait end with an error.
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
    """Give connections that are taken inside so many seconds; None for as long as it takes."""
    token = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(token)


class TransactionReaper:
    """The connections of an engine that are in use, and until when they may be."""

    def __init__(self, engine: Engine) -> None:
        self._until: dict[int, tuple[float, Any]] = {}
        self._lock = threading.Lock()
        self._looking_in: int | None = None
        event.listen(engine, "checkout", self._begin)
        for ending in ("checkin", "invalidate", "close"):
            event.listen(engine, ending, self._end)

    def _begin(self, connection: Any, *_more: Any) -> None:  # noqa: ANN401 -- a driver's connection
        seconds = _seconds.get()
        if seconds is not None:
            with self._lock:
                self._until[id(connection)] = (time.monotonic() + seconds, connection)
                self._look()

    def _end(self, connection: Any, *_more: Any) -> None:  # noqa: ANN401 -- None if it was closed before
        with self._lock:
            self._until.pop(id(connection), None)

    def _look(self) -> None:
        """Start the thread that looks, once in each process."""
        if self._looking_in != os.getpid():
            self._looking_in = os.getpid()
            threading.Thread(target=self._run, name="time limits", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(CHECK_INTERVAL_SECONDS)
            with self._lock:  # held, so that no connection is closed and its number given to another
                overdue = [
                    (key, connection)
                    for key, (until, connection) in self._until.items()
                    if until <= time.monotonic()
                ]
                for key, connection in overdue:
                    del self._until[key]
                    _hang_up(connection)
            if overdue:
                log.warning("hung up on the database", connections=len(overdue))


def _hang_up(connection: Any) -> None:  # noqa: ANN401 -- psycopg's
    with suppress(OSError, connection.OperationalError):  # it is closed already
        line = socket.socket(fileno=os.dup(connection.fileno()))
        with line:
            line.shutdown(socket.SHUT_RDWR)
