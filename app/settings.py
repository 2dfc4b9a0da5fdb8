"""Every setting, read once from the environment; `.env.example` says one line about each."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache

from environs import Env

from app.domain.errors import InvalidValue
from app.domain.kinds import Kind
from app.domain.rates import Rate, parse_rates

MINIMUM_SECRET_LENGTH = 32

EMAIL_ORDER = ("hunter", "prospeo", "leadmagic", "pdl", "apollo", "dropcontact", "rocketreach", "fullenrich")
PHONE_ORDER = ("leadmagic", "pdl", "prospeo", "apollo", "dropcontact", "rocketreach", "fullenrich")
PERSON_ORDER = ("hunter", "prospeo", "pdl", "apollo", "dropcontact", "rocketreach", "fullenrich")
COMPANY_ORDER = ("hunter", "prospeo", "pdl", "apollo", "rocketreach")
KEYLESS = frozenset({"pattern", "sandbox", "mx"})
KEYS = {"reacher": "BASE_URL"}
"""What shows that a provider is to be used, where that is no key."""
EUROPEAN_UNION = frozenset(
    [
        "AT",
        "BE",
        "BG",
        "CY",
        "CZ",
        "DE",
        "DK",
        "EE",
        "ES",
        "FI",
        "FR",
        "GR",
        "HR",
        "HU",
        "IE",
        "IT",
        "LT",
        "LU",
        "LV",
        "MT",
        "NL",
        "PL",
        "PT",
        "RO",
        "SE",
        "SI",
        "SK",
    ]
)
_NAMED_AFTER_OTHERS = re.compile(
    r"[A-Z][A-Z0-9_]*_(?:API_KEY|BASE_URL|RATE|CREDIT_PRICE|DAILY_BUDGET|MISS_DAYS)"
    r"|PROVIDERS_(?:EMAIL|PHONE|PERSON|COMPANY|VERIFICATION)_[A-Z]{2}"
)
_FIGURE = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


class SettingsError(RuntimeError):
    """A setting is missing or makes no sense; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Access:
    """How one provider is reached and on what terms; None stands for what its file says.

    `credit_price` is what one of its credits costs in the operator's money, `daily_budget` the credits it may
    cost per UTC day, `miss_days` for how long its miss stands.
    """

    api_key: str = field(default="", repr=False)
    base_url: str = ""
    rates: tuple[Rate, ...] | None = None
    credit_price: float | None = None
    daily_budget: float | None = None
    miss_days: float | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator can choose. Times are in seconds unless the name says otherwise."""

    database_url: str
    redis_url: str
    secret_key: str
    suppression_key: str
    log_level: str
    log_format: str
    metrics_token: str
    trusted_proxies: int
    session_idle_days: int
    session_absolute_days: int
    price_reveal_email: int
    price_reveal_phone: int
    known_fresh_days: int
    answer_fresh_seconds: int
    not_found_fresh_seconds: int
    hash_job_retention_hours: int
    job_deadline_seconds: int
    lease_seconds: int
    sweep_seconds: float
    republish_seconds: float
    max_attempts: int
    max_crashes: int
    prefix_length: int
    limit_lookup: str
    limit_spend: str
    limit_write: str
    limit_read: str
    limit_login_address: str
    limit_login_account: str
    providers_email: tuple[str, ...]
    providers_phone: tuple[str, ...]
    providers_person: tuple[str, ...]
    providers_company: tuple[str, ...]
    providers_verification: tuple[str, ...]
    providers_order: str
    providers_file: str
    cost_ceiling_email: float | None
    cost_ceiling_phone: float | None
    provider_variables: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """`HUNTER_API_KEY`, `PROVIDERS_EMAIL_DE` and their like: settings whose names depend on others."""

    def access(self, name: str) -> Access:
        """Give how the provider of this name is reached.

        Raises:
            SettingsError: one of its figures cannot be read.

        """
        known, prefix = dict(self.provider_variables), env_name(name)
        return Access(
            api_key=known.get(f"{prefix}_API_KEY", ""),
            base_url=known.get(f"{prefix}_BASE_URL", ""),
            rates=_rates(known, f"{prefix}_RATE"),
            credit_price=_figure(known, f"{prefix}_CREDIT_PRICE"),
            daily_budget=_figure(known, f"{prefix}_DAILY_BUDGET"),
            miss_days=_figure(known, f"{prefix}_MISS_DAYS"),
        )

    def providers(self, asked: str, region: str | None = None) -> tuple[str, ...]:
        """Give the names of those who are asked for this field, first to last.

        `region` is an ISO country, for which `PROVIDERS_EMAIL_DE` or, in the European Union,
        `PROVIDERS_EMAIL_EU` may say otherwise.
        """
        known = dict(self.provider_variables)
        for place in (region, "EU" if region in EUROPEAN_UNION else None):
            names = known.get(f"PROVIDERS_{asked.upper()}_{place}")
            if place and names is not None:
                return _names(names)
        usual: dict[str, tuple[str, ...]] = {
            "email": self.providers_email,
            "phone": self.providers_phone,
            "person": self.providers_person,
            "company": self.providers_company,
            "verification": self.providers_verification,
        }
        return usual[asked]

    @property
    def usual_age(self) -> timedelta:
        """How old a known value may be before providers are asked again."""
        return timedelta(days=self.known_fresh_days)

    @property
    def prices(self) -> dict[str, int]:
        """Credits for one found field, by the name under which the session shows them."""
        return {
            Kind.REVEAL_EMAIL.value: self.price_reveal_email,
            Kind.REVEAL_PHONE.value: self.price_reveal_phone,
        }


@cache
def load() -> Settings:
    """Read the environment.

    Raises:
        SettingsError: a secret or an address is missing, or a value has the wrong type.

    """
    env = Env()
    return Settings(
        database_url=_required(env, "DATABASE_URL", "for example postgresql://user:password@host/database"),
        redis_url=_required(env, "REDIS_URL", "for example redis://:password@127.0.0.1:6379/0"),
        secret_key=_secret(env, "SECRET_KEY"),
        suppression_key=_secret(env, "SUPPRESSION_KEY"),
        log_level=env.str("LOG_LEVEL", "info"),
        log_format=env.str("LOG_FORMAT", "logfmt"),
        metrics_token=env.str("METRICS_TOKEN", ""),
        trusted_proxies=env.int("TRUSTED_PROXIES", 0),
        session_idle_days=env.int("SESSION_IDLE_DAYS", 14),
        session_absolute_days=env.int("SESSION_ABSOLUTE_DAYS", 90),
        price_reveal_email=env.int("PRICE_REVEAL_EMAIL", 1),
        price_reveal_phone=env.int("PRICE_REVEAL_PHONE", 1),
        known_fresh_days=env.int("KNOWN_FRESH_DAYS", 180),
        answer_fresh_seconds=env.int("ANSWER_FRESH_SECONDS", 3600),
        not_found_fresh_seconds=env.int("NOT_FOUND_FRESH_SECONDS", 86400),
        hash_job_retention_hours=env.int("HASH_JOB_RETENTION_HOURS", 24),
        job_deadline_seconds=env.int("JOB_DEADLINE_SECONDS", 3600),
        lease_seconds=env.int("LEASE_SECONDS", 20),
        sweep_seconds=env.float("SWEEP_SECONDS", 1.0),
        republish_seconds=env.float("REPUBLISH_SECONDS", 5.0),
        max_attempts=env.int("MAX_ATTEMPTS", 4),
        max_crashes=env.int("MAX_CRASHES", 8),
        prefix_length=env.int("HASH_PREFIX_LENGTH", 4),
        limit_lookup=env.str("LIMIT_LOOKUP", "6000/minute"),
        limit_spend=env.str("LIMIT_SPEND", "6000/minute"),
        limit_write=env.str("LIMIT_WRITE", "6000/minute"),
        limit_read=env.str("LIMIT_READ", "12000/minute"),
        limit_login_address=env.str("LIMIT_LOGIN_ADDRESS", "60/minute"),
        limit_login_account=env.str("LIMIT_LOGIN_ACCOUNT", "10/minute"),
        providers_email=_order(env, "PROVIDERS_EMAIL", "pattern", *EMAIL_ORDER, "sandbox"),
        providers_phone=_order(env, "PROVIDERS_PHONE", *PHONE_ORDER, "sandbox"),
        providers_person=_order(env, "PROVIDERS_PERSON", *PERSON_ORDER, "sandbox"),
        providers_company=_order(env, "PROVIDERS_COMPANY", *COMPANY_ORDER, "sandbox"),
        providers_verification=_order(env, "PROVIDERS_VERIFICATION", "mx", "reacher"),
        providers_order=_one_of(env, "PROVIDERS_ORDER", "fixed", "auto"),
        providers_file=env.str("PROVIDERS_FILE", ""),
        cost_ceiling_email=_ceiling(env, "COST_CEILING_EMAIL"),
        cost_ceiling_phone=_ceiling(env, "COST_CEILING_PHONE"),
        provider_variables=tuple(
            (name, os.environ[name]) for name in sorted(filter(_NAMED_AFTER_OTHERS.fullmatch, os.environ))
        ),
    )


def env_name(provider: str) -> str:
    """Give what a provider's settings begin with: `HUNTER` of `hunter`."""
    return provider.upper().replace("-", "_")


