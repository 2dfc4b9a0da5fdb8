"""Settings that are numbers or words: what would stop the service or delete data is refused."""

from __future__ import annotations

import pytest

from app import settings as app_settings

NUMBERS = (
    "TRUSTED_PROXIES",
    "WEB_CONCURRENCY",
    "SESSION_IDLE_DAYS",
    "SESSION_ABSOLUTE_DAYS",
    "SESSION_MAX_PER_ACCOUNT",
    "PRICE_REVEAL_EMAIL",
    "PRICE_REVEAL_PHONE",
    "FEEDBACK_UNCONFIRMED_REFUND_SHARE",
    "KNOWN_FRESH_DAYS",
    "ANSWER_FRESH_SECONDS",
    "NOT_FOUND_FRESH_SECONDS",
    "HASH_JOB_RETENTION_HOURS",
    "JOB_RETENTION_DAYS",
    "CONTACT_RETENTION_DAYS",
    "NOTICE_DAYS",
    "JOB_DEADLINE_SECONDS",
    "LEASE_SECONDS",
    "SWEEP_SECONDS",
    "REPUBLISH_SECONDS",
    "READY_PROGRESS_SECONDS",
    "MAX_ATTEMPTS",
    "MAX_CRASHES",
    "HASH_PREFIX_LENGTH",
    "COMPANY_FILTER_SECONDS",
    "UPLOAD_MAX_MB",
    "UPLOAD_MAX_ROWS",
    "UPLOAD_RETENTION_DAYS",
    "SPOOL_MAX_MB",
)
POSITIVE = (
    "WEB_CONCURRENCY",
    "SESSION_IDLE_DAYS",
    "JOB_DEADLINE_SECONDS",
    "LEASE_SECONDS",
    "SWEEP_SECONDS",
    "REPUBLISH_SECONDS",
    "MAX_ATTEMPTS",
    "MAX_CRASHES",
    "UPLOAD_MAX_MB",
    "UPLOAD_MAX_ROWS",
    "UPLOAD_RETENTION_DAYS",
)


def fault_of(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> str:
    """Return the one fault of the settings with this value, which is that of the setting."""
    monkeypatch.setenv(name, value)
    _, faults = app_settings.read()
    assert set(faults) == {name}
    return faults[name]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_text_that_is_not_a_number_is_reported(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert fault_of(monkeypatch, name, "often").startswith(f"{name} is invalid: Not a valid ")


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["-1", "99999999999"])
def test_a_number_out_of_range_is_reported(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    assert "; it must be from " in fault_of(monkeypatch, name, value)


@pytest.mark.parametrize("name", POSITIVE)
def test_zero_is_reported_where_nothing_would_work(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert fault_of(monkeypatch, name, "0").startswith(f"{name} is 0")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [("LOG_LEVEL", "verbose", "debug"), ("LOG_FORMAT", "xml", "logfmt or json")],
)
def test_an_unknown_word_is_reported(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str
) -> None:
    fault = fault_of(monkeypatch, name, value)

    assert fault.startswith(f"{name} is {value!r}; it must be ")
    assert allowed in fault
