"""The language of a request: what the browser's user chose, then the account's, then Accept-Language."""

from __future__ import annotations

from flask import Flask, Response, g, has_request_context, request
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from app.domain.callers import Caller
from app.infra.languages.catalogues import NAMES, SOURCE

COOKIE = "language"
_API = "/api/"
COOKIE_SECONDS = 365 * 24 * 3600
MAX_HEADER = 1_000
"""A longer Accept-Language is ignored: browsers send less than 100 characters."""


def register(app: Flask) -> None:
    """Name the language in the headers of every response whose texts depend on it."""
    app.after_request(_add_headers)


def language() -> str:
    """Return the language of the request, English outside of requests.

    Of the API it is that of `Accept-Language`: a program names the language of whoever reads its texts.
    """
    if not has_request_context():
        return SOURCE
    if "language" not in g:
        is_of_api = request.path.startswith(_API)
        g.language = chosen() or (None if is_of_api else _of_account()) or _accepted()
    found: str = g.language
    return found


def language_of_files() -> str:
    """Return the language of a file that somebody downloads: also over the API that of the account."""
    return chosen() or _of_account() or _accepted()


def chosen() -> str | None:
    """Return the language that the browser's user chose, if one did."""
    language = request.cookies.get(COOKIE, "")
    return language if language in NAMES else None


def depends_on_language(response: Response) -> Response:
    """Mark that the response has texts in the language of the request; return it."""
    mark()
    return response


def mark() -> None:
    """Mark that the response of this request, if there is one, has texts in its language."""
    if has_request_context():
        g.has_texts = True


def _of_account() -> str | None:
    """Return the language of the account that is signed in, if it has one that this release knows."""
    caller: Caller | None = g.get("flask_httpauth_user")
    language = None if caller is None else caller.language
    return language if language in NAMES else None


def _accepted() -> str:
    return preferred(request.headers.get("Accept-Language", "")) or SOURCE


def preferred(header: str) -> str | None:
    """Return the language of ours that an Accept-Language prefers, by the lookup of RFC 4647, 3.4.

    `de-AT` gets German. Werkzeug's `best_match` would prefer English in `de-AT, en;q=0.5`, because only that
    is an exact match.
    """
    if len(header) > MAX_HEADER:
        return None
    for wanted, quality in parse_accept_header(header, LanguageAccept):
        primary = wanted.replace("_", "-").partition("-")[0].lower()
        if quality > 0 and primary in NAMES:
            return primary
    return None


def _add_headers(response: Response) -> Response:
    if g.get("has_texts"):
        response.headers["Content-Language"] = language()
        response.vary.add("Accept-Language")
        if not request.path.startswith(_API):
            response.vary.add("Cookie")
    return response
