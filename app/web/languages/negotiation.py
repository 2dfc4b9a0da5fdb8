"""The language of a request: what the browser's user chose, then Accept-Language, then English."""

from __future__ import annotations

from flask import Flask, Response, g, has_request_context, request

from app.infra.languages.catalogues import NAMES, SOURCE

COOKIE = "language"
COOKIE_SECONDS = 365 * 24 * 3600
MAX_HEADER = 1_000
"""A longer Accept-Language is ignored: browsers send less than 100 characters."""


def register(app: Flask) -> None:
    """Name the language in the headers of every response whose texts depend on it."""
    app.after_request(_add_headers)


def language() -> str:
    """Return the language of the request, English outside of requests."""
    if not has_request_context():
        return SOURCE
    if "language" not in g:
        g.language = chosen() or _accepted()
    found: str = g.language
    return found


def chosen() -> str | None:
    """Return the language that the browser's user chose, if one did."""
    language = request.cookies.get(COOKIE, "")
    return language if language in NAMES else None


def depends_on_language(response: Response) -> Response:
    """Mark that the response has texts in the language of the request; return it."""
    g.has_texts = True
    return response


def _accepted() -> str:
    """Return the language that Accept-Language prefers, by the lookup of RFC 4647, 3.4: `de-AT` gets German.

    Werkzeug's `best_match` would prefer English in `de-AT, en;q=0.5`, because only that is an exact match.
    """
    if len(request.headers.get("Accept-Language", "")) > MAX_HEADER:
        return SOURCE
    for wanted, quality in request.accept_languages:
        primary = wanted.replace("_", "-").partition("-")[0].lower()
        if quality > 0 and primary in NAMES:
            return primary
    return SOURCE


def _add_headers(response: Response) -> Response:
    if g.get("has_texts"):
        response.headers["Content-Language"] = language()
        response.vary.add("Accept-Language")
        if not request.path.startswith("/api/"):
            response.vary.add("Cookie")
    return response
