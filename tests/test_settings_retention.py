from __future__ import annotations

from collections.abc import Iterator

import pytest

from app import settings
from app.core.jobs import idempotency
from app.settings import SettingsError


@pytest.fixture(autouse=True)
def _read_anew() -> Iterator[None]:
    settings.load.cache_clear()
    yield
    settings.load.cache_clear()


def test_answers_may_not_go_before_the_keys_that_stand_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB_RETENTION_DAYS", "7")

    with pytest.raises(SettingsError, match="JOB_RETENTION_DAYS is 7; it must be at least 8"):
        settings.load()


def test_the_shortest_retention_is_longer_than_keys_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB_RETENTION_DAYS", "8")

    assert settings.load().job_retention_days > idempotency.RETENTION.days
