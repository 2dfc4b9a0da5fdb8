from __future__ import annotations

from collections.abc import Iterator

import pytest

from app import settings
from app.engine.jobs import idempotency
from app.settings import SettingsError


@pytest.fixture(autouse=True)
def _read_anew() -> Iterator[None]:
    settings.load.cache_clear()
    yield
    settings.load.cache_clear()


def test_jobs_cannot_be_purged_before_their_idempotency_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB_RETENTION_DAYS", "7")

    with pytest.raises(SettingsError, match="JOB_RETENTION_DAYS is 7; it must be from 8 to 36500"):
        settings.load()


def test_the_minimum_retention_exceeds_that_of_idempotency_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB_RETENTION_DAYS", "8")

    assert settings.load().job_retention_days > idempotency.RETENTION.days
