"""Errors on pages: a problem becomes a page with the same status, and a lost session leads to the sign-in."""

from __future__ import annotations

import re
from typing import Any

from flask import Flask, Response, current_app, request

from app.domain.errors import InternalError, Unauthorized
from app.domain.messages import Message
from app.web import html_pages
from app.web.pages.blueprint import SAFE_METHODS, PageBlueprint
from app.web.pages.rendering import go_to, page
from app.web.sign_in import session_cookie

_LOCAL_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]{0,500}", re.ASCII)
_PAGE_HELP = {
    "not_found": Message("The page does not exist, or what it showed was deleted."),
    "job_not_found": Message("Your workspace has no such request. The history lists its requests."),
    "contact_not_found": Message("There is no such contact. Search for the person again."),
    "method_not_allowed": Message("Open the page with its link in the navigation."),
    "insufficient_credits": Message("Ask your admin for credits. Nothing was charged."),
    "rate_limited": Message("You were faster than the server allows. Wait a minute, and try again."),
    "unavailable": Message("The server is busy. Nothing was charged. Try again in a minute."),
    "totp_required_for_admins": Message("Open your account, set up two-factor sign-in, and come back."),
    "validation_error": Message("Go back, and correct the form."),
}


def register(app: Flask) -> None:
    """Render problems as pages for browsers, after the API's handlers have made them responses."""
    app.after_request(_render_problem)


def local_path(text: str) -> str:
    """Return the path if it leads to a page of this server, otherwise the path of the first page."""
    return text if _LOCAL_PATH.fullmatch(text) and not text.startswith(html_pages.API) else "/"


def _render_problem(response: Response) -> Response:
    if response.mimetype != "application/problem+json" or not _is_for_browser():
        return response
    problem: dict[str, Any] = response.get_json()
    if response.status_code == Unauthorized.status and _is_page():
        return _ask_to_sign_in(problem["code"])
    details = [error["detail"] for error in problem.get("errors", ())]
    rendered = page(
        "error.html",
        response.status_code,
        with_viewer=response.status_code < InternalError.status,  # reading it may be what failed
        title=problem["title"],
        help=_PAGE_HELP.get(problem["code"], problem["detail"]),
        details=details,
        request_id=problem["request_id"],
    )
    for header in ("Retry-After", "Allow"):
        if header in response.headers:
            rendered.headers[header] = response.headers[header]
    return rendered


def _ask_to_sign_in(code: str) -> Response:
    """Redirect to the sign-in, and from there back to the page; a form is not sent again."""
    source = request.full_path.rstrip("?") if request.method in SAFE_METHODS else _referring_path()
    ended = {} if code == "missing_token" else {"ended": "1"}
    response = go_to("sign_in.form", next=local_path(source), **ended)
    session_cookie.clear(response)
    return response


def _referring_path() -> str:
    host, _, path = (request.referrer or "").partition("://")[2].partition("/")
    return f"/{path}".partition("?")[0] if host == request.host else "/"


def _is_page() -> bool:
    blueprint = current_app.blueprints.get(request.blueprint or "")
    return request.path == "/" or isinstance(blueprint, PageBlueprint)


def _is_for_browser() -> bool:
    """Return whether a browser shows the response: it asks for HTML of a page, or of what is not the API."""
    accepts_html = request.accept_mimetypes.best_match(html_pages.TYPES) == "text/html"
    return html_pages.prefers_html() or (accepts_html and _is_page())
