"""Every setting, read once from the environment; `.env.example` explains each in a line."""

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
"""What has no default. Docker Compose writes the first two itself, from passwords that it asks for."""
MIN_SECRET_LENGTH = 32
MIN_PASSWORD_LENGTH = 12
PLACEHOLDERS = ("change-me", "changeme", "token_urlsafe")
"""What the example file and its comments say in place of a secret."""
MIN_DISTINCT_PAIRS = 20
"""Different pairs of neighbours in a secret; 32 random hexadecimal digits have 27 and more."""
MIN_DISTINCT_STEPS = 8
"""Different distances between neighbours in a secret; an alphabet has one or two."""
MIN_RETENTION_DAYS = 8  # days
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9.-]+(?::[0-9]+)?", re.ASCII)
_MAKE_ONE = "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator can choose. Times are in seconds unless the name says otherwise."""

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
    """`HUNTER_API_KEY`, `PROVIDERS_EMAIL_DE` and their like: settings whose names depend on others."""

    def access(self, name: str) -> ProviderSettings:
        """Give how the provider of this name is reached.

        Raises:
            SettingsError: one of its figures cannot be read.

        """
        return provider_settings.access(dict(self.provider_variables), name)

    def providers(self, asked: str, region: str | None = None) -> tuple[str, ...]:
        """Give the names of those who are asked for this field, first to last.

        `region` is an ISO country, for which `PROVIDERS_EMAIL_DE` or, in the European Union,
        `PROVIDERS_EMAIL_EU` may say otherwise.
        """
        special = provider_settings.order_for(dict(self.provider_variables), asked, region)
        if special is not None:
            return special
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


class _Environment(Env):
    """The environment; what is wrong in it is collected, so that every fault is reported at once."""

    def __init__(self) -> None:
        super().__init__(eager=False)
        self.wrong: dict[str, str] = {}

    def faults(self) -> dict[str, str]:
        """Return a sentence for each setting that is missing or wrong, by its name."""
        try:
            self.seal()
        except EnvValidationError as error:
            found = cast("dict[str, list[str]]", error.error_messages)
            self.wrong |= {name: f"{name} is wrong: {' '.join(texts)}" for name, texts in found.items()}
        return self.wrong


