"""Words and colours of statuses and results, the same on the pages and in the extension (`_locales`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from app.domain.kinds import Kind, Outcome
from app.domain.messages import Message


class Shown(NamedTuple):
    """What a badge says, and its tone: good, fair, bad or none."""

    text: str
    tone: str = ""


EMAIL_STATUS = {
    "valid": Shown(Message("Verified"), "good"),
    "accept_all": Shown(Message("Domain accepts all mail"), "fair"),
    "risky": Shown(Message("Risky"), "fair"),
    "invalid": Shown(Message("Bounces"), "bad"),
    "unknown": Shown(Message("Unverified")),
}
IMPORTED = Shown(Message("Imported"))
"""A value that a list calls valid, and nobody has verified."""
VERDICTS = EMAIL_STATUS | {
    "unknown": Shown(Message("Unknown")),
    "suppressed": Shown(Message("Opted out"), "fair"),
}
"""Of a verification, which finds nothing: it says whether mail reaches an address."""
NUMBER_VERDICTS = {
    "valid": Shown(Message("Assigned"), "good"),
    "invalid": Shown(Message("Not assigned"), "bad"),
}
"""What the numbering plan of its country says of a number, which nobody calls."""
VALUE_TYPES = {
    "work": Message("Work"),
    "personal": Message("Personal"),
    "mobile": Message("Mobile"),
    "direct": Message("Direct line"),
    "hq": Message("Head office"),
    "other": Message("Other"),
}
LINE_TYPES = {"mobile": Message("Mobile"), "landline": Message("Landline"), "voip": Message("VoIP")}
"""What the numbering plan says of the line of a number."""
RESULTS = {
    "found": Shown(Message("Found"), "good"),
    "partial": Shown(Message("Partly found"), "fair"),
    "not_found": Shown(Message("Not found")),
    "suppressed": Shown(Message("Opted out"), "fair"),
    "excluded": Shown(Message("Excluded"), "fair"),
    "skipped": Shown(Message("Skipped")),
    "failed": Shown(Message("Failed"), "bad"),
    "expired": Shown(Message("Expired"), "bad"),
    "canceled": Shown(Message("Canceled")),
    "queued": Shown(Message("In progress"), "fair"),
    "running": Shown(Message("In progress"), "fair"),
}
"""Of jobs and of their items, by outcome or else by status."""
ON_PAGES = RESULTS | {"succeeded": Shown(Message("Succeeded"))}
"""A job that has ended without an outcome is listed on the pages only."""
VERIFIED = Shown(Message("Finished"), "good")
"""Of a verification that has ended: it does not find anything."""
_ANSWERED = frozenset({Outcome.FOUND, Outcome.PARTIAL, Outcome.NOT_FOUND})
PROVIDER_RESULTS = {
    "hit": Shown(Message("Found"), "good"),
    "miss": Shown(Message("Not found")),
    "known_miss": Shown(Message("Not found recently")),
    "ineligible": Shown(Message("Not applicable")),
    "suppressed": Shown(Message("Person opted out"), "fair"),
    "no_credits": Shown(Message("Out of credits at the provider"), "bad"),
    "unconfigured": Shown(Message("Not configured")),
    "rate_limited": Shown(Message("Rate limit reached"), "fair"),
    "cost_ceiling": Shown(Message("Over the cost limit"), "fair"),
    "circuit_open": Shown(Message("Unavailable"), "bad"),
    "timeout": Shown(Message("Timed out"), "bad"),
    "error": Shown(Message("Failed"), "bad"),
}
ROLES = {"member": Message("Member"), "admin": Message("Admin")}
CLIENTS = {"extension": Message("Chrome extension"), "browser page": Message("Browser")}


_ORDER = {name: place for place, name in enumerate((*EMAIL_STATUS, *RESULTS))}


def ranked(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the numbers of statuses or of results, the best ones first."""
    return sorted(counts.items(), key=lambda one: _ORDER.get(one[0], len(_ORDER)))


def email_status(status: str, *, is_verified: bool) -> Shown:
    """Return what the badge of a value says; a valid value that was not verified is an imported one."""
    if status == "valid" and not is_verified:
        return IMPORTED
    return EMAIL_STATUS.get(status, _unknown(status))


def verdict(status: str, *, of_number: bool = False) -> Shown:
    """Return what a verification says of an address or a number."""
    words = VERDICTS | NUMBER_VERDICTS if of_number else VERDICTS
    return words.get(status, _unknown(status))


def result(status: str, outcome: str | None, kind: str = "") -> Shown:
    """Return what the badge of a job or of an item says."""
    if kind == Kind.VERIFICATION and outcome in _ANSWERED:
        return VERIFIED
    return ON_PAGES.get(outcome or status, _unknown(outcome or status))


def provider_result(outcome: str) -> Shown:
    """Return what the badge of a provider in a receipt says."""
    return PROVIDER_RESULTS.get(outcome, _unknown(outcome))


def value_type(name: str) -> str:
    """Return the type of an address or a number as people call it."""
    return VALUE_TYPES.get(name, _unknown(name).text)


def role_words(name: str) -> str:
    """Return the role of an account as people call it."""
    return ROLES[name]


def client(name: str | None) -> str:
    """Return the program of a session as people call it."""
    return CLIENTS.get(name or "", name or Message("Unknown program"))


def _unknown(value: str) -> Shown:
    return Shown(value.replace("_", " ").capitalize())
