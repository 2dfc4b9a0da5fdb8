"""Twenty's errors: duplicates, and the fields that a validation complained about.

Sources: twentyhq/twenty, `handleDuplicateKeyError` ("A duplicate entry was detected", "Duplicate Emails.
Please set a unique one.") and the validators of fields, whose messages have the name of the field in quotes
(`… for text field "jobTitle"`), except those about numbers ("Provided phone number is invalid …").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.features.crm.vendors.errors import Duplicate, Refusal, Rejected
from app.features.crm.vendors.exchange import Response, text

BAD_REQUEST = frozenset({400, 409, 422})
_QUOTED = re.compile(r"""["'`]([A-Za-z][A-Za-z0-9_.]{0,99})["'`]""")
_FIELD = re.compile(r"\bfield ([a-z][A-Za-z0-9_.]{0,99})")
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
    messages = _messages(response.object)
    if any("duplicate" in message.lower() for message in messages):
        raise Duplicate(None)
    raise Rejected("invalid_values", {name: reason for one in messages for name, reason in _complaints(one)})


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
