from __future__ import annotations

import os

import pytest

from app import provider_settings, setting_readers
from app.domain.providers.rates import Rate
from app.provider_settings import ProviderSettings, SettingsError
from app.setting_readers import Environment


def test_a_provider_without_settings_keeps_its_own_terms() -> None:
    assert provider_settings.access({}, "hunter") == ProviderSettings()


def test_every_term_of_a_provider_can_be_set() -> None:
    variables = {
        "HUNTER_API_KEY": "k",
        "HUNTER_BASE_URL": "https://mock.example",
        "HUNTER_WEBHOOK_URL": "https://hook.example",
        "HUNTER_RATE": "15/second;500/minute",
        "HUNTER_CREDIT_PRICE": "0.05",
        "HUNTER_DAILY_BUDGET": "500",
        "HUNTER_MISS_DAYS": "7.5",
        "PROSPEO_API_KEY": "other",
    }

    access = provider_settings.access(variables, "hunter")

    assert access == ProviderSettings(
        api_key="k",
        base_url="https://mock.example",
        webhook_url="https://hook.example",
        rates=(Rate(15, 1.0), Rate(500, 60.0)),
        credit_price=0.05,
        daily_budget=500.0,
        miss_days=7.5,
    )


def test_a_key_is_not_in_the_text_of_its_settings() -> None:
    assert "secret" not in repr(ProviderSettings(api_key="secret"))


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HUNTER_RATE", "often"),
        ("HUNTER_DAILY_BUDGET", "-1"),
        ("HUNTER_CREDIT_PRICE", "nan"),
        ("HUNTER_MISS_DAYS", "1e9"),
    ],
)
def test_an_invalid_number_is_reported_with_its_name(variable: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{variable} is '{value}'"):
        provider_settings.access({variable: value}, "hunter")


def test_by_default_providers_are_called_that_need_no_key_or_have_one() -> None:
    variables = {"HUNTER_API_KEY": "k", "PDL_API_KEY": "", "REACHER_BASE_URL": "http://127.0.0.1:8080"}

    assert provider_settings.default_order(variables, "email") == ("pattern", "hunter")
    assert provider_settings.default_order(variables, "verification") == ("mx", "reacher")


@pytest.mark.parametrize(
    ("value", "order"),
    [
        ("default", ("pattern", "hunter")),
        ("default,sandbox", ("pattern", "hunter", "sandbox")),
        ("sandbox, hunter, Default", ("sandbox", "hunter", "pattern")),
        ("", ()),
    ],
)
def test_an_order_can_contain_the_default_order(value: str, order: tuple[str, ...]) -> None:
    assert provider_settings.order({"HUNTER_API_KEY": "k"}, "email", value) == order


@pytest.mark.parametrize("field", provider_settings.DEFAULT_ORDER)
def test_the_sandbox_is_called_only_if_an_order_names_it(field: str) -> None:
    assert "sandbox" not in provider_settings.order({}, field, provider_settings.DEFAULT)


@pytest.mark.parametrize(
    ("region", "order"),
    [("DE", ("dropcontact",)), ("FR", ("dropcontact", "hunter")), ("US", None), (None, None)],
)
def test_a_country_can_have_its_own_order(region: str | None, order: tuple[str, ...] | None) -> None:
    variables = {"PROVIDERS_EMAIL_DE": "dropcontact", "PROVIDERS_EMAIL_EU": " Dropcontact, hunter,hunter "}

    assert provider_settings.order_for(variables, "email", region) == order


def test_only_settings_of_providers_are_picked_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"PATH": "/bin", "HUNTER_RATE": "1/day", "PROVIDERS_EMAIL_EU": "", "PROVIDERS_EMAIL": "x"}
    monkeypatch.setattr(os, "environ", environment)

    found = setting_readers.matching(Environment(), "provider_variables", provider_settings.VARIABLE)

    assert [name for name, _value in found] == ["HUNTER_RATE", "PROVIDERS_EMAIL_EU"]


def test_the_providers_of_all_countries_are_named() -> None:
    variables = {
        "PROVIDERS_EMAIL_DE": "dropcontact,default",
        "PROVIDERS_PHONE_EU": "leadmagic",
        "HUNTER_API_KEY": "k",
        "HUNTER_RATE": "1/second",
    }

    names = provider_settings.regional_names(variables)

    assert names == {"dropcontact", "pattern", "hunter", "leadmagic"}
