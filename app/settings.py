"""Every setting, read once from the environment; `.env.example` says one line about each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from environs import Env

from app.domain.kinds import Kind

MINIMUM_SECRET_LENGTH = 32


class SettingsError(RuntimeError):
    """A setting is missing or makes no sense; the message names it and says what to do."""


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
        providers_email=tuple(env.list("PROVIDERS_EMAIL", ["pattern", "sandbox"])),
        providers_phone=tuple(env.list("PROVIDERS_PHONE", ["sandbox"])),
        providers_person=tuple(env.list("PROVIDERS_PERSON", ["sandbox"])),
        providers_company=tuple(env.list("PROVIDERS_COMPANY", ["sandbox"])),
    )


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
