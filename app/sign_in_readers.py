"""Readers of the settings of the sign-in: passwords, and company accounts at an OpenID provider."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from app.domain.ids import is_id
from app.provider_settings import SettingsError
from app.setting_readers import Environment, collect_errors

_EXTENSION_ID = re.compile(r"[a-p]{32}", re.ASCII)
_HOST = r"(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])"
_PUBLIC_URL = re.compile(
    rf"(?:https://{_HOST}|http://(?:localhost|127\.0\.0\.1|\[::1\]))(?::[0-9]{{1,5}})?", re.ASCII
)


@collect_errors
def issuer(env: Environment, name: str) -> str:
    """Return the URL of an OpenID provider; only on this machine may it be without TLS."""
    value: str = env.str(name, "").strip()
    if value and not _is_issuer(value):
        message = f"{name} is {value!r}; it must be a URL such as https://accounts.google.com."
        raise SettingsError(message)
    return value


def _is_issuer(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    is_local = parts.scheme == "http" and parts.hostname in {"127.0.0.1", "localhost"}
    return bool(parts.hostname) and not parts.query and (parts.scheme == "https" or is_local)


@collect_errors
def public_url(env: Environment, name: str) -> str:
    """Return the origin that users open, or an empty text; only on this machine may it be without TLS."""
    url: str = env.str(name, "").strip().rstrip("/").lower()
    if url and not _PUBLIC_URL.fullmatch(url):
        message = f"{name} is {url!r}; it must be an address such as https://contacts.example.com."
        raise SettingsError(message)
    return url


def words(env: Environment, name: str) -> tuple[str, ...]:
    """Return texts separated by commas."""
    return tuple(text.strip() for text in env.str(name, "").split(",") if text.strip())


@collect_errors
def workspaces_by_domain(env: Environment, name: str) -> tuple[tuple[str, str], ...]:
    """Return e-mail domains, each with the id of the workspace for its new accounts."""
    pairs = [text.partition("=")[::2] for text in words(env, name)]
    for domain, workspace_id in pairs:
        if "." not in domain or not is_id(workspace_id, "wks"):
            message = f"{name} is invalid; it must be a list such as acme.com=wks_…,acme.org=wks_…."
            raise SettingsError(message)
    return tuple((domain.lower(), workspace_id) for domain, workspace_id in pairs)


@collect_errors
def extension_ids(env: Environment, name: str) -> tuple[str, ...]:
    """Return the ids of Chrome extensions, which are 32 letters from a to p."""
    ids = words(env, name)
    for extension_id in ids:
        if not _EXTENSION_ID.fullmatch(extension_id):
            message = f"{name} contains {extension_id!r}; copy the 32 letters from chrome://extensions."
            raise SettingsError(message)
    return ids


@collect_errors
def is_on(env: Environment, name: str) -> bool:
    """Return whether a setting is `on`, which is its default."""
    value: str = env.str(name, "on").strip().lower()
    if value not in {"on", "off"}:
        message = f"{name} is {value!r}; it must be on or off."
        raise SettingsError(message)
    return value == "on"


def faults(issuer: str, client_id: str, *, passwords: bool) -> dict[str, str]:
    """Return an error for a setting without which no one could sign in."""
    if issuer and not client_id:
        return {"OIDC_CLIENT_ID": "OIDC_CLIENT_ID is not set. Set it to the id that the provider gave you."}
    if not passwords and not issuer:
        return {
            "PASSWORD_SIGN_IN": "PASSWORD_SIGN_IN is off, but OIDC_ISSUER is not set: no one could sign in."
        }
    return {}
