"""Locks that allow one SMTP session at a time per mail host, with a pause between sessions."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MIN_LOCK_SECONDS = 2.0
"""Time that a session needs; the lock is not awaited beyond the point that leaves less."""
MAX_IDLE_HOSTS = 1024


class HostBusy(Exception):  # noqa: N818 -- it names what happened
    """The host's lock is not available in time; retry after `after` seconds."""

    def __init__(self, after: float) -> None:
        self.after = after
        super().__init__()


@dataclass(slots=True)
class _Host:
    lock: threading.Lock = field(default_factory=threading.Lock)
    free_at: float = 0.0
    users: int = 0


class HostLocks:
    """One lock per mail host, within this process."""

    def __init__(self, pause_seconds: float) -> None:
        self._pause = pause_seconds
        self._hosts: dict[str, _Host] = {}
        self._mutex = threading.Lock()

    @contextmanager
    def lock_host(self, name: str, *, deadline: float) -> Iterator[None]:
        """Hold the host's lock; wait for it until `deadline`, a time of the monotonic clock, at most.

        Raises:
            HostBusy: the lock is not available in time.

        """
        host = self._enter(name)
        try:
            latest_start = deadline - MIN_LOCK_SECONDS
            if not host.lock.acquire(timeout=max(0.0, latest_start - time.monotonic())):
                raise HostBusy(self._pause)
            try:
                _pause(host.free_at, latest_start)
                yield
                host.free_at = time.monotonic() + self._pause
            finally:
                host.lock.release()
        finally:
            with self._mutex:
                host.users -= 1

    def _enter(self, name: str) -> _Host:
        with self._mutex:
            if len(self._hosts) >= MAX_IDLE_HOSTS:
                now = time.monotonic()
                self._hosts = {
                    name: host for name, host in self._hosts.items() if host.users or host.free_at > now
                }
            host = self._hosts.setdefault(name, _Host())
            host.users += 1
            return host


def _pause(free_at: float, latest_start: float) -> None:
    seconds = free_at - time.monotonic()
    if seconds <= 0:
        return
    if time.monotonic() + seconds > latest_start:
        raise HostBusy(seconds)
    time.sleep(seconds)
