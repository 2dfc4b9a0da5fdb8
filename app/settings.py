"""The settings, read once from the environment; `.env.example` describes each of them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, wraps
from ipaddress import ip_network
from itertools import pairwise
from typing import Concatenate, ParamSpec, TypeVar, cast

from environs import Env, EnvValidationError
from limits import parse
from redis.connection import parse_url

from app import provider_settings
from app.domain.kinds import Kind
from app.provider_settings import ProviderSettings, SettingsError

__all__ = [
    "REQUIRED",
    "ProviderSettings",
    "Settings",
    "SettingsError",
    "flower_login_fault",
    "load",
    "read",
    "suppression_key_fault",
]

REQUIRED = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "SUPPRESSION_KEY", "FLOWER_BASIC_AUTH")
"""Settings without a default. Docker Compose derives the first two from the passwords it requires."""
MIN_SECRET_LENGTH = 32
MIN_PASSWORD_LENGTH = 12
PLACEHOLDERS = ("change-me", "changeme", "token_urlsafe")
"""Texts of the example file that stand for a secret."""
MIN_DISTINCT_PAIRS = 20
"""Distinct pairs of adjacent characters in a secret; 32 random hexadecimal digits have 27 or more."""
MIN_DISTINCT_STEPS = 8
"""Distinct differences of adjacent characters in a secret; an alphabet has one or two."""
MIN_RETENTION_DAYS = 8
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9.-]+(?::[0-9]+)?", re.ASCII)
_GENERATE = "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an operator; times are in seconds unless the name says otherwise."""

    database_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    secret_key: str = field(repr=False)
    suppression_key: str = field(repr=False)
    log_level: str
    log_format: str
    metrics_token: str = field(repr=False)
    trusted_proxies: int
    web_concurrency: int
    cors_origins: tuple[str, ...]
    session_idle_days: int
    session_absolute_days: int
    price_reveal_email: int
    price_reveal_phone: int
    feedback_unconfirmed_refund_share: float
    known_fresh_days: int
    answer_fresh_seconds: int
    not_found_fresh_seconds: int
    hash_job_retention_hours: int
    job_retention_days: int
    job_deadline_seconds: int
    lease_seconds: int
    sweep_seconds: float
    republish_seconds: float
    ready_progress_seconds: float
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
    webhook_networks: tuple[str, ...]
    provider_variables: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Variables named after a provider or country, such as `HUNTER_API_KEY` and `PROVIDERS_EMAIL_DE`."""

    def access(self, name: str) -> ProviderSettings:
        """Return the settings of a provider.

        Raises:
            SettingsError: one of its numbers is invalid.

        """
        return provider_settings.access(dict(self.provider_variables), name)

    def providers(self, field: str, region: str | None = None) -> tuple[str, ...]:
        """Return the names of the providers of a field, in the order of their calls.

        `region` is an ISO country code. `PROVIDERS_EMAIL_DE` or, in the European Union, `PROVIDERS_EMAIL_EU`
        overrides the default order.
        """
        regional = provider_settings.order_for(dict(self.provider_variables), field, region)
        if regional is not None:
            return regional
        default: dict[str, tuple[str, ...]] = {
            "email": self.providers_email,
            "phone": self.providers_phone,
            "person": self.providers_person,
            "company": self.providers_company,
            "verification": self.providers_verification,
        }
        return default[field]

    @property
    def usual_age(self) -> timedelta:
        """Return the age at which stored values become stale and providers are called again."""
        return timedelta(days=self.known_fresh_days)

    @property
    def prices(self) -> dict[str, int]:
        """Return the credits for one revealed field, by the keys of the session's `prices`."""
        return {
            Kind.REVEAL_EMAIL.value: self.price_reveal_email,
            Kind.REVEAL_PHONE.value: self.price_reveal_phone,
        }


class _Environment(Env):
    """A reader of the environment that collects errors, so that all of them are reported at once."""

    def __init__(self) -> None:
        super().__init__(eager=False)
        self.errors: dict[str, str] = {}

    def faults(self) -> dict[str, str]:
        """Return an error message for each missing or invalid setting, by its name."""
        try:
            self.seal()
        except EnvValidationError as error:
            messages = cast("dict[str, list[str]]", error.error_messages)
            self.errors |= {name: f"{name} is invalid: {' '.join(texts)}" for name, texts in messages.items()}
        return self.errors


