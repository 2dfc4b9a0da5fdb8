from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from support import POSTGRES

from app.infra import clock
from app.infra.db import Database

HOUR = timedelta(hours=1)
SOON = timedelta(seconds=5)


@pytest.fixture(autouse=True)
def _own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "correction", clock.Correction())


def test_by_itself_it_is_the_machines_clock() -> None:
    assert abs(clock.now() - datetime.now(UTC)) < SOON


def test_a_machine_that_is_wrong_goes_by_the_other_clock() -> None:
    clock.follow(datetime.now(UTC) + HOUR)

    assert abs(clock.now() - datetime.now(UTC) - HOUR) < SOON


def test_a_difference_of_a_moment_is_left_alone() -> None:
    clock.follow(datetime.now(UTC) + clock.TOLERANCE / 2)

    assert clock.correction.by == timedelta(0)


def test_a_clock_that_was_put_right_meanwhile_is_believed_again() -> None:
    clock.follow(datetime.now(UTC) + HOUR)

    clock.follow(datetime.now(UTC))

    assert abs(clock.now() - datetime.now(UTC)) < SOON


@pytest.mark.skipif(not POSTGRES, reason="SQLite has no clock of its own; see TEST_DATABASE_URL")
def test_every_transaction_sets_the_clock_by_the_databases(database: Database) -> None:
    clock.follow(datetime.now(UTC) - HOUR)

    with database.reading() as session:
        session.execute(text("SELECT 1"))

    assert abs(clock.now() - datetime.now(UTC)) < SOON


def test_a_moment_is_written_in_utc_with_milliseconds() -> None:
    moment = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)

    assert clock.rfc3339(moment) == "2026-11-21T12:30:00.000Z"


def test_no_moment_is_written_as_none() -> None:
    assert clock.rfc3339(None) is None
