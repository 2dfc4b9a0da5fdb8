"""The waiting room: how many requests may wait for jobs, and how many are attended to at once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from app.domain.errors import Unavailable

MAX_WAITERS = 4000
MAX_READS = 4
"""Those who look at jobs at once: enough to keep a process busy while one waits for the database."""
MAX_WRITES = 8
"""Those who submit at once: one may wait for another's transaction, and lookers must not wait for them."""
MAX_QUEUE_SECONDS = 15.0


class Bulkhead:
    """Seats for those who wait; whoever finds none gets the answer that there is now.

    A workspace may take a seat as long as it has no more of them than are free. So one that takes all it
    can get has half, and the next ones still find room.
    """

    def __init__(self, seats: int = MAX_WAITERS) -> None:
        self.seats = seats
        self._all = 0
        self._taken: Counter[str] = Counter()
        self._looking = threading.BoundedSemaphore(MAX_READS)
        self._writing = threading.BoundedSemaphore(MAX_WRITES)

    @contextmanager
    def wait_slot(self, workspace_id: str) -> Iterator[bool]:
        """Give a seat until the block ends, or say that there is none."""
        if self._taken[workspace_id] >= self.seats - self._all:
            yield False
            return
        self._all += 1
        self._taken[workspace_id] += 1
        try:
            yield True
        finally:
            self._all -= 1
            self._taken[workspace_id] -= 1
            if not self._taken[workspace_id]:
                del self._taken[workspace_id]

    @contextmanager
    def db_slot(self, *, to_write: bool = False) -> Iterator[None]:
        """Stand in line for the database: a thousand whose wait ends at once must not be in everybody's way.

        Raises:
            Unavailable: the line does not move.

        """
        turns = self._writing if to_write else self._looking
        if not turns.acquire(timeout=MAX_QUEUE_SECONDS):
            raise Unavailable
        try:
            yield
        finally:
            turns.release()
