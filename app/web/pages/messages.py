"""Messages that are shown once, on the page after a form: `flask.flash`, in a signed cookie.

They are stored in the browser only. Requests of the API read and write no such cookie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Flask, Request, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface

from app.web import html_pages

if TYPE_CHECKING:
    from flask import Response

NAME = "messages"


class MessageCookie(SecureCookieSessionInterface):
    """The cookie of the messages; its name has the prefix `__Host-` over HTTPS, as the session's has."""

    def get_cookie_name(self, app: Flask) -> str:  # noqa: ARG002 -- Flask's signature
        """Return the name of the cookie."""
        return f"__Host-{NAME}" if request.is_secure else NAME

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002 -- likewise
        """Return whether browsers send the cookie over HTTPS only."""
        return request.is_secure

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """Return the messages of this browser; none for the API."""
        if request.path.startswith(html_pages.API):
            return self.make_null_session(app)
        return super().open_session(app, request)

    def save_session(self, app: Flask, session: SecureCookieSession, response: Response) -> None:  # type: ignore[override]  # Flask's is wider
        """Store the messages that have not been shown."""
        if not self.is_null_session(session):
            super().save_session(app, session, response)


def register(app: Flask, key: str) -> None:
    """Configure `flask.flash` to sign its cookie with this key."""
    app.secret_key = key
    app.session_interface = MessageCookie()
    app.config["SESSION_COOKIE_SAMESITE"] = "Lax"
