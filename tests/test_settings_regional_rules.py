from __future__ import annotations

from collections.abc import Iterator

import pytest

from app import settings
from app.domain.regional_rules import EUROPEAN_UNION, RegionalRules, parse_places
from app.settings import SettingsError


@pytest.fixture(autouse=True)
def _read_anew() -> Iterator[None]:
    settings.load.cache_clear()
    yield
    settings.load.cache_clear()


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", set()),
        (" de, AT ,", {"DE", "AT"}),
        ("EU", EUROPEAN_UNION),
        ("eea", EUROPEAN_UNION | {"IS", "LI", "NO"}),
        ("*,Unknown", {"*", "unknown"}),
    ],
)
def test_the_places_of_a_rule_are_read(monkeypatch: pytest.MonkeyPatch, text: str, places: set[str]) -> None:
    monkeypatch.setenv("HIDE_PERSONAL_EMAILS_IN", text)
    monkeypatch.setenv("HIDE_MOBILES_IN", "FR")

    rules = settings.load().regional_rules

    assert rules == RegionalRules(frozenset(places), frozenset({"FR"}))


@pytest.mark.parametrize("word", ["Germany", "XX", "D", "ZZ", "EUROPE", "D*"])
def test_what_is_not_a_place_is_refused(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("HIDE_MOBILES_IN", f"DE,{word}")

    with pytest.raises(
        SettingsError, match=rf"HIDE_MOBILES_IN is invalid: '{word.replace('*', '.')}' is not"
    ):
        settings.load()


@pytest.mark.parametrize(
    ("kind", "line_type", "person", "number", "hidden"),
    [
        ("mobile", "mobile", "DE", "DE", True),
        ("direct", "mobile", "DE", "DE", True),
        ("other", "unknown", "DE", "US", True),
        ("direct", "unknown", "DE", "US", False),
        ("work", "landline", "DE", "DE", False),
        ("mobile", "mobile", "US", "DE", True),
        ("mobile", "mobile", None, "US", False),
        ("mobile", "mobile", "US", None, False),
    ],
)
def test_a_mobile_is_hidden_by_its_persons_country_or_its_own(
    kind: str, line_type: str, person: str | None, number: str | None, *, hidden: bool
) -> None:
    rules = RegionalRules(mobiles=frozenset({"DE"}))

    assert rules.hides_phone(kind, line_type, person, number) is hidden


@pytest.mark.parametrize("region", ["EU", "EEA"])
@pytest.mark.parametrize("territory", ["RE", "GP", "AX"])
def test_the_union_has_its_parts_with_codes_of_their_own(region: str, territory: str) -> None:
    assert territory in parse_places([region])


def test_rules_are_known_by_their_places() -> None:
    emails, mobiles = frozenset({"DE", "AT"}), frozenset({"*"})

    assert RegionalRules(emails, mobiles).key == "personal=AT,DE mobile=*"
    assert (RegionalRules().key, bool(RegionalRules())) == ("", False)
