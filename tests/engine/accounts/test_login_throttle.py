from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from jobs_support import DIGEST_KEYS

from app.engine.accounts import login_throttle
from app.infra.database.session import Session

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
EMAIL = "ada@acme.example"


def fail(session: Session, times: int, *, now: datetime = NOW) -> None:
    for _ in range(times):
        login_throttle.record_failure(session, EMAIL, now=now)


def test_the_first_ten_failures_cause_no_delay(session: Session) -> None:
    fail(session, 9)

    assert login_throttle.retry_after(session, EMAIL, now=NOW) == 0


@pytest.mark.parametrize(("failures", "wait"), [(10, 1), (11, 2), (12, 4), (15, 32), (16, 60), (60, 60)])
def test_each_further_failure_doubles_the_delay_up_to_a_minute(
    session: Session, failures: int, wait: int
) -> None:
    fail(session, failures)

    waits = [
        login_throttle.retry_after(session, EMAIL, now=NOW + timedelta(seconds=passed))
        for passed in (0, wait)
    ]

    assert waits == [wait, 0]


def test_another_email_is_not_delayed(session: Session) -> None:
    fail(session, 20)

    assert login_throttle.retry_after(session, "bob@acme.example", now=NOW) == 0


def test_after_the_retention_the_count_starts_again(session: Session) -> None:
    fail(session, 20)

    fail(session, 1, now=NOW + timedelta(minutes=16))

    assert login_throttle.retry_after(session, EMAIL, now=NOW + timedelta(minutes=16)) == 0


def test_a_successful_sign_in_resets_the_count(session: Session) -> None:
    fail(session, 20)

    login_throttle.reset(session, EMAIL)

    session.expunge_all()
    assert login_throttle.retry_after(session, EMAIL, now=NOW) == 0


def test_digests_depend_on_every_part_and_their_order() -> None:
    digests = {
        login_throttle.digest(DIGEST_KEYS, "a", "b"),
        login_throttle.digest(DIGEST_KEYS, "ab"),
        login_throttle.digest(DIGEST_KEYS, "b", "a"),
    }

    assert len(digests) == 3
