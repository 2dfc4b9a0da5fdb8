"""The cookie in which a browser keeps the session token of the pages.

Over HTTPS its name has the prefix `__Host-` (RFC 6265bis, 4.1.3.2), so that no other host can set it. Without
HTTPS it is accepted on the user's own machine only.
"""

from __future__ import annotations

from flask import Response, request

from app.web.services import services

SECURE_NAME = "__Host-session"
LOOPBACK_NAME = "session"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_DAY_SECONDS = 86_400


def is_allowed() -> bool:
    """Return whether this request may carry the cookie: it uses HTTPS, or was sent to the user's machine."""
    host = request.host
    name = host[: host.index("]") + 1] if host.startswith("[") else host.partition(":")[0]
    return request.is_secure or name in _LOOPBACK


def token() -> str | None:
    """Return the session token in the cookie of this request, if it has one."""
    return request.cookies.get(_name()) if is_allowed() else None


def store(response: Response, session_token: str) -> None:
    """Store the token in the browser for as long as a session can last."""
    response.set_cookie(
        _name(),
        session_token,
        max_age=services().settings.session_absolute_days * _DAY_SECONDS,
        secure=request.is_secure,
        httponly=True,
        samesite="Lax",
    )


def clear(response: Response) -> None:
    """Delete the token from the browser."""
    response.delete_cookie(_name(), secure=request.is_secure, httponly=True, samesite="Lax")


def _name() -> str:
    return SECURE_NAME if request.is_secure else LOOPBACK_NAME
