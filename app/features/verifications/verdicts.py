"""Verdicts as the items of jobs store them: in the format of the values of an enrichment."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from app.domain.findings import EmailStatus, FoundEmail
from app.domain.normal.emails import email_domain, email_kind, email_reasons
from app.domain.normal.phones.phones import phone_from_e164
from app.engine.own_records.own_verifications import Verdict
from app.infra.clock import rfc3339

_NOTHING: dict[str, Any] = {
    "contact": None,
    "company": None,
    "emails": [],
    "phones": [],
    "sources": {"contact": {}, "company": {}},
    "conflicts": [],
}


def of_email(verdict: FoundEmail) -> dict[str, Any]:
    """Return the result of an address that was verified."""
    email = {
        "email": verdict.email,
        "type": email_kind(verdict.email),
        "status": verdict.status.value,
        "status_reasons": list(dict.fromkeys((*verdict.reasons, *email_reasons(verdict.email)))),
        "confidence": None,
        "primary": False,
        "verified_at": rfc3339(verdict.verified_at),
        "sources": [],
    }
    return _NOTHING | {"emails": [email]}


def of_phone(e164: str) -> dict[str, Any]:
    """Return what the numbering plan says of a number: no line was called, and none was looked up."""
    number = phone_from_e164(e164)
    phone: dict[str, Any] = {
        "e164": number.e164,
        "national": number.national,
        "extension": None,
        "country": number.country,
        "type": "other",
        "line_type": number.line_type,
        "status": (EmailStatus.VALID if number.is_assigned else EmailStatus.INVALID).value,
        "confidence": None,
        "do_not_call": None,
        "verified_at": None,
        "sources": [],
    }
    return _NOTHING | {"phones": [phone]}


def status_of(result: Mapping[str, Any] | None) -> str:
    """Return the status of the value of an item."""
    values = [*result.get("emails", ()), *result.get("phones", ())] if result else []
    return str(values[0]["status"]) if values else EmailStatus.UNKNOWN.value


def accept_all_domain(result: Mapping[str, Any] | None) -> str | None:
    """Return the domain of an address whose mail host accepts all mail; None for any other item."""
    emails = result.get("emails") if result else None
    if not emails or emails[0]["status"] != EmailStatus.ACCEPT_ALL:
        return None
    return email_domain(emails[0]["email"])


def valid_email(result: Mapping[str, Any] | None) -> tuple[str, Verdict] | None:
    """Return a valid address with its verdict; None for any other item."""
    emails = result.get("emails") if result else None
    if not emails or emails[0]["status"] != EmailStatus.VALID or emails[0]["verified_at"] is None:
        return None
    verified_at = datetime.fromisoformat(emails[0]["verified_at"])
    return emails[0]["email"], Verdict(emails[0]["status"], verified_at)


def at_most_accept_all(
    result: Mapping[str, Any] | None, accept_all: Collection[str]
) -> dict[str, Any] | None:
    """Return the result, `accept_all` instead of `valid` for an address at one of these domains."""
    emails = result.get("emails") if result else None
    if not result or not emails or emails[0]["status"] != EmailStatus.VALID:
        return dict(result) if result else None
    if email_domain(emails[0]["email"]) not in accept_all:
        return dict(result)
    return {**result, "emails": [{**emails[0], "status": EmailStatus.ACCEPT_ALL.value}]}
