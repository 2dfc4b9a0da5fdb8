"""Monthly grants of credits: when they are due, what expires, and until when credits last."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

DECEMBER = 12
FORECAST_PERIODS = 24
"""The grants that a forecast looks ahead: credits that last longer count as lasting."""
MIN_DAYS = 7
"""The fewest days of use from which a rate is computed."""
RATE_DAYS = 28
"""The days of use from which a rate is computed, at most: whole weeks, since nobody works on Sundays."""


def first_due(after: datetime, day: int) -> datetime:
    """Return the first midnight (UTC) of this day of a month at or after a time.

    In a month without the day, it is the last day: the 31st is 28 February in most years.
    """
    at = after.astimezone(UTC)
    due = _in_month(at.year, at.month, day)
    return due if due >= at else next_due(due, day)


def next_due(due: datetime, day: int) -> datetime:
    """Return the due time in the month after that of another one."""
    if due.month == DECEMBER:
        return _in_month(due.year + 1, 1, day)
    return _in_month(due.year, due.month + 1, day)


def _in_month(year: int, month: int, day: int) -> datetime:
    _weekday, days = monthrange(year, month)
    return datetime(year, month, min(day, days), tzinfo=UTC)


class NextGrant(NamedTuple):
    """What a workspace is granted next."""

    at: datetime
    credits: int

    def to_public(self) -> dict[str, Any]:
        """Return the representation of the API."""
        return {"at": f"{self.at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.000Z}", "credits": self.credits}


@dataclass(frozen=True, slots=True)
class Turn:
    """What happens when a grant is due: credits that expire, and those of schedules that are left then.

    `left` may expire at the next turn: what was granted and carried over and is not spent, and what could not
    expire now because open jobs hold it.
    """

    expired: int
    granted: int
    left: int


def turn(*, left: int, spent: int, available: int, granted: int, carried: int | None) -> Turn:
    """Return the turn of a period.

    `left` were the granted credits after the last turn, `spent` what was spent since, granted credits first,
    and `available` what is not held. At most `carried` unspent ones are kept; None keeps all.
    """
    unspent = min(max(0, left - spent), left)
    surplus = 0 if carried is None else max(0, unspent - carried)
    expired = min(surplus, available)
    return Turn(expired, granted, unspent - expired + granted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A monthly grant as a forecast needs it; `left` may expire."""

    credits: int
    day: int
    carried: int | None
    left: int
    next_at: datetime


def lasts_until(now: datetime, available: int, per_day: float, schedule: Schedule | None) -> datetime | None:
    """Return when the credits end at this rate, with the grants until then; None if they last."""
    if per_day <= 0:
        return None
    if schedule is None:
        return now + _days(available / per_day)
    left, at, due = min(schedule.left, available), now, schedule.next_at
    credits_: float = available
    for _period in range(FORECAST_PERIODS):
        needed = per_day * max(0.0, (due - at) / timedelta(days=1))
        if needed > credits_:
            return at + _days(credits_ / per_day)
        credits_ -= needed
        unspent = max(0.0, left - needed)
        kept = unspent if schedule.carried is None else min(unspent, schedule.carried)
        credits_ += schedule.credits - (unspent - kept)
        left, at, due = int(kept) + schedule.credits, due, next_due(due, schedule.day)
    return None


def _days(number: float) -> timedelta:
    return timedelta(days=min(number, 36_500))


def rate(spent: int, days: float) -> float | None:
    """Return the credits per day, None if there are too few days."""
    return max(spent, 0) / days if days >= MIN_DAYS else None
