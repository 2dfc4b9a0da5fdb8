from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator

import pytest

from app import settings
from app.settings import SettingsError


@pytest.fixture(autouse=True)
def _read_anew() -> Iterator[None]:
    settings.load.cache_clear()
    yield
    settings.load.cache_clear()


def test_a_prefix_has_two_digits_by_default() -> None:
    assert settings.load().hash_prefix_length == 2


@pytest.mark.parametrize("digits", ["0", "-1", "9"])
def test_a_prefix_has_one_to_eight_digits(monkeypatch: pytest.MonkeyPatch, digits: str) -> None:
    monkeypatch.setenv("HASH_PREFIX_LENGTH", digits)

    with pytest.raises(SettingsError, match=f"HASH_PREFIX_LENGTH is {digits}; it must be from 1 to 8"):
        settings.load()


def test_the_signing_key_is_32_bytes_in_base64_or_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPANY_FILTER_KEY", b64encode(bytes(32)).decode())

    assert settings.load().company_filter_key == bytes(32)

    settings.load.cache_clear()
    monkeypatch.setenv("COMPANY_FILTER_KEY", "")

    assert settings.load().company_filter_key is None


@pytest.mark.parametrize("text", ["change-me", b64encode(bytes(31)).decode(), b64encode(bytes(33)).decode()])
def test_another_signing_key_is_refused_without_quoting_it(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("COMPANY_FILTER_KEY", text)

    with pytest.raises(SettingsError, match="COMPANY_FILTER_KEY is not 32 bytes in base64") as raised:
        settings.load()

    assert text not in str(raised.value)