def _collected(
    reader: Callable[Concatenate[_Environment, str, P], R],
) -> Callable[Concatenate[_Environment, str, P], R]:
    """Collect the reader's SettingsError instead of raising it; the value is None then."""

    @wraps(reader)
    def collecting(env: _Environment, name: str, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return reader(env, name, *args, **kwargs)
        except SettingsError as error:
            env.wrong[name] = str(error)
            return cast("R", None)

    return collecting


@cache
def load() -> Settings:
    """Read the environment.

    Raises:
        SettingsError: a secret or an address is missing, or a value has the wrong type; with a line for each.

    """
    settings, faults = read()
    if faults:
        raise SettingsError("\n".join(faults.values()))
    return settings


def read() -> tuple[Settings, dict[str, str]]:
    """Return the settings, and a sentence for each that is missing or wrong; its field is then None."""
    env = _Environment()
    settings = _settings(env)
    faults = env.faults()
    if settings.secret_key and settings.secret_key == settings.suppression_key:
        faults["SECRET_KEY"] = (
            "SECRET_KEY and SUPPRESSION_KEY are equal. Set SECRET_KEY to a secret of its own "
            f"(the suppression list depends on the other): {_MAKE_ONE}"
        )
    return settings, faults


def flower_login_fault(login: str) -> str | None:
    """Return what is wrong with Flower's login, which is `name:password`; None if nothing is."""
    name, _, password = login.partition(":")
    if not (name and password):
        return f"FLOWER_BASIC_AUTH is not set. Set it to name:password, as made by: {_MAKE_ONE}"
    if len(password) < MIN_PASSWORD_LENGTH or len(set(password)) < MIN_DISTINCT_STEPS:
        return f"FLOWER_BASIC_AUTH has a weak password. Set it to name:password, as made by: {_MAKE_ONE}"
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
def _order(env: _Environment, name: str, asked: str) -> tuple[str, ...]:
    said = env.str(name, None)
    return provider_settings.order(os.environ, asked, provider_settings.DEFAULT if said is None else said)


@_collected
def _one_of(env: _Environment, name: str, *allowed: str) -> str:
    value = env.str(name, allowed[0]).strip().lower()
    if value not in allowed:
        message = f"{name} is {value!r}; it may be {' or '.join(allowed)}."
        raise SettingsError(message)
    return value


@_collected
def _limit(env: _Environment, name: str, usual: str) -> str:
    value: str = env.str(name, usual)
    try:
        parse(value)
    except ValueError as error:
        message = f"{name} is {value!r}. Write a limit such as {usual}."
        raise SettingsError(message) from error
    return value


@_collected
def _retention(env: _Environment, name: str, usual: int) -> int:
    """Read for how long ended jobs keep their answers: longer than idempotency keys, which stand for them."""
    days = env.int(name, usual)
    if days < MIN_RETENTION_DAYS:
        message = f"{name} is {days}; it must be at least {MIN_RETENTION_DAYS}."
        raise SettingsError(message)
    return days


@_collected
def _share(env: _Environment, name: str, usual: float) -> float:
    share = env.float(name, usual)
    if not 0 <= share <= 1:
        message = f"{name} is {share}; it must be a share between 0 and 1, such as {usual}."
        raise SettingsError(message)
    return share


@_collected
def _networks(env: _Environment, name: str) -> tuple[str, ...]:
    """Read IP networks, separated by commas; a network has no bits set behind its prefix."""
    networks = tuple(text.strip() for text in env.str(name, "").split(",") if text.strip())
    for network in networks:
        try:
            ip_network(network)
        except ValueError as error:
            message = f"{name} has {network!r} in it; it takes networks such as 10.20.0.0/16."
            raise SettingsError(message) from error
    return networks


@_collected
def _origins(env: _Environment, name: str) -> tuple[str, ...]:
    """Read origins, separated by commas, written as browsers send them (RFC 6454, 6.2); never all at once."""
    origins = tuple(text.strip() for text in env.str(name, "").split(",") if text.strip())
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            message = f"{name} has {origin!r} in it; it takes origins such as chrome-extension://<id>."
            raise SettingsError(message)
    return origins


@_collected
def _ceiling(env: _Environment, name: str) -> float | None:
    return provider_settings.figure({name: env.str(name, "")}, name)


@_collected
def _redis_url(env: _Environment, name: str, example: str) -> str:
    """Read a URL with a password in it; whoever could not read it later would quote a piece of it."""
    value = _set(env, name, f"for example {example}")
    try:
        parse_url(value)  # type: ignore[no-untyped-call]
    except ValueError:
        message = (
            f"{name} is no URL such as {example}. Write / as %2F, @ as %40 and # as %23 in the password."
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
        fault = "can be guessed: it repeats itself, or is the example's text"
    else:
        return value
    message = f"{name} {fault}. Set it to a random one: {_MAKE_ONE}"
    raise SettingsError(message)


def suppression_key_fault(key: str) -> str | None:
    """Return what is wrong with a suppression key that the service starts with; None if nothing is.

    A key in use is not refused: suppressed people cannot be found again under another one.
    """
    if len(key) < MIN_SECRET_LENGTH or not is_guessable(key):
        return None
    return (
        "SUPPRESSION_KEY can be guessed: it repeats itself, or is the example's text. While nobody is on the "
        f"suppression list, set it to a random one: {_MAKE_ONE}; later the people on it must be added again."
    )


def is_guessable(secret: str) -> bool:
    """Tell whether the secret repeats itself, counts up, or holds a placeholder of the example file."""
    neighbours = list(pairwise(secret))
    steps = {ord(after) - ord(before) for before, after in neighbours}
    copied = any(text in secret.lower() for text in PLACEHOLDERS)
    return copied or len(set(neighbours)) < MIN_DISTINCT_PAIRS or len(steps) < MIN_DISTINCT_STEPS
