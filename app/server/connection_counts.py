"""How many connections each web process has, so that a process can leave new ones to those with fewer.

The processes share a listening socket, and the first to wake up takes a connection. Connections stay open, so
most of them could end in one process while the others, and their processors, do nothing.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Final

NO_PROCESS: Final = -1
_FORMAT: Final = "i"
_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class ConnectionCount:
    """The count of one process."""

    counts: ConnectionCounts
    place: int

    def set(self, connections: int) -> None:
        """Store how many connections the process has."""
        self.counts.values[self.place] = connections

    @property
    def is_high(self) -> bool:
        """Return whether it exceeds the count of another process by two, and by more than a quarter of it."""
        own = self.counts.values[self.place]
        return any(0 <= other < own - 1 - other // 4 for other in self.counts.values)

    def remove(self) -> None:
        """Free the place, once the process has exited."""
        self.set(NO_PROCESS)


class ConnectionCounts:
    """The counts of all processes, in memory that they share because it is created before they are forked."""

    def __init__(self, places: int) -> None:
        self.values = memoryview(mmap.mmap(-1, places * _BYTES)).cast(_FORMAT)
        for place in range(places):
            self.values[place] = NO_PROCESS

    def add(self) -> ConnectionCount | None:
        """Return the count of a new process, 0; None if there are more processes than places."""
        for place, count in enumerate(self.values):
            if count == NO_PROCESS:
                self.values[place] = 0
                return ConnectionCount(self, place)
        return None
