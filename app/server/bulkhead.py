"""Bulkhead: limits on active and on waiting requests, and on concurrent database access."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager

from app.domain.errors import Unavailable
from app.server.token_accounts import TokenAccounts

MAX_WAITERS = 4000
MAX_ACTIVE = 16
"""Requests with a token that a process works on at once: enough for groups, whose statements they share."""
MAX_READS = 4
"""Concurrent reads that are not in groups: enough to keep a process busy while one waits for the database."""
MAX_WRITES = 8
"""Concurrent submissions. They may wait for each other's locks, and readers must not wait for them."""
MAX_FILES = 1
"""Complete files that are in memory at once, while they are stored; each takes several times its size."""
MAX_QUEUE_SECONDS = 15.0
MAX_FILE_SECONDS = 30.0
MAX_TURNS = 32
"""Submissions whose jobs are awaited before the next ones of their workspaces."""
MAX_TURN_SECONDS = 5.0
PAUSE_SECONDS = 0.008
"""The pause before a request that waited for its holder's slot, so that others find the processor free."""
RECENT_SECONDS = 60.0
"""For how long a holder that makes no more requests still limits crowds to one slot each."""
CROWD = 8
"""Waiting requests of one holder that make it a crowd: more than the clicks of a few people at once."""
CROWD_SECONDS = 5.0
"""For how long a holder stays a crowd after that many of its requests waited."""


class Bulkhead:
    """The slots of a process for active requests, for waiting ones, and for the database.

    A workspace gets a wait slot while it holds fewer than are free. A workspace that takes all it can get
    therefore holds half of them, and others still find free slots.
    """

    def __init__(self, max_waiters: int = MAX_WAITERS) -> None:
        self.max_waiters = max_waiters
        self._waiting = 0
        self._by_workspace: Counter[str] = Counter()
        self._crowds = crowds = Crowds()
        self.active = FairSlots(MAX_ACTIVE, crowds)
        self._turns = FairSlots(MAX_TURNS, crowds)
        self._reads = FairSlots(MAX_READS, crowds)
        self._writes = FairSlots(MAX_WRITES, crowds)
        self._files = FairSlots(MAX_FILES, crowds)
        self.accounts = TokenAccounts()

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
    def turn(self, workspace_id: str, holder: str | None = None) -> Iterator[None]:
        """Hold a turn of the workspace during the block, so that its jobs do not crowd out other workspaces'.

        If none comes in time, the block begins without one, because slow jobs must not prevent submissions.
        The holder of an active slot is a crowd if its workspace is one, and the other way round.
        """
        if holder is not None:
            self._crowds.join(workspace_id, holder)
        granted = self._turns.acquire(workspace_id, MAX_TURN_SECONDS)
        try:
            yield
        finally:
            if granted:
                self._turns.release(workspace_id)

    @contextmanager
    def db_slot(self, holder: str, *, to_write: bool = False) -> Iterator[None]:
        """Hold a database slot during the block, so that many requests that wake at once do not crowd it.

        `holder` is the workspace or, before the token is authenticated, the holder of the active slot.

        Raises:
            Unavailable: no slot became free in time.

        """
        with _slot(self._writes if to_write else self._reads, holder, MAX_QUEUE_SECONDS):
            yield

    @contextmanager
    def file_slot(self, workspace_id: str) -> Iterator[None]:
        """Hold a slot during the block, in which a file of the workspace is in memory."""
        with _slot(self._files, workspace_id, MAX_FILE_SECONDS):
            yield


class Crowds:
    """The holders of which many requests waited at once a short time ago."""

    def __init__(self) -> None:
        self._crowded_at: dict[str, float] = {}
        """In seconds of the monotonic clock, by holder."""

    def note(self, holder: str, waiting: int) -> None:
        """Note the number of requests of the holder that wait for the same slots."""
        if waiting >= CROWD:
            self._forget_former()
            self._crowded_at[holder] = time.monotonic()

    def join(self, one: str, other: str) -> None:
        """Make both holders crowds if one of them is."""
        if one in self or other in self:
            self._crowded_at[one] = self._crowded_at[other] = max(
                self._crowded_at.get(holder, 0.0) for holder in (one, other)
            )

    def __contains__(self, holder: str) -> bool:
        crowded_at = self._crowded_at.get(holder)
        if crowded_at is None:
            return False
        if crowded_at > time.monotonic() - CROWD_SECONDS:
            return True
        self._crowded_at.pop(holder, None)  # another thread may have removed it
        return False

    def _forget_former(self) -> None:
        """Remove the holders that are no longer crowds; most of them do not come back."""
        since = time.monotonic() - CROWD_SECONDS
        for holder, crowded_at in list(self._crowded_at.items()):
            if crowded_at <= since:
                self._crowded_at.pop(holder, None)  # likewise


