"""Readers of single settings: each returns the valid value, or collects an error for the setting."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import PurePath
from typing import Concatenate, ParamSpec, TypeVar, cast
from urllib.parse import urlsplit

from environs import Env, EnvValidationError
from limits import parse
from pyrage import RecipientError, x25519
from redis.connection import parse_url

from app import provider_settings
from app.domain.errors import InvalidValue
from app.domain.normal import emails as email_forms
from app.domain.purposes import DEFAULT, parse_purposes
from app.domain.regional_rules import parse_places
from app.provider_settings import SettingsError
from app.secret_strength import GENERATE, MIN_SECRET_LENGTH, is_guessable

SEED_BYTES = 32
GENERATE_SEED = (
    "python3 -c 'import base64, secrets; print(base64.b64encode(secrets.token_bytes(32)).decode())'"
)
"""The command that generates the seed of a signing key."""
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9.-]+(?::[0-9]+)?", re.ASCII)
_HTTP_URL = re.compile(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", re.ASCII)
Number = TypeVar("Number", int, float)
P = ParamSpec("P")
R = TypeVar("R")


class Environment(Env):
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


def collect_errors(
    reader: Callable[Concatenate[Environment, str, P], R],
) -> Callable[Concatenate[Environment, str, P], R]:
    """Wrap a reader so that it collects a SettingsError and returns None instead of raising it."""

    @wraps(reader)
    def collecting(env: Environment, name: str, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return reader(env, name, *args, **kwargs)
        except SettingsError as error:
            env.errors[name] = str(error)
            return cast("R", None)

    return collecting


def text(env: Environment, name: str, default: str = "") -> str:
    """Return the text of a setting that may have any."""
    return env.str(name, "") or default


@collect_errors
def order(env: Environment, name: str, field: str) -> tuple[str, ...]:
    """Return the order of the providers of a field."""
    value = env.str(name, None)
    return provider_settings.order(os.environ, field, provider_settings.DEFAULT if value is None else value)


@collect_errors
def one_of(env: Environment, name: str, *allowed: str) -> str:
    """Return one of the allowed words; the first is the default."""
    value = env.str(name, allowed[0]).strip().lower()
    if value not in allowed:
        message = f"{name} is {value!r}; it must be {' or '.join(allowed)}."
        raise SettingsError(message)
    return value


@collect_errors
def limit(env: Environment, name: str, default: str) -> str:
    """Return a rate limit such as `600/minute`."""
    value: str = env.str(name, default)
    try:
        parse(value)
    except ValueError as error:
        message = f"{name} is {value!r}. Use a limit such as {default}."
        raise SettingsError(message) from error
    return value


@collect_errors
def otlp_endpoint(env: Environment, name: str) -> str:
    """Return the address of an OpenTelemetry collector, empty for none; its packages must be installed."""
    value: str = env.str(name, "").strip()
    if value and not _HTTP_URL.fullmatch(value):
        message = f"{name} is {value!r}. Use an address such as http://127.0.0.1:4318."
        raise SettingsError(message)
    if value and find_spec("opentelemetry.exporter") is None:
        message = f"{name} is set, but OpenTelemetry is not installed: pip install '.[otel]'"
        raise SettingsError(message)
    return value


@collect_errors
def between(env: Environment, name: str, default: int, minimum: int, maximum: int) -> int:
    """Return a whole number from `minimum` to `maximum`."""
    return _within(name, env.int(name, default), minimum, maximum)


@collect_errors
def decimal_between(env: Environment, name: str, default: float, minimum: float, maximum: float) -> float:
    """Return a number from `minimum` to `maximum`."""
    return _within(name, env.float(name, default), minimum, maximum)


def _within(name: str, number: Number, minimum: float, maximum: float) -> Number:
    """Return the number; None, which stands for a text that is not a number, is reported by `faults`."""
    if number is not None and not minimum <= number <= maximum:
        message = f"{name} is {number}; it must be from {minimum} to {maximum}."
        raise SettingsError(message)
    return number


@collect_errors
def signing_seed(env: Environment, name: str) -> bytes | None:
    """Return the 32 bytes in base64 from which a private key is made; None if it is empty."""
    text = env.str(name, "").strip()
    try:
        seed = base64.b64decode(text, validate=True)
    except binascii.Error:
        seed = b""
    if text and len(seed) != SEED_BYTES:
        message = f"{name} is not {SEED_BYTES} bytes in base64. Set it to a random value: {GENERATE_SEED}"
        raise SettingsError(message)
    return seed or None


@collect_errors
def networks(env: Environment, name: str) -> tuple[str, ...]:
    """Return IP networks separated by commas; a network must have no host bits set."""
    networks = tuple(text.strip() for text in env.str(name, "").split(",") if text.strip())
    for network in networks:
        try:
            ip_network(network)
        except ValueError as error:
            message = f"{name} contains {network!r}; it must be a list of networks such as 10.20.0.0/16."
            raise SettingsError(message) from error
    return networks


@collect_errors
def places(env: Environment, name: str) -> frozenset[str]:
    """Return the countries of a regional rule, which are separated by commas."""
    try:
        return parse_places(word.strip() for word in env.str(name, "").split(",") if word.strip())
    except InvalidValue as error:
        message = f"{name} is invalid: {error} Separate several countries by commas, as in DE,AT."
        raise SettingsError(message) from error


@collect_errors
def purposes(env: Environment, name: str) -> tuple[str, ...]:
    """Return the purposes that can be stated, separated by commas; without any, the default ones."""
    try:
        words = parse_purposes(word.strip() for word in env.str(name, "").split(",") if word.strip())
    except InvalidValue as error:
        message = f"{name} is invalid: {error} Separate several purposes by commas."
        raise SettingsError(message) from error
    return words or DEFAULT


@collect_errors
def origins(env: Environment, name: str) -> tuple[str, ...]:
    """Return origins separated by commas, as browsers send them (RFC 6454, 6.2); `*` is an error."""
    origins = tuple(text.strip() for text in env.str(name, "").split(",") if text.strip())
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            message = (
                f"{name} contains {origin!r}; it must be a list of origins such as chrome-extension://<id>."
            )
            raise SettingsError(message)
    return origins


@collect_errors
def absolute_path(env: Environment, name: str) -> str:
    """Return the absolute path of a file or folder, or an empty text."""
    path: str = env.str(name, "").strip()
    if path and not PurePath(path).is_absolute():
        message = f"{name} is {path!r}; it must be an absolute path such as /var/lib/contact-lookup/heads."
        raise SettingsError(message)
    return path


@collect_errors
def emails(env: Environment, name: str) -> tuple[str, ...]:
    """Return e-mail addresses separated by commas, in their normal form."""
    addresses = [text.strip() for text in env.str(name, "").split(",") if text.strip()]
    try:
        return tuple(map(email_forms.normal_email, addresses))
    except InvalidValue as error:
        message = f"{name} has an invalid e-mail address: {error} Separate several addresses by commas."
        raise SettingsError(message) from error


@collect_errors
def backup_recipients(env: Environment, name: str) -> tuple[str, ...]:
    """Return the public keys for which backups are encrypted, separated by commas."""
    keys = tuple(text.strip() for text in env.str(name, "").split(",") if text.strip())
    for key in keys:
        try:
            x25519.Recipient.from_str(key)
        except RecipientError:
            message = (
                f"{name} has a value that is not a public key of the age format. Use the line age1… that"
                " `flask backup key` or `age-keygen` prints, not the key file's AGE-SECRET-KEY-1…"
            )
            raise SettingsError(message) from None
    return keys


@collect_errors
def ceiling(env: Environment, name: str) -> float | None:
    """Return the limit on the provider cost of one reveal; None if it is empty."""
    return provider_settings.figure({name: env.str(name, "")}, name)


@collect_errors
def redis_url(env: Environment, name: str, example: str) -> str:
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


@collect_errors
def broker_url(env: Environment, name: str, example: str) -> str:
    """Return the valid URL of a broker, RabbitMQ or Redis; empty if it is not set."""
    value: str = env.str(name, "")
    if not value.startswith(("amqp://", "amqps://")):
        return redis_url(env, name, example) if value else ""
    try:
        is_complete = bool(urlsplit(value).hostname) and urlsplit(value).port != 0
    except ValueError:  # the error quotes a part of the URL
        is_complete = False
    if not is_complete:
        message = (
            f"{name} is not a URL such as {example}. Write / as %2F, @ as %40 and # as %23 in the password."
        )
        raise SettingsError(message)
    return value


@collect_errors
def required(env: Environment, name: str, example: str) -> str:
    """Return the text of a setting that has no default."""
    return _set(env, name, example)


def _set(env: Environment, name: str, example: str) -> str:
    value: str = env.str(name, "")
    if not value:
        message = f"{name} is not set. Set it in the environment, {example}; see .env.example."
        raise SettingsError(message)
    return value


@collect_errors
def secret(env: Environment, name: str, *, may_be_guessable: bool = False) -> str:
    """Return a secret that is long enough and, unless `may_be_guessable`, random."""
    value: str = env.str(name, "")
    if not value:
        fault = "is not set"
    elif len(value) < MIN_SECRET_LENGTH:
        fault = f"is shorter than {MIN_SECRET_LENGTH} characters"
    elif is_guessable(value) and not may_be_guessable:
        fault = "can be guessed: it repeats itself or is the text of the example"
    else:
        return value
    message = f"{name} {fault}. Set it to a random value: {GENERATE}"
    raise SettingsError(message)


def matching(_env: Environment, _name: str, pattern: re.Pattern[str]) -> tuple[tuple[str, str], ...]:
    """Return the variables whose whole name matches, sorted by name."""
    return tuple((name, os.environ[name]) for name in sorted(filter(pattern.fullmatch, os.environ)))
