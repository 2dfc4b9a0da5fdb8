"""Rate limits of providers, as token buckets that hold in every sliding window.

A bucket of `burst` tokens that is refilled at `(count - burst + 1) / seconds` admits at most `count` calls in
any window of `seconds`: the burst and the tokens refilled during the window. (A bucket refilled at the full
rate admits nearly twice as many in its first window.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from app.domain.errors import InvalidValue

_SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
_RATE = re.compile(r"([1-9][0-9]{0,8})\s*/\s*(second|minute|hour|day)")
_BURST_DIVISOR = 10


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `count` calls in any `seconds`."""

    count: int
    seconds: float

    @property
    def burst(self) -> int:
        """Return the number of calls admitted at once: a tenth of the count, at least one."""
        return max(1, self.count // _BURST_DIVISOR)

    @property
    def refill(self) -> float:
        """Return the number of tokens added per second."""
        return (self.count - self.burst + 1) / self.seconds

    def __str__(self) -> str:
        """Return the text that `parse_rates` reads."""
        unit = next((name for name, length in _SECONDS.items() if length == self.seconds), "second")
        return f"{self.count}/{unit}"


@lru_cache(maxsize=256)
def parse_rates(text: str) -> tuple[Rate, ...]:
    """Parse a text such as `15/second;500/minute`; an empty text means no limit.

    Raises:
        InvalidValue: the text has another format.

    """
    parts = [part.strip() for part in re.split(r"[;,]", text) if part.strip()]
    found = [_RATE.fullmatch(part) for part in parts]
    if not all(found):
        raise InvalidValue("This is not a rate limit. Use a limit such as 15/second or 15/second;500/minute.")
    return tuple(Rate(int(match[1]), _SECONDS[match[2]]) for match in found if match)