class FairSlots:
    """Slots for which holders queue separately, so that one with many requests does not delay the others.

    A holder may have half of the slots, so that a new holder finds a free one. A crowd has one slot while
    there are holders that are no crowds: a process uses one processor, so more slots would delay the others
    without raising the rate of the crowd. A request of a crowd that waited for that one slot begins after a
    pause. Of the holders that wait, the one with the fewest slots is next; if several have as few, they take
    turns.
    """

    def __init__(self, count: int, crowds: Crowds | None = None) -> None:
        self._count = self._free = count
        self._crowds = crowds or Crowds()
        self._held: Counter[str] = Counter()
        self._queues: dict[str, deque[threading.Event]] = {}
        """The requests that wait, by holder; the holder that was served last is at the end."""
        self._last_seen: dict[str, float] = {}
        """When the last two holders that were no crowds came, in seconds of the monotonic clock; in order."""
        self._lock = threading.Lock()

    def acquire(self, holder: str, seconds: float, *, first: bool = False) -> bool:
        """Take a slot for the holder, with `first` before its other requests; return False if too late."""
        with self._lock:
            self._note(holder)
            if holder not in self._queues and self._may_take(holder):
                self._take(holder)
                return True
            is_beside_own = holder in self._queues or self._held[holder] > 0
            granted = threading.Event()
            queue = self._queues.setdefault(holder, deque())
            if first:
                queue.appendleft(granted)
            else:
                queue.append(granted)
            self._crowds.note(holder, len(queue))
        if granted.wait(seconds):
            if is_beside_own and not first and self._is_limited(holder):
                time.sleep(PAUSE_SECONDS)
            return True
        with self._lock:
            if granted.is_set():  # just now
                return True
            self._queues[holder].remove(granted)
            if not self._queues[holder]:
                del self._queues[holder]
            return False

    def release(self, holder: str) -> None:
        """Return a slot of the holder, and give the free slots to those that may have them."""
        with self._lock:
            self._free += 1
            self._held[holder] -= 1
            if not self._held[holder]:
                del self._held[holder]
            while self._queues:
                following = min(self._queues, key=self._held.__getitem__)
                if not self._may_take(following):
                    return
                self._take(following)
                waiting = self._queues.pop(following)
                waiting.popleft().set()
                if waiting:
                    self._queues[following] = waiting  # at the end

    def _may_take(self, holder: str) -> bool:
        limit = 1 if self._is_limited(holder) else max(1, self._count // 2)
        return self._free > 0 and self._held[holder] < limit

    def _is_limited(self, holder: str) -> bool:
        return holder in self._crowds and self._has_others(holder)

    def _has_others(self, holder: str) -> bool:
        since = time.monotonic() - RECENT_SECONDS
        return any(
            seen > since and other not in self._crowds
            for other, seen in self._last_seen.items()
            if other != holder
        )

    def _note(self, holder: str) -> None:
        if holder in self._crowds:
            return
        self._last_seen.pop(holder, None)
        self._last_seen[holder] = time.monotonic()
        if len(self._last_seen) > 2:  # noqa: PLR2004 -- one of two is another holder than any given one
            del self._last_seen[next(iter(self._last_seen))]

    def _take(self, holder: str) -> None:
        self._free -= 1
        self._held[holder] += 1


@contextmanager
def _slot(slots: FairSlots, holder: str, seconds: float) -> Iterator[None]:
    if not slots.acquire(holder, seconds):
        raise Unavailable
    try:
        yield
    finally:
        slots.release(holder)
