"""Zoho's errors: codes for the request, and codes for the record within a response.

Sources: zoho/crm-oas (`API_Exception`: `code`, `details`, `status`), zoho.com/crm/developer/docs/api/v8
(status codes; insert records: `details` has `api_name`, `json_path` and `maximum_length`; API limits: credits
of the last 24 hours, their rest in `X-API-CREDITS-REMAINING`). A scope that is missing is a 401 as well. An
error of a record may come with a status of success.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.features.crm.vendors.errors import AccessRefused, Duplicate, Refusal, Rejected, Throttled
from app.features.crm.vendors.exchange import OK, TOO_MANY, Response, text

LIMIT_PAUSE_SECONDS = 3600.0
"""Credits count the last 24 hours, so they are free again little by little."""
_CREDITS_LEFT = "x-api-credits-remaining"
_BAD_REQUEST = 400
_PATH = re.compile(r"\$\.data\[0\]\.(\w{1,100})")
_IDENTITIES = frozenset({"Email", "Account_Name"})
"""Fields by which a duplicate is the record that was to be created; another one may be somebody else's."""
_OF_ONE_RECORD = frozenset({"NO_PERMISSION", "NOT_ALLOWED", "RECORD_LOCKED", "RECORD_IN_BLUEPRINT"})
_REASONS = {
    "NO_PERMISSION": Refusal.READ_ONLY,
    "NOT_ALLOWED": Refusal.READ_ONLY,
    "DUPLICATE_DATA": Refusal.DUPLICATE,
}


def raise_for(response: Response) -> None:
    """Raise the error that the codes stand for."""
    if response.status == TOO_MANY:
        is_daily = response.headers.get(_CREDITS_LEFT) == "0"
        raise Throttled(LIMIT_PAUSE_SECONDS if is_daily else response.retry_after)
    if is_about_scopes(response):
        raise AccessRefused("forbidden")
    if response.status in OK or response.status == _BAD_REQUEST:
        _raise_for_record(response)


def is_about_scopes(response: Response) -> bool:
    """Return whether the token is valid, and lacks a scope."""
    return response.object.get("code") == "OAUTH_SCOPE_MISMATCH"


def _raise_for_record(response: Response) -> None:
    """Raise the error of the only record; a request that is not valid is one without a name."""
    found: Mapping[str, Any] = next(iter(response.object.get("data") or ()), {})
    error = found if found.get("status") == "error" else response.object
    code, details = text(error.get("code")), error.get("details") or {}
    if error.get("status") != "error" and response.status in OK:
        return
    name = _name(details)
    if code == "DUPLICATE_DATA" and name in _IDENTITIES:
        raise Duplicate(text((details.get("duplicate_record") or {}).get("id")) or None)
    if name == "id" or "resource_path_index" in details or (code in _OF_ONE_RECORD and not name):
        raise Rejected("record_not_writable")
    raise Rejected("invalid_values", {name: _reason(code, details)} if name else {})


def _name(details: Mapping[str, Any]) -> str:
    """Return the field that an error is about; of a field within another one, the outer."""
    path = _PATH.match(text(details.get("json_path")))
    return path.group(1) if path else text(details.get("api_name"))


def _reason(code: str, details: Mapping[str, Any]) -> Refusal:
    return Refusal.TOO_LONG if "maximum_length" in details else _REASONS.get(code, Refusal.INVALID)
