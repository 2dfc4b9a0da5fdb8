"""The pace of reading a CRM: its requests come evenly, in short turns one after the other.

The sweeper gives a reading that is due its next turn, about once a second. A turn sends the requests that the
rate allows since it was due, so that a late sweep does not make the reading slower, and no thread sleeps.
"""

from __future__ import annotations

import time
from datetime import timedelta

from app.features.crm.turn.turn import TURN_SECONDS

MAX_LATE = timedelta(seconds=2)
"""How late a turn may be without making the reading slower; more would be a burst of requests."""


class Pace:
    """The pace of a turn that is `late`; the rate is in requests per minute."""

    def __init__(self, rate: float, late: timedelta) -> None:
        self._rate = rate
        self._began = time.monotonic()
        self._late = min(late, MAX_LATE).total_seconds()

    @property
    def has_time(self) -> bool:
        """Whether the turn has time for more."""
        return time.monotonic() - self._began < TURN_SECONDS

    def may_go_on(self, calls: int) -> bool:
        """Return whether the rate allows the next page, and the turn has time for it."""
        return self.has_time and self._ahead(calls) <= 0

    def pause(self, calls: int) -> timedelta:
        """Return the time until the rate allows the next page."""
        return timedelta(seconds=max(0.0, self._ahead(calls)))

    def _ahead(self, calls: int) -> float:
        """Return the seconds that the requests of the turn are ahead of the rate."""
        return calls * 60 / self._rate - self._late - (time.monotonic() - self._began)
