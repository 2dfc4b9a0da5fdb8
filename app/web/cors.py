"""CORS: access for pages and extensions from the origins in CORS_ORIGINS."""

from __future__ import annotations

from functools import partial

from apiflask import APIFlask
from flask import Response, request

METHODS = "GET, POST, PUT, DELETE"
REQUEST_HEADERS = (
    "Authorization, Content-Type, Idempotency-Key, If-None-Match, Prefer, Traceparent, X-Request-Id"
)
RESPONSE_HEADERS = (
    "API-Version, Content-Disposition, Deprecation, ETag, Idempotent-Replay, Link, Location, "
    "Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, "
    "X-Credits-Balance, X-Credits-Charged, X-Request-Id"
)
MAX_AGE_SECONDS = 7200


def register(app: APIFlask, origins: tuple[str, ...]) -> None:
    """Add CORS headers to responses under /api for these origins (WHATWG Fetch, 3.3).

    Cookies and wildcard origins are never allowed. The origin does not authenticate; the token does.
    """
    if origins:
        app.after_request(partial(_allow, frozenset(origins)))


def _allow(origins: frozenset[str], response: Response) -> Response:
    if not request.path.startswith("/api/"):
        return response
    response.vary.add("Origin")
    origin = request.headers.get("Origin", "")
    if origin not in origins:
        return response
    response.headers["Access-Control-Allow-Origin"] = origin
    if request.method == "OPTIONS":
        response.headers["Access-Control-Allow-Methods"] = METHODS
        response.headers["Access-Control-Allow-Headers"] = REQUEST_HEADERS
        response.headers["Access-Control-Max-Age"] = str(MAX_AGE_SECONDS)
    else:
        response.headers["Access-Control-Expose-Headers"] = RESPONSE_HEADERS
    return response
