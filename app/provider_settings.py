"""Settings of providers: keys, terms and order, in variables named after the providers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.domain.errors import InvalidValue
from app.domain.providers.rates import Rate, parse_rates
from app.domain.regional_rules import EUROPEAN_UNION

DEFAULT_ORDER = {
    "email": (
        "website",
        "pattern",
        "hunter",
        "prospeo",
        "leadmagic",
        "pdl",
        "apollo",
        "dropcontact",
        "rocketreach",
        "fullenrich",
    ),
    "phone": (
        "website",
        "leadmagic",
        "pdl",
        "prospeo",
        "apollo",
        "dropcontact",
        "rocketreach",
        "fullenrich",
    ),
    "person": ("website", "hunter", "prospeo", "pdl", "apollo", "dropcontact", "rocketreach"),
    "company": ("hunter", "prospeo", "pdl", "apollo", "rocketreach"),
    "people": ("rocketreach", "hunter", "prospeo", "pdl", "apollo", "leadmagic"),
    "verification": ("mx", "reacher"),
}
"""The default order of providers per field: free and fast ones before expensive and slow ones.

The sandbox is not included; it is called only if a configured order names it.
"""
DEFAULT = "default"
"""The word that stands for DEFAULT_ORDER in a configured order, as in `default,sandbox`."""
KEYLESS = frozenset({"pattern", "mx"})
KEYS = {"reacher": "BASE_URL", "website": "CONTACT"}
"""The setting that enables a provider, if it is not its API key."""
_REGIONAL = re.compile(r"PROVIDERS_(EMAIL|PHONE|PERSON|COMPANY|PEOPLE|VERIFICATION)_[A-Z]{2}")
VARIABLE = re.compile(
    r"[A-Z][A-Z0-9_]*_(?:API_KEY|BASE_URL|WEBHOOK_URL|RATE|CREDIT_PRICE|DAILY_BUDGET|MISS_DAYS)"
    rf"|WEBSITE_(?:CONTACT|DAYS)|{_REGIONAL.pattern}"
)
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


class SettingsError(RuntimeError):
    """A setting is missing or invalid; the message names it and the remedy."""


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """The credentials and terms of a provider; None means the default of its module.

    `webhook_url` is for vendors that require one; their results are polled nevertheless. `credit_price` is
    the price of one of its credits in the operator's currency, `daily_budget` the limit of its credits per
    UTC day, `miss_days` the time for which its miss is valid. `contact` is the operator's address or page for
    the owners of the websites that are read, and `site_days` the days until one is read again.
    """

    api_key: str = field(default="", repr=False)
    base_url: str = ""
    webhook_url: str = ""
    rates: tuple[Rate, ...] | None = None
    credit_price: float | None = None
    daily_budget: float | None = None
    miss_days: float | None = None
    contact: str = ""
    site_days: float | None = None


def access(variables: Mapping[str, str], provider: str) -> ProviderSettings:
    """Return the settings of a provider."""
    prefix = env_name(provider)
    return ProviderSettings(
        api_key=variables.get(f"{prefix}_API_KEY", ""),
        base_url=variables.get(f"{prefix}_BASE_URL", ""),
        webhook_url=variables.get(f"{prefix}_WEBHOOK_URL", ""),
        rates=_rates(variables, f"{prefix}_RATE"),
        credit_price=figure(variables, f"{prefix}_CREDIT_PRICE"),
        daily_budget=figure(variables, f"{prefix}_DAILY_BUDGET"),
        miss_days=figure(variables, f"{prefix}_MISS_DAYS"),
        contact=variables.get(f"{prefix}_CONTACT", "").strip(),
        site_days=figure(variables, f"{prefix}_DAYS"),
    )


def default_order(variables: Mapping[str, str], field_name: str) -> tuple[str, ...]:
    """Return the default providers of a field: those that need no key, and those whose key is set."""
    return tuple(
        name
        for name in DEFAULT_ORDER[field_name]
        if name in KEYLESS or variables.get(_enabling_variable(name))
    )


def order_for(variables: Mapping[str, str], field_name: str, region: str | None) -> tuple[str, ...] | None:
    """Return the order set for a country, or for the European Union if it is a member; else None."""
    for place in (region, "EU" if region in EUROPEAN_UNION else None):
        value = variables.get(f"PROVIDERS_{field_name.upper()}_{place}") if place else None
        if value is not None:
            return order(variables, field_name, value)
    return None


def regional_names(variables: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the providers in the orders of single countries and of the European Union."""
    regional = ((_REGIONAL.fullmatch(name), value) for name, value in variables.items())
    orders = (order(variables, match[1].lower(), value) for match, value in regional if match)
    return frozenset(name for found in orders for name in found)


def order(variables: Mapping[str, str], field_name: str, value: str) -> tuple[str, ...]:
    """Return the order in a setting without duplicates; `default` stands for the default order."""
    named = names(value)
    if DEFAULT not in named:
        return named
    position = named.index(DEFAULT)
    inserted = [name for name in default_order(variables, field_name) if name not in named]
    return (*named[:position], *inserted, *named[position + 1 :])


def env_name(provider: str) -> str:
    """Return the prefix of a provider's settings: `HUNTER` for `hunter`."""
    return provider.upper().replace("-", "_")


def names(text: str) -> tuple[str, ...]:
    """Return names separated by commas, without duplicates."""
    return tuple(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))


def figure(variables: Mapping[str, str], name: str) -> float | None:
    """Return the number in a setting, which must not be negative; None if it is empty."""
    value = variables.get(name, "").strip()
    if not value:
        return None
    if not _NUMBER.fullmatch(value):
        message = f"{name} is {value!r}; it must be a number such as 25 or 0.5."
        raise SettingsError(message)
    return float(value)


def _enabling_variable(provider: str) -> str:
    return f"{env_name(provider)}_{KEYS.get(provider, 'API_KEY')}"


def _rates(variables: Mapping[str, str], name: str) -> tuple[Rate, ...] | None:
    value = variables.get(name, "").strip()
    if not value:
        return None
    try:
        return parse_rates(value)
    except InvalidValue as error:
        message = f"{name} is {value!r}. {error}"
        raise SettingsError(message) from error
