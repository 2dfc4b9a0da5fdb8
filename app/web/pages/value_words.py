"""Words and colours of statuses and results, the same on the pages and in the extension (`_locales`)."""

from __future__ import annotations

from typing import NamedTuple


class Shown(NamedTuple):
    """What a badge says, and its tone: good, fair, bad or none."""

    text: str
    tone: str = ""


EMAIL_STATUS = {
    "valid": Shown("Verified", "good"),
    "accept_all": Shown("Domain accepts all mail", "fair"),
    "risky": Shown("Risky", "fair"),
    "invalid": Shown("Bounces", "bad"),
    "unknown": Shown("Unverified"),
}
IMPORTED = Shown("Imported")
"""A value that a list calls valid, and nobody has verified."""
VALUE_TYPES = {
    "work": "Work",
    "personal": "Personal",
    "mobile": "Mobile",
    "direct": "Direct line",
    "hq": "Head office",
    "other": "Other",
}
RESULTS = {
    "found": Shown("Found", "good"),
    "partial": Shown("Partly found", "fair"),
    "not_found": Shown("Not found"),
    "suppressed": Shown("Opted out", "fair"),
    "excluded": Shown("Excluded", "fair"),
    "skipped": Shown("Skipped"),
    "failed": Shown("Failed", "bad"),
    "expired": Shown("Expired", "bad"),
    "canceled": Shown("Canceled"),
    "queued": Shown("In progress", "fair"),
    "running": Shown("In progress", "fair"),
}
"""Of jobs and of their items, by outcome or else by status."""
PROVIDER_RESULTS = {
    "hit": Shown("Found", "good"),
    "miss": Shown("Not found"),
    "known_miss": Shown("Not found recently"),
    "ineligible": Shown("Not applicable"),
    "suppressed": Shown("Person opted out", "fair"),
    "no_credits": Shown("Out of credits at the provider", "bad"),
    "unconfigured": Shown("Not configured"),
    "rate_limited": Shown("Rate limit reached", "fair"),
    "cost_ceiling": Shown("Over the cost limit", "fair"),
    "circuit_open": Shown("Unavailable", "bad"),
    "timeout": Shown("Timed out", "bad"),
    "error": Shown("Failed", "bad"),
}


CLIENTS = {"extension": "Chrome extension", "browser page": "Browser"}


def email_status(status: str, *, is_verified: bool) -> Shown:
    """Return what the badge of a value says; a valid value that was not verified is an imported one."""
    if status == "valid" and not is_verified:
        return IMPORTED
    return EMAIL_STATUS.get(status, _unknown(status))


def result(status: str, outcome: str | None) -> Shown:
    """Return what the badge of a job or of an item says."""
    return RESULTS.get(outcome or status, _unknown(outcome or status))


def provider_result(outcome: str) -> Shown:
    """Return what the badge of a provider in a receipt says."""
    return PROVIDER_RESULTS.get(outcome, _unknown(outcome))


def value_type(name: str) -> str:
    """Return the type of an address or a number as people call it."""
    return VALUE_TYPES.get(name, _unknown(name).text)


def client(name: str | None) -> str:
    """Return the program of a session as people call it."""
    return CLIENTS.get(name or "", name or "Unknown program")


def _unknown(value: str) -> Shown:
    return Shown(value.replace("_", " ").capitalize())
