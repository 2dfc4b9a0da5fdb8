"""How mail and name servers are spoken to, read once from the environment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from typing import TypeVar

from environs import Env

from app.domain.errors import InvalidValue
from app.domain.normal.emails import email_domain, normal_email
from app.settings import SettingsError

DNS_PORT = 53
Number = TypeVar("Number", int, float)
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSettings:
    """What an operator can choose of it.

    `smtp` says whether mail servers are asked at all; `sender` is what they are told in MAIL FROM, `helo` in
    EHLO, and `source` the address of this machine they are called from, "" for any. `pause_seconds` lie
    between two conversations with one mail host. `dns_servers` are addresses and ports; none: the system's.
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
    """Read the environment.

    Raises:
        SettingsError: servers shall be asked and nobody says in whose name, or a value makes no sense.

    """
    env = Env()
    usual = MailSettings()
    smtp = env.bool("VERIFY_SMTP", usual.smtp)
    sender = _sender(env.str("VERIFY_SMTP_FROM", "").strip())
    if smtp and not sender:
        raise SettingsError(
            "VERIFY_SMTP_FROM is not set. With VERIFY_SMTP=true it must be an address of yours."
        )
    return MailSettings(
        smtp=smtp,
        sender=sender,
        helo=_helo(env.str("VERIFY_SMTP_HELO", "").strip()) or email_domain(sender),
        source=_address("VERIFY_SMTP_SOURCE", env.str("VERIFY_SMTP_SOURCE", "").strip()),
        port=_within("VERIFY_SMTP_PORT", env.int("VERIFY_SMTP_PORT", usual.port), 1, 65535),
        starttls=env.bool("VERIFY_SMTP_STARTTLS", usual.starttls),
        pause_seconds=_within(
            "VERIFY_SMTP_PAUSE_SECONDS", env.float("VERIFY_SMTP_PAUSE_SECONDS", usual.pause_seconds), 0, 60
        ),
        dns_servers=tuple(
            _server(one.strip()) for one in env.str("VERIFY_DNS_SERVERS", "").split(",") if one.strip()
        ),
        dns_seconds=_within(
            "VERIFY_DNS_SECONDS", env.float("VERIFY_DNS_SECONDS", usual.dns_seconds), 0.1, 30
        ),
    )


def _sender(said: str) -> str:
    try:
        return normal_email(said) if said else ""
    except InvalidValue as error:
        raise SettingsError(f"VERIFY_SMTP_FROM is {said!r}. {error}") from error


def _helo(said: str) -> str:
    if said and not _HOST.fullmatch(said):
        raise SettingsError(f"VERIFY_SMTP_HELO is {said!r}; it must be a host name such as mail.acme.com.")
    return said


def _within(name: str, said: Number, least: float, most: float) -> Number:
    if not least <= said <= most:
        raise SettingsError(f"{name} is {said}; it must be a number from {least} to {most}.")
    return said


def _address(name: str, said: str) -> str:
    try:
        return str(ip_address(said)) if said else ""
    except ValueError as error:
        raise SettingsError(f"{name} is {said!r}; it must be an IP address.") from error


def _server(said: str) -> tuple[str, int]:
    """Read `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53` or `[2001:db8::53]:5353`."""
    host, separator, port = said.rpartition(":")
    if not separator or (":" in host and not host.endswith("]")):
        host, port = said, str(DNS_PORT)
    if not port.isdecimal():
        raise SettingsError(f"VERIFY_DNS_SERVERS has {said!r}; it must be an address such as 192.0.2.53:53.")
    return _address("VERIFY_DNS_SERVERS", host.removeprefix("[").removesuffix("]")), int(port)
