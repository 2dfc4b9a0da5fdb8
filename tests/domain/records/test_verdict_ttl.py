from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.findings import EmailStatus
from app.domain.records.verdict_ttl import expires_at, is_fresh, lifetime

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
DEFAULT_MAX_AGE = timedelta(days=180)
DAYS = [
    (EmailStatus.VALID, 180),
    (EmailStatus.ACCEPT_ALL, 60),
    (EmailStatus.INVALID, 60),
    (EmailStatus.RISKY, 30),
    (EmailStatus.UNKNOWN, 30),
]


@pytest.mark.parametrize(("status", "days"), DAYS)
def test_the_lifetime_of_a_verdict_depends_on_its_status(status: EmailStatus, days: int) -> None:
    assert expires_at(status, NOW, DEFAULT_MAX_AGE) == NOW + timedelta(days=days)


@pytest.mark.parametrize("status", list(EmailStatus))
def test_a_verdict_is_fresh_until_the_moment_it_expires(status: EmailStatus) -> None:
    end = expires_at(status, NOW, DEFAULT_MAX_AGE)

    assert is_fresh(status, NOW, DEFAULT_MAX_AGE, now=end - timedelta(seconds=1))
    assert not is_fresh(status, NOW, DEFAULT_MAX_AGE, now=end)


def test_every_lifetime_scales_with_the_usual_age() -> None:
    assert {
        lifetime(status, 2 * DEFAULT_MAX_AGE) / lifetime(status, DEFAULT_MAX_AGE) for status in EmailStatus
    } == {2}
