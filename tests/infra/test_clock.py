from __future__ import annotations

from datetime import UTC, datetime

from app.infra import clock


def test_a_time_is_formatted_as_rfc_3339() -> None:
    moment = datetime(2026, 11, 21, 13, 30, tzinfo=UTC).astimezone()

    assert clock.rfc3339(moment) == "2026-11-21T13:30:00.000Z"


def test_no_time_is_formatted_as_none() -> None:
    assert clock.rfc3339(None) is None