def _collected(
    reader: Callable[Concatenate[_Environment, str, P], R],
) -> Callable[Concatenate[_Environment, str, P], R]:
    """Wrap a reader so that it collects a SettingsError and returns None instead of raising it."""

    @wraps(reader)
    def collecting(env: _Environment, name: str, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return reader(env, name, *args, **kwargs)
        except SettingsError as error:
            env.errors[name] = str(error)
            return cast("R", None)

    return collecting


@cache
def load() -> Settings:
    """Return the settings of the environment.

    Raises:
        SettingsError: settings are missing or invalid; the message has a line for each.

    """
    settings, faults = read()
    if faults:
        raise SettingsError("\n".join(faults.values()))
    return settings


def read() -> tuple[Settings, dict[str, str]]:
    """Return the settings, and an error for each missing or invalid one, whose field is then None."""
    env = _Environment()
    settings = _settings(env)
    faults = env.faults()
    if settings.secret_key and settings.secret_key == settings.suppression_key:
        faults["SECRET_KEY"] = (
            "SECRET_KEY and SUPPRESSION_KEY are equal. Set SECRET_KEY to another secret "
            f"(the suppression list depends on SUPPRESSION_KEY): {_GENERATE}"
        )
    return settings, faults


def flower_login_fault(login: str) -> str | None:
    """Return an error for an invalid login for Flower, which is `name:password`; else None."""
    name, _, password = login.partition(":")
    if not (name and password):
        return f"FLOWER_BASIC_AUTH is not set. Set it to name:password, with a password from: {_GENERATE}"
    if len(password) < MIN_PASSWORD_LENGTH or len(set(password)) < MIN_DISTINCT_STEPS:
        return (
            "FLOWER_BASIC_AUTH has a weak password. "
            f"Set it to name:password, with a password from: {_GENERATE}"
        )
    return None


def _settings(env: _Environment) -> Settings:
    return Settings(
        database_url=_required(env, "DATABASE_URL", "for example postgresql://user:password@host/database"),
        redis_url=_redis_url(env, "REDIS_URL", "redis://:password@127.0.0.1:6379/0"),
        secret_key=_secret(env, "SECRET_KEY"),
        suppression_key=_secret(env, "SUPPRESSION_KEY", may_be_guessable=True),
        log_level=env.str("LOG_LEVEL", "info"),
        log_format=env.str("LOG_FORMAT", "logfmt"),
        metrics_token=env.str("METRICS_TOKEN", ""),
        trusted_proxies=env.int("TRUSTED_PROXIES", 0),
        web_concurrency=env.int("WEB_CONCURRENCY", 1),
        cors_origins=_origins(env, "CORS_ORIGINS"),
        session_idle_days=env.int("SESSION_IDLE_DAYS", 14),
        session_absolute_days=env.int("SESSION_ABSOLUTE_DAYS", 90),
        price_reveal_email=env.int("PRICE_REVEAL_EMAIL", 1),
        price_reveal_phone=env.int("PRICE_REVEAL_PHONE", 1),
        feedback_unconfirmed_refund_share=_share(env, "FEEDBACK_UNCONFIRMED_REFUND_SHARE", 0.05),
        known_fresh_days=env.int("KNOWN_FRESH_DAYS", 180),
        answer_fresh_seconds=env.int("ANSWER_FRESH_SECONDS", 3600),
        not_found_fresh_seconds=env.int("NOT_FOUND_FRESH_SECONDS", 86400),
        hash_job_retention_hours=env.int("HASH_JOB_RETENTION_HOURS", 24),
        job_retention_days=_retention(env, "JOB_RETENTION_DAYS", 90),
        job_deadline_seconds=env.int("JOB_DEADLINE_SECONDS", 3600),
        lease_seconds=env.int("LEASE_SECONDS", 20),
        sweep_seconds=env.float("SWEEP_SECONDS", 1.0),
        republish_seconds=env.float("REPUBLISH_SECONDS", 5.0),
        ready_progress_seconds=env.float("READY_PROGRESS_SECONDS", 60.0),
        max_attempts=env.int("MAX_ATTEMPTS", 4),
        max_crashes=env.int("MAX_CRASHES", 8),
        prefix_length=env.int("HASH_PREFIX_LENGTH", 4),
        limit_lookup=_limit(env, "LIMIT_LOOKUP", "6000/minute"),
        limit_spend=_limit(env, "LIMIT_SPEND", "6000/minute"),
        limit_write=_limit(env, "LIMIT_WRITE", "6000/minute"),
        limit_read=_limit(env, "LIMIT_READ", "12000/minute"),
        limit_login_address=_limit(env, "LIMIT_LOGIN_ADDRESS", "60/minute"),
        limit_login_account=_limit(env, "LIMIT_LOGIN_ACCOUNT", "10/minute"),
        providers_email=_order(env, "PROVIDERS_EMAIL", "email"),
        providers_phone=_order(env, "PROVIDERS_PHONE", "phone"),
        providers_person=_order(env, "PROVIDERS_PERSON", "person"),
        providers_company=_order(env, "PROVIDERS_COMPANY", "company"),
        providers_verification=_order(env, "PROVIDERS_VERIFICATION", "verification"),
        providers_order=_one_of(env, "PROVIDERS_ORDER", "fixed", "auto"),
        providers_file=env.str("PROVIDERS_FILE", ""),
        cost_ceiling_email=_ceiling(env, "COST_CEILING_EMAIL"),
        cost_ceiling_phone=_ceiling(env, "COST_CEILING_PHONE"),
        webhook_networks=_networks(env, "WEBHOOK_NETWORKS"),
        provider_variables=provider_settings.pick(os.environ),
    )


@_collected
def _order(env: _Environment, name: str, field: str) -> tuple[str, ...]:
    value = env.str(name, None)
    return provider_settings.order(os.environ, field, provider_settings.DEFAULT if value is None else value)


@_collected
def _one_of(env: _Environment, name: str, *allowed: str) -> str:
    value = env.str(name, allowed[0]).strip().lower()
    if value not in allowed:
        message = f"{name} is {value!r}; it must be {' or '.join(allowed)}."
        raise SettingsError(message)
    return value


@_collected
def _limit(env: _Environment, name: str, default: str) -> str:
    value: str = env.str(name, default)
    try:
        parse(value)
    except ValueError as error:
        message = f"{name} is {value!r}. Use a limit such as {default}."
        raise SettingsError(message) from error
    return value


@_collected
def _retention(env: _Environment, name: str, default: int) -> int:
    """Return the retention of finished jobs; it must exceed that of the idempotency keys."""
    days = env.int(name, default)
    if days < MIN_RETENTION_DAYS:
        message = f"{name} is {days}; it must be at least {MIN_RETENTION_DAYS}."
        raise SettingsError(message)
    return days


@_collected
def _share(env: _Environment, name: str, default: float) -> float:
    share = env.float(name, default)
    if not 0 <= share <= 1:
        message = f"{name} is {share}; it must be a share between 0 and 1, such as {default}."
        raise SettingsError(message)
    return share


@_collected
def _networks(env: _Environment, name: str) -> tuple[str, ...]:
    """Return IP networks separated by commas; a network must have no host bits set."""
    networks = tuple(text.strip() for text in env.str(name, "").split(",") if text.strip())
    for network in networks:
        try:
            ip_network(network)
        except ValueError as error:
            message = f"{name} contains {network!r}; it must be a list of networks such as 10.20.0.0/16."
            raise SettingsError(message) from error
    return networks


@_collected
def _origins(env: _Environment, name: str) -> tuple[str, ...]:
    """Return origins separated by commas, as browsers send them (RFC 6454, 6.2); `*` is an error."""
    origins = tuple(text.strip() for text in env.str(name, "").split(",") if text.strip())
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            message = (
                f"{name} contains {origin!r}; it must be a list of origins such as chrome-extension://<id>."
            )
            raise SettingsError(message)
    return origins


@_collected
def _ceiling(env: _Environment, name: str) -> float | None:
    return provider_settings.figure({name: env.str(name, "")}, name)


@_collected
def _redis_url(env: _Environment, name: str, example: str) -> str:
    """Return a valid URL; checked here, because a later error could quote a part of its password."""
    value = _set(env, name, f"for example {example}")
    try:
        parse_url(value)  # type: ignore[no-untyped-call]
    except ValueError:
        message = (
            f"{name} is not a URL such as {example}. Write / as %2F, @ as %40 and # as %23 in the password."
        )
        raise SettingsError(message) from None
    return value


@_collected
def _required(env: _Environment, name: str, example: str) -> str:
    return _set(env, name, example)


def _set(env: _Environment, name: str, example: str) -> str:
    value: str = env.str(name, "")
    if not value:
        message = f"{name} is not set. Set it in the environment, {example}; see .env.example."
        raise SettingsError(message)
    return value


@_collected
def _secret(env: _Environment, name: str, *, may_be_guessable: bool = False) -> str:
    value: str = env.str(name, "")
    if not value:
        fault = "is not set"
    elif len(value) < MIN_SECRET_LENGTH:
        fault = f"is shorter than {MIN_SECRET_LENGTH} characters"
    elif is_guessable(value) and not may_be_guessable:
        fault = "can be guessed: it repeats itself or is the text of the example"
    else:
        return value
    message = f"{name} {fault}. Set it to a random value: {_GENERATE}"
    raise SettingsError(message)


def suppression_key_fault(key: str) -> str | None:
    """Return a warning for a guessable suppression key; else None.

    A guessable key is accepted, because entries of the suppression list do not match under another key.
    """
    if len(key) < MIN_SECRET_LENGTH or not is_guessable(key):
        return None
    return (
        "SUPPRESSION_KEY can be guessed: it repeats itself or is the text of the example. While the "
        f"suppression list is empty, set it to a random value: {_GENERATE}; later, all entries must be added "
        "again."
    )


def is_guessable(secret: str) -> bool:
    """Return whether the secret repeats itself, counts up or contains a placeholder."""
    pairs = list(pairwise(secret))
    steps = {ord(after) - ord(before) for before, after in pairs}
    is_placeholder = any(text in secret.lower() for text in PLACEHOLDERS)
    return is_placeholder or len(set(pairs)) < MIN_DISTINCT_PAIRS or len(steps) < MIN_DISTINCT_STEPS
