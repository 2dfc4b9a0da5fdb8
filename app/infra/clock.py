"""The time now, in one place: that of the database's server, so that all machines agree on it.

Leases and deadlines are written by one process and judged by another; a machine whose clock is wrong would
otherwise take away the jobs of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

TOLERANCE = timedelta(seconds=0.25)
"""What may lie between two clocks without being put right: answers take time, too."""


@dataclass(slots=True)
class Correction:
    """What has to be added to this machine's clock."""

    by: timedelta = timedelta(0)


correction = Correction()


def now() -> datetime:
    """Give the time now, aware, in UTC; edges ask, rules are told."""
    return datetime.now(UTC) + correction.by


def follow(moment: datetime) -> None:
    """Go by another clock, which says that it is this moment."""
    off = moment - datetime.now(UTC)
    if abs(off - correction.by) > TOLERANCE:
        correction.by = off


def rfc3339(moment: datetime | None) -> str | None:
    """Write a time as RFC 3339 in UTC with milliseconds and a Z."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
