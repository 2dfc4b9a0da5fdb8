"""When a schedule is due: every day or every week at an hour, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum

from app.domain.spending import Period

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""The names of the days of the week, by their number."""


class Every(StrEnum):
    """How often a schedule is due."""

    DAY = "day"
    WEEK = "week"


def next_due(hour: int, weekday: int | None, *, after: datetime) -> datetime:
    """Return the next due time after another time; `weekday` is None for every day, and 0 is Monday."""
    due = after.astimezone(UTC).replace(hour=hour, minute=0, second=0, microsecond=0)
    if due <= after:
        due += timedelta(days=1)
    return due if weekday is None else due + timedelta(days=(weekday - due.weekday()) % 7)


def month_of(at: datetime) -> tuple[datetime, datetime]:
    """Return the start and the end of the calendar month (UTC) in which the budget counts at this time."""
    return Period.MONTH.bounds(at)


def next_month(hour: int, weekday: int | None, *, at: datetime) -> datetime:
    """Return the first due time of the next month."""
    _start, end = month_of(at)
    return next_due(hour, weekday, after=end - timedelta(microseconds=1))
