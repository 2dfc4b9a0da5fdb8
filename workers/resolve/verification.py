"""Verification: what can be said of an address besides what its source says."""

from __future__ import annotations

from dataclasses import replace

from app.domain.findings import EmailStatus, FoundEmail
from app.domain.normal.emails import email_reasons


def assess(found: FoundEmail) -> FoundEmail:
    """Add what the address itself tells: role, disposable, webmail. A disposable one is at best risky."""
    reasons = tuple(dict.fromkeys((*found.reasons, *email_reasons(found.email))))
    status = found.status
    if "disposable" in reasons and status in {EmailStatus.VALID, EmailStatus.ACCEPT_ALL}:
        status = EmailStatus.RISKY
    return replace(found, reasons=reasons, status=status)
