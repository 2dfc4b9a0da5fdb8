"""The MCP server's settings, read from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

URL, KEY = "CONTACT_LOOKUP_URL", "CONTACT_LOOKUP_KEY"


class SettingsError(Exception):
    """A setting is missing or invalid; the message says what to set."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The address of the service, and the API key for stdio; over HTTP each caller sends its own key."""

    base_url: str
    key: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, environment: Mapping[str, str], *, with_key: bool) -> Settings:
        """Return the settings of the environment.

        Raises:
            SettingsError: the address is missing or not a URL, or `with_key` is set and there is no key.

        """
        base_url = environment.get(URL, "").rstrip("/")
        parts = urlsplit(base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SettingsError(
                f"Set {URL} to the address of the service, such as https://lookup.example.com."
            )
        key = environment.get(KEY, "").strip() or None
        if with_key and key is None:
            raise SettingsError(f"Set {KEY} to an API key. POST /api/keys creates one, with a spending cap.")
        return cls(base_url, key if with_key else None)
