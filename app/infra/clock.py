"""The clock of the process; times that several processes compare are of the database's clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now() -> datetime:
    """Return the time of this process, for values that no other process compares."""
    return datetime.now(UTC)


def milliseconds_since(started: float) -> int:
    """Return the time since `started`, a time of the monotonic clock, in whole milliseconds."""
    return round((time.monotonic() - started) * 1000)


def rfc3339(moment: datetime | None) -> str | None:
    """Return a time as RFC 3339 text in UTC with milliseconds and a Z."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