def _order(env: Env, name: str, *usual: str) -> tuple[str, ...]:
    """Read an order; by default everybody who needs no key, and those whose key is set."""
    said = env.str(name, None)
    if said is not None:
        return _names(said)
    return tuple(
        one
        for one in usual
        if one in KEYLESS or os.environ.get(f"{env_name(one)}_{KEYS.get(one, 'API_KEY')}")
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))


def _one_of(env: Env, name: str, *allowed: str) -> str:
    value = env.str(name, allowed[0]).strip().lower()
    if value not in allowed:
        message = f"{name} is {value!r}; it may be {' or '.join(allowed)}."
        raise SettingsError(message)
    return value


def _ceiling(env: Env, name: str) -> float | None:
    return _figure({name: env.str(name, "")}, name)


def _figure(known: Mapping[str, str], name: str) -> float | None:
    """Read a number that is not negative; None if there is none."""
    said = known.get(name, "").strip()
    if not said:
        return None
    if not _FIGURE.fullmatch(said):
        message = f"{name} is {said!r}; it must be a number such as 25 or 0.5."
        raise SettingsError(message)
    return float(said)


def _rates(known: Mapping[str, str], name: str) -> tuple[Rate, ...] | None:
    said = known.get(name, "").strip()
    if not said:
        return None
    try:
        return parse_rates(said)
    except InvalidValue as error:
        message = f"{name} is {said!r}. {error}"
        raise SettingsError(message) from error


def _required(env: Env, name: str, example: str) -> str:
    value = env.str(name, "")
    if not value:
        message = f"{name} is not set. Set it in the environment, {example}; see .env.example."
        raise SettingsError(message)
    return value


def _secret(env: Env, name: str) -> str:
    value = env.str(name, "")
    if len(value) < MINIMUM_SECRET_LENGTH:
        message = (
            f"{name} must be set to at least {MINIMUM_SECRET_LENGTH} random characters: "
            "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )
        raise SettingsError(message)
    return value
