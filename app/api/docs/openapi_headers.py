"""The response headers in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.domain.version import API_VERSION

TEXT: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "string", "pattern": "^[0-9]+$"}
CACHEABLE = "Cache-Control-private"
"""The component that replaces Cache-Control where responses may be cached."""
HEADERS: dict[str, tuple[str, dict[str, Any]]] = {
    "X-Request-Id": (
        "The id of the request, as sent or new; it is logged.",
        {**TEXT, "maxLength": 128},
    ),
    "API-Version": ("The version of the API.", {"type": "string", "const": API_VERSION}),
    "Cache-Control": ("Responses must not be cached.", {"type": "string", "const": "no-store"}),
    CACHEABLE: (
        "The caller's own cache may store the response; a shared cache must not.",
        {**TEXT, "pattern": "^private, max-age=[0-9]+$"},
    ),
    "ETag": ("The version of the file, for `If-None-Match`.", {**TEXT, "pattern": '^"[^"]+"$'}),
    "X-Content-Type-Options": (
        "Content types must not be guessed.",
        {"type": "string", "const": "nosniff"},
    ),
    "RateLimit-Policy": (
        "Requests (q) per window in seconds (w).",
        {**TEXT, "pattern": ";q=[0-9]+;w=[0-9]+$"},
    ),
    "RateLimit": (
        "Remaining requests (r), and seconds to the reset (t).",
        {**TEXT, "pattern": ";r=[0-9]+;t=[0-9]+$"},
    ),
    "X-Credits-Charged": ("The credits charged for the job.", INTEGER),
    "X-Credits-Balance": ("The credits that the workspace has left.", INTEGER),
    "Retry-After": ("Seconds to wait before the next request.", INTEGER),
    "Content-Disposition": (
        "The name of the file, if one was requested.",
        {**TEXT, "pattern": "^attachment;"},
    ),
    "Location": ("The URL to poll.", {**TEXT, "pattern": "^/api/ext/jobs\\?id=job_"}),
    "Preference-Applied": ("The preference that was applied (RFC 7240).", TEXT),
    "Idempotent-Replay": (
        "The result of the first request with the key.",
        {**TEXT, "const": "true"},
    ),
    "WWW-Authenticate": ("The authentication scheme (RFC 6750).", {**TEXT, "pattern": "^Bearer realm="}),
}
DEPRECATION: dict[str, tuple[str, dict[str, Any]]] = {
    "Deprecation": ("Since when the operation is deprecated (RFC 9745).", {**TEXT, "pattern": "^@[0-9]+$"}),
    "Sunset": ("When the operation is removed (RFC 8594).", {**TEXT, "pattern": " GMT$"}),
    "Link": ("A page that says what to call instead.", {**TEXT, "pattern": 'rel="deprecation"'}),
}
"""The headers of deprecated operations, described where they are: most documents have none."""
OPTIONAL = "-if-any"
COMMON = ("X-Request-Id", "API-Version", "Cache-Control", "X-Content-Type-Options")
LIMITS = ("RateLimit-Policy", "RateLimit")
CREDITS = ("X-Credits-Charged", "X-Credits-Balance")
UNLIMITED = frozenset({"500", "503"})
"""Statuses that can occur before the limits are checked."""
BY_STATUS = {
    "202": ("Location", "Retry-After"),
    "401": ("WWW-Authenticate",),
    "402": CREDITS,
    "429": ("Retry-After",),
}


def components() -> dict[str, Any]:
    """Return the components of the document: each header in a required and an optional form."""
    headers = {}
    for name, (description, schema) in HEADERS.items():
        for suffix, required in (("", True), (OPTIONAL, False)):
            headers[name + suffix] = {"description": description, "required": required, "schema": schema}
    return headers


def of_deprecation(announced: Iterable[str]) -> dict[str, Any]:
    """Return the headers of this name, which every response of a deprecated operation has."""
    return {
        name: {"description": description, "required": True, "schema": schema}
        for name, (description, schema) in DEPRECATION.items()
        if name in announced
    }


def for_response(
    status: str,
    *,
    limited: bool,
    waits: bool,
    sends_credits: bool,
    credits_optional: bool,
    takes_key: bool,
    sends_file: bool,
    cacheable: bool,
) -> dict[str, dict[str, str]]:
    """Return the headers of an operation's responses with this status, as references to components."""
    success = status.startswith("2")
    headers = dict.fromkeys(COMMON, True) | dict.fromkeys(BY_STATUS.get(status, ()), True)
    if limited and status not in UNLIMITED:
        headers |= dict.fromkeys(LIMITS, success)
    if waits and success:
        headers["Preference-Applied"] = False
    if sends_credits and success:
        headers |= dict.fromkeys(CREDITS, not credits_optional)
    if takes_key and success:
        headers["Idempotent-Replay"] = False
    if sends_file and success:
        headers["Content-Disposition"] = False
    found = {
        name: {"$ref": f"#/components/headers/{name}{'' if required else OPTIONAL}"}
        for name, required in headers.items()
    }
    if cacheable and status in {"200", "304"}:
        found["Cache-Control"] = {"$ref": f"#/components/headers/{CACHEABLE}"}
        found["ETag"] = {"$ref": "#/components/headers/ETag"}
    return found
