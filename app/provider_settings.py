"""Settings of providers: their keys, terms and order, whose names depend on the providers' own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.domain.errors import InvalidValue
from app.domain.providers.rates import Rate, parse_rates

DEFAULT_ORDER = {
    "email": (
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
    "phone": ("leadmagic", "pdl", "prospeo", "apollo", "dropcontact", "rocketreach", "fullenrich"),
    "person": ("hunter", "prospeo", "pdl", "apollo", "dropcontact", "rocketreach"),
    "company": ("hunter", "prospeo", "pdl", "apollo", "rocketreach"),
    "verification": ("mx", "reacher"),
}
"""Who is asked for what if the settings do not say: the free and the quick before the dear and the slow.

The sandbox is not among them: it answers only where an order names it.
"""
DEFAULT = "default"
"""The word that stands for USUAL_ORDER in a configured order, as in `default,sandbox`."""
KEYLESS = frozenset({"pattern", "mx"})
KEYS = {"reacher": "BASE_URL"}
"""What shows that a provider is to be used, where that is no key."""
_EU_CODES = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"
EUROPEAN_UNION = frozenset(_EU_CODES.split())
_OURS = re.compile(
    r"[A-Z][A-Z0-9_]*_(?:API_KEY|BASE_URL|WEBHOOK_URL|RATE|CREDIT_PRICE|DAILY_BUDGET|MISS_DAYS)"
    r"|PROVIDERS_(?:EMAIL|PHONE|PERSON|COMPANY|VERIFICATION)_[A-Z]{2}"
)
_FIGURE = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


class SettingsError(RuntimeError):
    """A setting is missing or makes no sense; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """How one provider is reached and on what terms; None stands for what its file says.

    `webhook_url` is where a vendor that insists on one may send its answers; they are fetched all the same.
    `credit_price` is what one of its credits costs in the operator's money, `daily_budget` the credits it may
    cost per UTC day, `miss_days` for how long its miss stands.
    """

    api_key: str = field(default="", repr=False)
    base_url: str = ""
    webhook_url: str = ""
    rates: tuple[Rate, ...] | None = None
    credit_price: float | None = None
    daily_budget: float | None = None
    miss_days: float | None = None


def pick(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Give the variables that are settings of providers, sorted by name."""
    return tuple((name, environment[name]) for name in sorted(filter(_OURS.fullmatch, environment)))


def access(known: Mapping[str, str], provider: str) -> ProviderSettings:
    """Give how the provider of this name is reached.

    Raises:
        SettingsError: one of its figures cannot be read.

    """
    prefix = env_name(provider)
    return ProviderSettings(
        api_key=known.get(f"{prefix}_API_KEY", ""),
        base_url=known.get(f"{prefix}_BASE_URL", ""),
        webhook_url=known.get(f"{prefix}_WEBHOOK_URL", ""),
        rates=_rates(known, f"{prefix}_RATE"),
        credit_price=figure(known, f"{prefix}_CREDIT_PRICE"),
        daily_budget=figure(known, f"{prefix}_DAILY_BUDGET"),
        miss_days=figure(known, f"{prefix}_MISS_DAYS"),
    )


def default_order(known: Mapping[str, str], asked: str) -> tuple[str, ...]:
    """Give who is asked for the field by default: everybody who needs no key, and those whose key is set."""
    return tuple(one for one in DEFAULT_ORDER[asked] if one in KEYLESS or known.get(_shown_by(one)))


def order_for(known: Mapping[str, str], asked: str, region: str | None) -> tuple[str, ...] | None:
    """Give the order that is set for the country, or for the European Union if it is a member; or None."""
    for place in (region, "EU" if region in EUROPEAN_UNION else None):
        said = known.get(f"PROVIDERS_{asked.upper()}_{place}") if place else None
        if said is not None:
            return order(known, asked, said)
    return None


def order(known: Mapping[str, str], asked: str, said: str) -> tuple[str, ...]:
    """Return the order that a setting names, each name once; `default` stands for the usual order."""
    named = names(said)
    if DEFAULT not in named:
        return named
    at = named.index(DEFAULT)
    usual = [one for one in default_order(known, asked) if one not in named]
    return (*named[:at], *usual, *named[at + 1 :])


def env_name(provider: str) -> str:
    """Give what a provider's settings begin with: `HUNTER` of `hunter`."""
    return provider.upper().replace("-", "_")


def names(text: str) -> tuple[str, ...]:
    """Read names separated by commas, each once."""
    return tuple(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))


def figure(known: Mapping[str, str], name: str) -> float | None:
    """Read a number that is not negative; None if there is none.

    Raises:
        SettingsError: it is something else.

    """
    said = known.get(name, "").strip()
    if not said:
        return None
    if not _FIGURE.fullmatch(said):
        message = f"{name} is {said!r}; it must be a number such as 25 or 0.5."
        raise SettingsError(message)
    return float(said)


def _shown_by(provider: str) -> str:
    return f"{env_name(provider)}_{KEYS.get(provider, 'API_KEY')}"


def _rates(known: Mapping[str, str], name: str) -> tuple[Rate, ...] | None:
    said = known.get(name, "").strip()
    if not said:
        return None
    try:
        return parse_rates(said)
    except InvalidValue as error:
        message = f"{name} is {said!r}. {error}"
        raise SettingsError(message) from error
