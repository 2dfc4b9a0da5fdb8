"""Secrets among the settings: no text of theirs shows them."""

from __future__ import annotations

import dataclasses
import traceback

import pytest

from app import settings as app_settings
from app.infra.db import Database
from app.settings import Settings, SettingsError

SECRETS = (
    "database_url",
    "redis_url",
    "secret_key",
    "suppression_key",
    "metrics_token",
    "provider_variables",
)


def test_no_secret_is_in_the_text_of_the_settings(settings: Settings) -> None:
    filled = dataclasses.replace(settings, **dict.fromkeys(SECRETS, "canary"))

    assert "canary" not in repr(filled)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgresql://user:canary@host:canary/db"),
        ("DATABASE_URL", "postgres//user:canary@host/db"),
        ("DATABASE_URL", "canary"),
        ("REDIS_URL", "redis://:canary/x@127.0.0.1:6379/0"),
        ("REDIS_URL", "redis://:canary#x@127.0.0.1:6379/0"),
        ("REDIS_URL", "redis://:x@127.0.0.1:canary/0"),
        ("REDIS_URL", "redis://:x@[canary"),
        ("REDIS_URL", "canary"),
    ],
)
def test_a_url_that_cannot_be_read_is_told_by_its_name_and_never_quoted(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError, match=f"^{name} is no URL such as") as caught:
        Database(app_settings.load.__wrapped__().database_url)

    assert "canary" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("name", ["SECRET_KEY", "SUPPRESSION_KEY"])
def test_a_key_that_is_too_short_is_not_quoted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "canary")

    with pytest.raises(SettingsError, match=name) as caught:
        app_settings.load.__wrapped__()

    assert "canary" not in str(caught.value)
