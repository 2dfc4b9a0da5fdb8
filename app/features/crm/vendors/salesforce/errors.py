"""Salesforce's error codes, which are more exact than the statuses.

Source: REST API Developer Guide, "Status Codes and Error Responses" (a list of `{errorCode, message,
fields}`) and "Duplicate Rule Header" (DUPLICATES_DETECTED with the matches).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.features.crm.vendors.errors import Duplicate, Refusal, Rejected, Throttled
from app.features.crm.vendors.exchange import OK, Response, text

LIMIT_PAUSE_SECONDS = 3600.0
"""The limit counts the requests of the last 24 hours, so it is free again little by little."""
_NO_COLUMN = re.compile(r"No such column '([A-Za-z0-9_.]{1,200})'")
_NO_RELATION = re.compile(r"relationship '([A-Za-z0-9_]{1,200})'")
_OF_ONE_RECORD = frozenset(
    {"INSUFFICIENT_ACCESS_OR_READONLY", "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY", "ENTITY_IS_LOCKED"}
)
"""The record may not be written, which says nothing about others."""
_REASONS = {
    "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST": Refusal.NOT_AN_OPTION,
    "FIELD_INTEGRITY_EXCEPTION": Refusal.NOT_AN_OPTION,
    "STRING_TOO_LONG": Refusal.TOO_LONG,
    "INVALID_FIELD": Refusal.UNKNOWN_PROPERTY,
    "INVALID_FIELD_FOR_INSERT_UPDATE": Refusal.READ_ONLY,
}


def raise_for(response: Response) -> None:
    """Raise the error that the codes stand for."""
    if response.status in OK:
        return
    body = response.body if isinstance(response.body, list) else [response.body]
    errors = [error for error in body if isinstance(error, dict)]
    codes = {text(error.get("errorCode")) for error in errors}
    if "REQUEST_LIMIT_EXCEEDED" in codes:
        raise Throttled(LIMIT_PAUSE_SECONDS)
    if "DUPLICATES_DETECTED" in codes:
        raise Duplicate(_existing_record(errors))
    refused = {name: reason for error in errors for name, reason in _complaints(error).items()}
    if refused or codes & _REASONS.keys():
        raise Rejected("invalid_values", refused)
    if codes & _OF_ONE_RECORD:
        raise Rejected("record_not_writable")


def _complaints(error: Mapping[str, Any]) -> dict[str, Refusal]:
    """Return the fields that an error names, some of them in its message only."""
    reason = _REASONS.get(text(error.get("errorCode")), Refusal.INVALID)
    message = text(error.get("message"))
    names = error.get("fields") or _NO_COLUMN.findall(message) or _NO_RELATION.findall(message)
    return {str(name): reason for name in names}


def _existing_record(errors: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the first record among the matches of a duplicate rule; a lead's id begins with its table."""
    matches: dict[str, str] = {}
    for error in errors:
        for result in (error.get("duplicateResult") or {}).get("matchResults") or ():
            for match in result.get("matchRecords") or ():
                record = match.get("record") or {}
                kind = text((record.get("attributes") or {}).get("type"))
                if record.get("Id"):
                    matches.setdefault(kind, str(record["Id"]))
    if "Lead" in matches:
        matches["Lead"] = f"Lead/{matches['Lead']}"
    return next((matches[kind] for kind in ("Contact", "Lead", "Account") if kind in matches), None)
