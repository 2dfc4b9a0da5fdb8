"""Settings for SMTP and DNS verification, read once from the environment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from typing import TypeVar

from environs import Env, EnvValidationError

from app.domain.errors import InvalidValue
from app.domain.normal.emails import email_domain, normal_email
from app.settings import SettingsError

DNS_PORT = 53
Number = TypeVar("Number", int, float)
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSettings:
    """SMTP and DNS settings.

    `smtp` enables SMTP verification; `sender` is the MAIL FROM address, `helo` the EHLO name, and `source`
    the local address to connect from, "" for any. `pause_seconds` is the pause between two sessions with one
    mail host. `dns_servers` are addresses and ports, none for the servers of the system.
    """

    smtp: bool = False
    sender: str = ""
    helo: str = ""
    source: str = ""
    port: int = 25
    starttls: bool = True
    pause_seconds: float = 1.0
    dns_servers: tuple[tuple[str, int], ...] = ()
    dns_seconds: float = 3.0


@cache
def load() -> MailSettings:
    """Read the settings from the environment."""
    try:
        return _read(Env())
    except EnvValidationError as error:
        raise SettingsError(str(error)) from error


def _read(env: Env) -> MailSettings:
    defaults = MailSettings()
    smtp = env.bool("VERIFY_SMTP", defaults.smtp)
    sender = _sender(env.str("VERIFY_SMTP_FROM", "").strip())
    if smtp and not sender:
        raise SettingsError(
            "VERIFY_SMTP_FROM is not set. With VERIFY_SMTP=true it must be an address of your own."
        )
    return MailSettings(
        smtp=smtp,
        sender=sender,
        helo=_helo(env.str("VERIFY_SMTP_HELO", "").strip()) or email_domain(sender),
        source=_address("VERIFY_SMTP_SOURCE", env.str("VERIFY_SMTP_SOURCE", "").strip()),
        port=_within("VERIFY_SMTP_PORT", env.int("VERIFY_SMTP_PORT", defaults.port), 1, 65535),
        starttls=env.bool("VERIFY_SMTP_STARTTLS", defaults.starttls),
        pause_seconds=_within(
            "VERIFY_SMTP_PAUSE_SECONDS", env.float("VERIFY_SMTP_PAUSE_SECONDS", defaults.pause_seconds), 0, 60
        ),
        dns_servers=tuple(
            _server(server.strip())
            for server in env.str("VERIFY_DNS_SERVERS", "").split(",")
            if server.strip()
        ),
        dns_seconds=_within(
            "VERIFY_DNS_SECONDS", env.float("VERIFY_DNS_SECONDS", defaults.dns_seconds), 0.1, 30
        ),
    )


def _sender(value: str) -> str:
    try:
        return normal_email(value) if value else ""
    except InvalidValue as error:
        raise SettingsError(f"VERIFY_SMTP_FROM is {value!r}. {error}") from error


def _helo(value: str) -> str:
    if value and not _HOST.fullmatch(value):
        raise SettingsError(f"VERIFY_SMTP_HELO is {value!r}; it must be a host name such as mail.acme.com.")
    return value


def _within(name: str, value: Number, minimum: float, maximum: float) -> Number:
    if not minimum <= value <= maximum:
        raise SettingsError(f"{name} is {value}; it must be a number from {minimum} to {maximum}.")
    return value


def _address(name: str, value: str) -> str:
    try:
        return str(ip_address(value)) if value else ""
    except ValueError as error:
        raise SettingsError(f"{name} is {value!r}; it must be an IP address.") from error


def _server(value: str) -> tuple[str, int]:
    """Parse `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53` or `[2001:db8::53]:5353`."""
    host, separator, port = value.rpartition(":")
    if not separator or (":" in host and not host.endswith("]")):
        host, port = value, str(DNS_PORT)
    if not port.isdecimal():
        raise SettingsError(f"VERIFY_DNS_SERVERS has {value!r}; it must be an address such as 192.0.2.53:53.")
    return _address("VERIFY_DNS_SERVERS", host.removeprefix("[").removesuffix("]")), int(port)
