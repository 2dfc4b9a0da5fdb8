"""Turns: one conversation at a time with each mail host, and a pause before the next."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MIN_LOCK_SECONDS = 2.0
"""What a conversation needs; whoever would have less left after waiting need not wait."""
MAX_IDLE_HOSTS = 1024


class HostBusy(Exception):  # noqa: N818 -- it names what happened
    """The host is not to be had in time; it may be worth asking again in `after` seconds."""

    def __init__(self, after: float) -> None:
        self.after = after
        super().__init__()


@dataclass(slots=True)
class _Host:
    lock: threading.Lock = field(default_factory=threading.Lock)
    free_at: float = 0.0
    guests: int = 0


class HostLocks:
    """Who may talk to which host, within this process."""

    def __init__(self, pause_seconds: float) -> None:
        self._pause = pause_seconds
        self._hosts: dict[str, _Host] = {}
        self._guard = threading.Lock()

    @contextmanager
    def turn(self, name: str, *, until: float) -> Iterator[None]:
        """Have the host for oneself; waits until the monotonic clock says so at most.

        Raises:
            Busy: it would take longer.

        """
        host = self._come(name)
        try:
            latest = until - MIN_LOCK_SECONDS
            if not host.lock.acquire(timeout=max(0.0, latest - time.monotonic())):
                raise HostBusy(self._pause)
            try:
                _pause(host.free_at, latest)
                yield
                host.free_at = time.monotonic() + self._pause
            finally:
                host.lock.release()
        finally:
            with self._guard:
                host.guests -= 1

    def _come(self, name: str) -> _Host:
        with self._guard:
            if len(self._hosts) >= MAX_IDLE_HOSTS:
                now = time.monotonic()
                self._hosts = {
                    name: host for name, host in self._hosts.items() if host.guests or host.free_at > now
                }
            host = self._hosts.setdefault(name, _Host())
            host.guests += 1
            return host


def _pause(free_at: float, latest: float) -> None:
    seconds = free_at - time.monotonic()
    if seconds <= 0:
        return
    if time.monotonic() + seconds > latest:
        raise HostBusy(seconds)
    time.sleep(seconds)
