"""The headers of answers, as the OpenAPI document tells them."""

from __future__ import annotations

from typing import Any

from app.domain.version import API_VERSION

TEXT: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "string", "pattern": "^[0-9]+$"}
HEADERS: dict[str, tuple[str, dict[str, Any]]] = {
    "X-Request-Id": ("The caller's, if it sent a sane one; the log has it.", {**TEXT, "maxLength": 128}),
    "API-Version": ("The version of this contract.", {"type": "string", "const": API_VERSION}),
    "Cache-Control": ("Nothing here is for caches.", {"type": "string", "const": "no-store"}),
    "X-Content-Type-Options": ("Nothing here is to be guessed.", {"type": "string", "const": "nosniff"}),
    "RateLimit-Policy": (
        "How many requests in how many seconds.",
        {**TEXT, "pattern": ";q=[0-9]+;w=[0-9]+$"},
    ),
    "RateLimit": ("How many are left, for how many seconds.", {**TEXT, "pattern": ";r=[0-9]+;t=[0-9]+$"}),
    "X-Credits-Charged": ("What the job was charged.", INTEGER),
    "X-Credits-Balance": ("What the workspace has left.", INTEGER),
    "Retry-After": ("Seconds.", INTEGER),
    "Location": ("Where to look again.", {**TEXT, "pattern": "^/api/ext/jobs\\?id=job_"}),
    "Preference-Applied": ("What of Prefer was used (RFC 7240).", TEXT),
    "Idempotent-Replay": ("This joined the first request with this key.", {**TEXT, "const": "true"}),
    "WWW-Authenticate": ("How to sign in (RFC 6750).", {**TEXT, "pattern": "^Bearer realm="}),
}
OPTIONAL = "-if-any"
COMMON = ("X-Request-Id", "API-Version", "Cache-Control", "X-Content-Type-Options")
LIMITS = ("RateLimit-Policy", "RateLimit")
CREDITS = ("X-Credits-Charged", "X-Credits-Balance")
UNLIMITED = frozenset({"500", "503"})
"""Answers that need not have come to a limit."""
BY_STATUS = {
    "202": ("Location", "Retry-After"),
    "401": ("WWW-Authenticate",),
    "402": CREDITS,
    "429": ("Retry-After",),
}


def components() -> dict[str, Any]:
    """Give the document's components: each header as one that is always there, and as one that may be."""
    written = {}
    for name, (description, schema) in HEADERS.items():
        for suffix, always in (("", True), (OPTIONAL, False)):
            written[name + suffix] = {"description": description, "required": always, "schema": schema}
    return written


def for_response(
    status: str,
    *,
    limited: bool,
    waited_for: bool,
    spends: bool,
    may_be_free: bool,
    replayable: bool,
) -> dict[str, dict[str, str]]:
    """Give the headers of an operation's answers with this status, as references to the components."""
    done = status.startswith("2")
    always = dict.fromkeys(COMMON, True) | dict.fromkeys(BY_STATUS.get(status, ()), True)
    if limited and status not in UNLIMITED:
        always |= dict.fromkeys(LIMITS, done)
    if waited_for and done:
        always["Preference-Applied"] = False
    if spends and done:
        always |= dict.fromkeys(CREDITS, not may_be_free)
    if replayable and done:
        always["Idempotent-Replay"] = False
    return {
        name: {"$ref": f"#/components/headers/{name}{'' if sure else OPTIONAL}"}
        for name, sure in always.items()
    }
