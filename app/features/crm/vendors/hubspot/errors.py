"""HubSpot's errors: categories, limits, and the properties that a validation complained about.

Source: developers.hubspot.com/docs/api-reference/error-handling. `errors` has a `code` and the name of the
property in `context.propertyName` or in `in`; older endpoints put a list of `{name, error}` into the message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from app.features.crm.vendors.errors import Duplicate, Refusal, Rejected, Throttled
from app.features.crm.vendors.exchange import CONFLICT, OK, TOO_MANY, Response, text

DAILY_PAUSE_SECONDS = 3600.0
"""The daily limit ends at the account's midnight."""
_EXISTING_ID = re.compile(r"Existing ID: (\d+)")
_MISSING = re.compile(r'Property \\?"([A-Za-z0-9_]{1,100})\\?" does not exist')
_REASONS = {
    "INVALID_OPTION": Refusal.NOT_AN_OPTION,
    "PROPERTY_DOESNT_EXIST": Refusal.UNKNOWN_PROPERTY,
    "READ_ONLY_VALUE": Refusal.READ_ONLY,
}


def raise_for(response: Response) -> None:
    """Raise the error that only HubSpot's body tells."""
    if response.status in OK:
        return
    body = response.object
    if response.status == TOO_MANY:
        is_daily = body.get("policyName") == "DAILY"
        raise Throttled(DAILY_PAUSE_SECONDS if is_daily else response.retry_after)
    if response.status == CONFLICT:
        existing = _EXISTING_ID.search(text(body.get("message")))
        raise Duplicate(existing.group(1) if existing else None)
    if body.get("category") == "VALIDATION_ERROR":
        raise Rejected("invalid_values", dict(_complaints(body)))


def _complaints(body: Mapping[str, Any]) -> Iterator[tuple[str, Refusal]]:
    """Yield the properties named by a validation error, with the reason."""
    message = text(body.get("message"))
    for error in (*(body.get("errors") or ()), *_listed(message)):
        context = error.get("context") or {}
        names = context.get("propertyName") or error.get("name") or error.get("in") or ()
        reason = _reason(text(error.get("code") or error.get("error")))
        for name in [names] if isinstance(names, str) else names:
            yield str(name), reason
    for name in _MISSING.findall(message):
        yield name, Refusal.UNKNOWN_PROPERTY


def _listed(message: str) -> list[Mapping[str, Any]]:
    """Return the list of errors within a message."""
    start = message.find("[{")
    try:
        errors, _end = json.JSONDecoder().raw_decode(message, start) if start >= 0 else ([], 0)
    except ValueError:
        return []
    return [error for error in errors if isinstance(error, dict)]


def _reason(code: str) -> Refusal:
    if "TOO_LONG" in code or "LENGTH" in code:
        return Refusal.TOO_LONG
    return _REASONS.get(code, Refusal.INVALID)
