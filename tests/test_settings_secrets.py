"""Secret settings: they are not shown in any text, and weak ones are refused."""

from __future__ import annotations

import dataclasses
import secrets
import traceback
from collections.abc import Callable

import pytest

from app import secret_strength
from app import settings as app_settings
from app.infra.database.db import Database
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
def test_an_invalid_url_is_reported_by_its_name_and_never_quoted(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError, match=f"^{name} is not a URL such as") as caught:
        Database(app_settings.load.__wrapped__().database_url)

    assert "canary" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("name", ["SECRET_KEY", "SUPPRESSION_KEY"])
def test_a_key_that_is_too_short_is_not_quoted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "canary")

    with pytest.raises(SettingsError, match=name) as caught:
        app_settings.load.__wrapped__()

    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "weak",
    [
        32 * "a",
        20 * "ab",
        4 * "change-me-",
        2 * "0123456789abcdef",
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'",
    ],
)
def test_a_guessable_secret_is_rejected(monkeypatch: pytest.MonkeyPatch, weak: str) -> None:
    monkeypatch.setenv("SECRET_KEY", weak)

    with pytest.raises(SettingsError, match=r"^SECRET_KEY can be guessed"):
        app_settings.load.__wrapped__()


def test_a_guessable_suppression_key_is_accepted_with_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SUPPRESSION_KEY", 32 * "a")

    assert app_settings.load.__wrapped__().suppression_key == 32 * "a"
    assert "must be added again" in (secret_strength.suppression_key_fault(32 * "a") or "")
    assert secret_strength.suppression_key_fault(secrets.token_urlsafe(48)) is None


@pytest.mark.parametrize(
    ("make", "sizes"), [(secrets.token_urlsafe, (24, 32, 48, 512)), (secrets.token_hex, (16, 24, 48, 512))]
)
def test_random_secrets_of_an_accepted_length_are_not_guessable(
    make: Callable[[int], str], sizes: tuple[int, ...]
) -> None:
    generated = [make(size) for size in sizes for _ in range(200)]

    assert min(map(len, generated)) == secret_strength.MIN_SECRET_LENGTH
    assert not [secret for secret in generated if secret_strength.is_guessable(secret)]


def test_the_two_secrets_must_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = secrets.token_urlsafe(48)
    monkeypatch.setenv("SECRET_KEY", secret)
    monkeypatch.setenv("SUPPRESSION_KEY", secret)

    with pytest.raises(SettingsError, match="SECRET_KEY and SUPPRESSION_KEY are equal") as caught:
        app_settings.load.__wrapped__()

    assert secret not in str(caught.value)


def test_every_fault_is_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {
        "SECRET_KEY": "short",
        "REDIS_URL": "",
        "SWEEP_SECONDS": "often",
        "JOB_RETENTION_DAYS": "1",
        "LIMIT_READ": "many",
    }
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError) as caught:
        app_settings.load.__wrapped__()

    assert {line.split()[0] for line in str(caught.value).splitlines()} == set(wrong)
