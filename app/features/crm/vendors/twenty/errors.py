"""Twenty's errors: duplicates, and the fields that a validation complained about.

Sources: twentyhq/twenty, `handleDuplicateKeyError` ("A duplicate entry was detected", "Duplicate Emails.
Please set a unique one.") and the validators of fields, whose messages have the name of the field in quotes
(`… for text field "jobTitle"`), except those about numbers ("Provided phone number is invalid …").

The GraphQL API answers 200 with `errors`, whose codes are those of `graphql-errors.util`. The rate limit has
the code of an invalid input (`throttlerToGraphqlApiExceptionHandler`, "Limit reached (100 tokens per 60000
ms)"). A key that is not accepted, such as a revoked one, is FORBIDDEN without `data`, as the query was not
executed (`writeGraphqlResponseOnExceptionCaught`). A field that does not exist or may not be read is named:
`Cannot query field "x" on type "Person"` (graphql-js), `no permission to read field "x" on "person"`
(`permissions.utils`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from app.features.crm.vendors.errors import Duplicate, Refusal, Rejected
from app.features.crm.vendors.exchange import (
    FORBIDDEN,
    OK,
    REQUEST_TIMEOUT,
    SERVER_ERROR,
    TOO_MANY,
    UNAUTHORIZED,
    Response,
    text,
)

BAD_REQUEST = frozenset({400, 409, 422})
_QUOTED = re.compile(r"""["'`]([A-Za-z][A-Za-z0-9_.]{0,99})["'`]""")
_FIELD = re.compile(r"\bfield ([a-z][A-Za-z0-9_.]{0,99})")
_UNREADABLE = re.compile(r"""\bfield ["'`]([A-Za-z][A-Za-z0-9_]{0,99})["'`]""", re.IGNORECASE)
_RATE_LIMIT = re.compile("limit reached|too many requests", re.IGNORECASE)
_INVALID = 400
_STATUSES = MappingProxyType(
    {
        "UNAUTHENTICATED": UNAUTHORIZED,
        "FORBIDDEN": FORBIDDEN,
        "TIMEOUT": REQUEST_TIMEOUT,
        "INTERNAL_SERVER_ERROR": SERVER_ERROR,
    }
)
"""The status that the REST API has for a code of the GraphQL API; 400 for the others."""
_PHONE = ("phone number", "calling code", "country code")
_REASONS = (
    (("option", "enum", "select"), Refusal.NOT_AN_OPTION),
    (("too long", "at most", "exceed"), Refusal.TOO_LONG),
    (("exist", "missing", "not found", "not defined", "unknown"), Refusal.UNKNOWN_PROPERTY),
    (("permission", "read-only", "readonly", "not writable"), Refusal.READ_ONLY),
)


def raise_for(response: Response) -> None:
    """Raise the error that only Twenty's messages tell."""
    if response.status not in BAD_REQUEST:
        return
    if response.object.get("errors"):
        named = [
            name for message in _graphql_messages(response.object) for name in _UNREADABLE.findall(message)
        ]
        raise Rejected("invalid_query", dict.fromkeys(named, Refusal.UNKNOWN_PROPERTY))
    messages = _messages(response.object)
    if any("duplicate" in message.lower() for message in messages):
        raise Duplicate(None)
    raise Rejected("invalid_values", {name: reason for one in messages for name, reason in _complaints(one)})


def with_status(response: Response) -> Response:
    """Return a response of the GraphQL API with the status that the REST API has for its first error."""
    body = response.object
    if not body.get("errors") or response.status not in OK:
        return response
    message, code = _graphql_messages(body)[0], (body["errors"][0].get("extensions") or {}).get("code")
    status = _STATUSES.get(text(code), _INVALID)
    if _RATE_LIMIT.search(message):
        status = TOO_MANY
    elif _UNREADABLE.search(message):
        status = _INVALID
    elif status == FORBIDDEN and "data" not in body:
        status = UNAUTHORIZED  # of the key: what the key may not read is an error beside `data`
    return replace(response, status=status)


def _graphql_messages(body: Mapping[str, Any]) -> list[str]:
    return [text(error.get("message")) for error in body["errors"]]


def _messages(body: Mapping[str, Any]) -> list[str]:
    found = body.get("messages") or body.get("message") or ()
    return [found] if isinstance(found, str) else list(map(text, found))


def _complaints(message: str) -> list[tuple[str, Refusal]]:
    names = [*_QUOTED.findall(message), *_FIELD.findall(message)]
    if any(words in message.lower() for words in _PHONE):
        names.append("phones")
    return [(name, _reason(message.lower())) for name in names]


def _reason(message: str) -> Refusal:
    return next(
        (reason for words, reason in _REASONS if any(word in message for word in words)), Refusal.INVALID
    )
