"""The process's own clock; for what another process compares there is `app.infra.database_clock`."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return this process's own time; only for what no other process compares."""
    return datetime.now(UTC)


def rfc3339(moment: datetime | None) -> str | None:
    """Write a time as RFC 3339 in UTC with milliseconds and a Z."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
