"""Bulkhead: limits on waiting requests and on concurrent database access."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from app.domain.errors import Unavailable

MAX_WAITERS = 4000
MAX_READS = 4
"""Concurrent reads of jobs: enough to keep a process busy while one waits for the database."""
MAX_WRITES = 8
"""Concurrent submissions. They may wait for each other's locks, and readers must not wait for them."""
MAX_QUEUE_SECONDS = 15.0


class Bulkhead:
    """Wait slots and database slots of a process.

    A workspace gets a wait slot while it holds fewer than are free. A workspace that takes all it can get
    therefore holds half of them, and others still find free slots.
    """

    def __init__(self, max_waiters: int = MAX_WAITERS) -> None:
        self.max_waiters = max_waiters
        self._waiting = 0
        self._by_workspace: Counter[str] = Counter()
        self._reads = threading.BoundedSemaphore(MAX_READS)
        self._writes = threading.BoundedSemaphore(MAX_WRITES)

    @contextmanager
    def wait_slot(self, workspace_id: str) -> Iterator[bool]:
        """Hold a wait slot during the block; yield whether there was a free one."""
        if self._by_workspace[workspace_id] >= self.max_waiters - self._waiting:
            yield False
            return
        self._waiting += 1
        self._by_workspace[workspace_id] += 1
        try:
            yield True
        finally:
            self._waiting -= 1
            self._by_workspace[workspace_id] -= 1
            if not self._by_workspace[workspace_id]:
                del self._by_workspace[workspace_id]

    @contextmanager
    def db_slot(self, *, to_write: bool = False) -> Iterator[None]:
        """Hold a database slot during the block, so that many requests that wake at once do not crowd it.

        Raises:
            Unavailable: no slot became free in time.

        """
        slots = self._writes if to_write else self._reads
        if not slots.acquire(timeout=MAX_QUEUE_SECONDS):
            raise Unavailable
        try:
            yield
        finally:
            slots.release()
