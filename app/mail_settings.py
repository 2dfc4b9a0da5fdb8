"""Readers of the settings for mail that the service sends: codes to people who ask for their data."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from app.domain.errors import InvalidValue
from app.domain.normal.emails import normal_email
from app.provider_settings import SettingsError
from app.setting_readers import Environment, collect_errors

_EXAMPLE = "smtp://user:password@mail.example.com:587"
_PORTS = {"smtp": 587, "smtps": 465}


@dataclass(frozen=True, slots=True)
class MailServer:
    """A mail server: with `uses_tls` the connection starts encrypted, otherwise it changes to TLS."""

    host: str
    port: int
    uses_tls: bool
    user: str = ""
    password: str = ""

    @property
    def is_local(self) -> bool:
        """Return whether the server is on this machine, where no TLS is needed."""
        return self.host in {"localhost", "127.0.0.1", "::1"}


def parse_server(url: str) -> MailServer:
    """Return the server of a URL such as `smtp://user:password@mail.example.com:587`.

    Raises:
        ValueError: it is not such a URL.

    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname or parts.path.strip("/"):
        raise ValueError(url)
    return MailServer(
        host=parts.hostname,
        port=parts.port or _PORTS[parts.scheme],
        uses_tls=parts.scheme == "smtps",
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
    )


@collect_errors
def smtp_url(env: Environment, name: str) -> str:
    """Return the URL of the mail server, "" without one."""
    value: str = env.str(name, "").strip()
    try:
        if value:
            parse_server(value)
    except ValueError as error:
        message = f"{name} is not the URL of a mail server. Use one such as {_EXAMPLE}, or smtps://…:465."
        raise SettingsError(message) from error
    return value


@collect_errors
def address(env: Environment, name: str, *, required_with: str = "") -> str:
    """Return an e-mail address in its normal form, "" without one.

    `required_with` is a setting that needs it.
    """
    value = env.str(name, "").strip()
    if not value and required_with and env.str(required_with, "").strip():
        message = f"{name} is not set. With {required_with} it must be an address of your own."
        raise SettingsError(message)
    try:
        return normal_email(value) if value else ""
    except InvalidValue as error:
        message = f"{name} is {value!r}. {error}"
        raise SettingsError(message) from error
