"""Limits the bytes that request bodies take, in memory or on disk, and shares them among their senders."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from app.domain.errors import RateLimited, Unavailable

RETRY_SECONDS = 5


class ByteShares:
    """The bytes of a process for bodies that are being received.

    A holder may take bytes as long as it then holds no more than are left. A holder that takes all it can get
    therefore holds half of them, and the bodies of others still find room.
    """

    def __init__(self, total: int) -> None:
        self._free = total
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def free(self) -> int:
        """The bytes that no one holds."""
        return self._free

    @contextmanager
    def hold(self, holder: str, count: int) -> Iterator[None]:
        """Hold this many bytes during the block."""
        self.take(holder, count)
        try:
            yield
        finally:
            self.give_back(holder, count)

    def take(self, holder: str, count: int) -> None:
        """Take this many bytes for the holder.

        Raises:
            RateLimited: the holder's other bodies take its share.
            Unavailable: the bodies of others leave too little.

        """
        with self._lock:
            if self._held[holder] + count <= self._free - count:
                self._free -= count
                self._held[holder] += count
                return
            has_own = self._held[holder] > 0
            self._forget(holder)
        if has_own:
            raise RateLimited(
                "Other requests of yours are still being received. Finish them first, or wait.",
                retry_after=RETRY_SECONDS,
            )
        raise Unavailable(
            "The service is receiving as many requests as it can hold. Send this one again later.",
            retry_after=RETRY_SECONDS,
        )

    def give_back(self, holder: str, count: int) -> None:
        """Give back bytes of the holder."""
        with self._lock:
            self._free += count
            self._held[holder] -= count
            self._forget(holder)

    def _forget(self, holder: str) -> None:
        if not self._held[holder]:
            del self._held[holder]
