from __future__ import annotations

from collections.abc import Iterator

import pytest

from app import settings
from app.settings import SettingsError


@pytest.fixture(autouse=True)
def _read_anew() -> Iterator[None]:
    settings.load.cache_clear()
    yield
    settings.load.cache_clear()


@pytest.mark.parametrize("share", ["-0.01", "1.01", "5"])
def test_the_share_of_refunds_is_between_0_and_1(monkeypatch: pytest.MonkeyPatch, share: str) -> None:
    monkeypatch.setenv("FEEDBACK_UNCONFIRMED_REFUND_SHARE", share)

    with pytest.raises(SettingsError, match="FEEDBACK_UNCONFIRMED_REFUND_SHARE"):
        settings.load()


@pytest.mark.parametrize(("text", "share"), [("0", 0.0), ("0.1", 0.1), ("1", 1.0)])
def test_the_share_of_refunds_is_a_setting(monkeypatch: pytest.MonkeyPatch, text: str, share: float) -> None:
    monkeypatch.setenv("FEEDBACK_UNCONFIRMED_REFUND_SHARE", text)

    assert settings.load().feedback_unconfirmed_refund_share == share
