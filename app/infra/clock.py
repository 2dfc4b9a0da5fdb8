"""The time now, in one place."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Give the time now, aware, in UTC; edges ask, rules are told."""
    return datetime.now(UTC)


def rfc3339(moment: datetime | None) -> str | None:
    """Write a time as RFC 3339 in UTC with milliseconds and a Z."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
