from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.domain import credit_schedules
from app.domain.credit_schedules import Schedule, Turn

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def at(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


@pytest.mark.parametrize(
    ("after", "day", "due"),
    [
        (NOW, 1, at(2026, 12, 1)),
        (NOW, 30, at(2026, 11, 30)),
        (NOW, 29, at(2026, 12, 29)),
        (at(2026, 11, 29), 29, at(2026, 11, 29)),
        (at(2027, 2, 1), 31, at(2027, 2, 28)),
        (at(2028, 2, 29), 31, at(2028, 2, 29)),
        (at(2026, 12, 15), 1, at(2027, 1, 1)),
        (datetime.fromisoformat("2026-12-01T00:30:00+01:00"), 1, at(2026, 12, 1)),
    ],
)
def test_the_first_grant_is_on_the_day_or_on_the_last_of_a_short_month(
    after: datetime, day: int, due: datetime
) -> None:
    assert credit_schedules.first_due(after, day) == due


def test_a_grant_on_the_31st_returns_to_it_after_a_short_month() -> None:
    days = [at(2027, 1, 31)]
    for _month in range(3):
        days.append(credit_schedules.next_due(days[-1], 31))

    assert [(day.month, day.day) for day in days] == [(1, 31), (2, 28), (3, 31), (4, 30)]


@pytest.mark.parametrize(
    ("left", "spent", "available", "carried", "expected"),
    [
        (0, 0, 50, 0, Turn(0, 100, 100)),  # the first turn; what was bought does not expire
        (100, 30, 70, 0, Turn(70, 100, 100)),
        (100, 30, 570, 0, Turn(70, 100, 100)),  # 500 were bought
        (100, 130, 20, 0, Turn(0, 100, 100)),  # more was spent than was granted
        (100, 30, 70, None, Turn(0, 100, 170)),
        (100, 30, 70, 50, Turn(20, 100, 150)),
        (100, 30, 10, 0, Turn(10, 100, 160)),  # open jobs hold 60 of the 70
        (100, -20, 120, 0, Turn(100, 100, 100)),  # a refund of an earlier month
    ],
)
def test_what_expires_is_unspent_granted_and_not_held(
    left: int, spent: int, available: int, carried: int | None, expected: Turn
) -> None:
    turn = credit_schedules.turn(left=left, spent=spent, available=available, granted=100, carried=carried)

    assert turn == expected


def schedule(credits_: int, *, carried: int | None = None, left: int = 0) -> Schedule:
    return Schedule(credits=credits_, day=1, carried=carried, left=left, next_at=at(2026, 12, 1))


@pytest.mark.parametrize(
    ("available", "per_day", "of", "ends"),
    [
        (100, 10.0, None, NOW + timedelta(days=10)),
        (100, 0.0, None, None),
        (10, 10.0, schedule(1000), NOW + timedelta(days=1)),
        (15, 10.0, schedule(300), at(2026, 12, 31)),
        (20, 10.0, schedule(400), None),
        (3_000, 10.0, schedule(100), at(2028, 2, 22)),
        (50_000, 10.0, schedule(100), None),
        (1_000, 10.0, schedule(311, carried=0, left=1_000), None),
        (1_000, 10.0, schedule(200, carried=50, left=1_000), at(2026, 12, 26)),
        (10, 1e-9, None, NOW + timedelta(days=36_500)),
    ],
)
def test_credits_last_until_a_grant_comes_too_late(
    available: int, per_day: float, of: Schedule | None, ends: datetime | None
) -> None:
    lasting = credit_schedules.lasts_until(NOW, available, per_day, of)

    assert (lasting and lasting.date()) == (ends and ends.date())


def test_a_rate_needs_a_week() -> None:
    rates = [credit_schedules.rate(*data) for data in ((70, 6.9), (70, 7), (0, 28), (-5, 28))]

    assert rates == [None, 10, 0, 0]
