"""Pipedrive's errors: two limits, a block, a closed account, and the fields that a validation names.

Sources: pipedrive.readme.io/docs/core-api-concepts-rate-limiting (a burst limit of two seconds, a budget
until midnight; who goes on after 429 gets 403 with a page of the firewall),
…/core-api-concepts-http-status-codes (402: the account is not open), and pipedrive/client-nodejs, issue 651:
`error` is `Validation failed: <key>: Parameter '<key>' is not allowed for this request; <key>: …`. The header
with the rest of the budget is not documented, but sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.features.crm.vendors.errors import AccessRefused, Refusal, Rejected, Throttled
from app.features.crm.vendors.exchange import FORBIDDEN, TOO_MANY, Response, text

LIMIT_PAUSE_SECONDS = 3600.0
"""The budget ends at midnight, in a time zone that Pipedrive does not say."""
_BUDGET_LEFT, _BURST_RESET = "x-daily-ratelimit-token-remaining", "x-ratelimit-reset"
_PAYMENT_REQUIRED = 402
_INVALID = frozenset({400, 422})
_PREFIX = "Validation failed: "
_QUOTED = re.compile(r"'(\w{1,100})'")
_REASONS = (
    (("not allowed", "not exist", "not found", "unknown"), Refusal.UNKNOWN_PROPERTY),
    (("option", "one of"), Refusal.NOT_AN_OPTION),
    (("too long", "length", "at most", "exceed"), Refusal.TOO_LONG),
    (("read-only", "read only", "permission"), Refusal.READ_ONLY),
)


def raise_for(response: Response) -> None:
    """Raise the error that only Pipedrive's body or headers tell."""
    if response.status == TOO_MANY:
        raise Throttled(_pause(response))
    if response.status == FORBIDDEN and response.body is None:
        raise Throttled(LIMIT_PAUSE_SECONDS)  # the firewall's page, after too many requests
    if response.status == _PAYMENT_REQUIRED:
        raise AccessRefused("account_not_open")
    if response.status in _INVALID:
        raise Rejected("invalid_values", dict(_complaints(text(response.object.get("error")))))


def _pause(response: Response) -> float | None:
    """Return the seconds until a request may be accepted again; None if the headers do not say it."""
    if response.headers.get(_BUDGET_LEFT) == "0":
        return LIMIT_PAUSE_SECONDS
    reset = response.headers.get(_BURST_RESET, "")
    return response.retry_after or (float(reset) if reset.isdecimal() else None)


def _complaints(message: str) -> Iterator[tuple[str, Refusal]]:
    """Yield the parts of the paths before each complaint, and the words in quotes, with the reason."""
    for complaint in message.removeprefix(_PREFIX).split("; "):
        path, colon, _sentence = complaint.partition(": ")
        for name in (*(re.findall(r"\w{1,100}", path) if colon else ()), *_QUOTED.findall(complaint)):
            yield name, _reason(complaint.lower())


def _reason(complaint: str) -> Refusal:
    found = (reason for words, reason in _REASONS if any(word in complaint for word in words))
    return next(found, Refusal.INVALID)
