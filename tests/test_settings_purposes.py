from __future__ import annotations

from collections.abc import Iterator

import pytest

from app import settings
from app.domain.purposes import DEFAULT, PurposeRule
from app.settings import SettingsError


@pytest.fixture(autouse=True)
def _read_anew() -> Iterator[None]:
    settings.load.cache_clear()
    yield
    settings.load.cache_clear()


def test_no_purpose_is_required_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUIRE_PURPOSE_IN", "PURPOSES"):
        monkeypatch.delenv(name, raising=False)

    rule = settings.load().purpose_rule

    assert rule == PurposeRule(frozenset(), DEFAULT)
    assert not rule.is_set


def test_the_rule_and_the_purposes_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUIRE_PURPOSE_IN", "de, unknown")
    monkeypatch.setenv("PURPOSES", " recruiting, know_your_customer_2,recruiting,")

    rule = settings.load().purpose_rule

    assert rule == PurposeRule(frozenset({"DE", "unknown"}), ("recruiting", "know_your_customer_2"))


@pytest.mark.parametrize(
    "word", ["Sales", "sales outreach", "_sales", "sales_", "a__b", "2nd", "vente_à", "a" * 41]
)
def test_what_is_not_a_purpose_is_refused(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("PURPOSES", f"recruiting,{word}")

    with pytest.raises(SettingsError, match=rf"PURPOSES is invalid: '{word}' is not a word"):
        settings.load()


def test_the_places_of_the_rule_are_those_of_the_other_regional_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REQUIRE_PURPOSE_IN", "Germany")

    with pytest.raises(SettingsError, match="REQUIRE_PURPOSE_IN is invalid: 'Germany' is not an ISO"):
        settings.load()
