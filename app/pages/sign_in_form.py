"""What the ways to sign in share: the form that offers them, and the cookie at their end."""

from __future__ import annotations

from flask import Response, request

from app.domain.errors import Problem, TooManyAttempts
from app.web.feature import sign_in_option
from app.web.languages.texts import ngettext, translate
from app.web.pages.error_pages import local_path
from app.web.pages.rendering import go_to_path, page
from app.web.services import services
from app.web.sign_in import session_cookie

CLIENT = {"name": "browser page"}
"""The client in the account's list of sessions."""


def complete(token: str, next_path: str) -> Response:
    """Store the token of a session that was started in the browser, and redirect to a page of this server."""
    response = go_to_path(local_path(next_path))
    session_cookie.store(response, token)
    return response


def sign_in_form(
    status: int = 200,
    *,
    errors: dict[str, str] | None = None,
    session_ended: bool = False,
    next_path: str | None = None,
) -> Response:
    """Return the page with the ways to sign in, and the reason why the last one failed."""
    settings = services().settings
    return page(
        "sign_in.html",
        status,
        errors=errors or {},
        email=request.form.get("email", ""),
        next=local_path(request.values.get("next", "/") if next_path is None else next_path),
        session_ended=session_ended,
        is_allowed=session_cookie.is_allowed(),
        has_passwords=settings.password_sign_in,
        option=sign_in_option(settings),
    )


def sentence(problem: Problem) -> str:
    """Return why a sign-in failed and what to do next."""
    if isinstance(problem, TooManyAttempts):
        return ngettext(
            "Too many attempts. Wait {count} second before the next one.",
            "Too many attempts. Wait {count} seconds before the next one.",
            problem.retry_after or 1,
        )
    return f"{translate(problem.title)}. {translate(problem.detail)}"
