"""Classifies SMTP replies into verdicts on a mailbox.

Sources: RFC 5321, section 4.2 (reply codes); RFC 3463 and IANA's registry of enhanced status codes. Without
a specific enhanced status, the text of the reply is matched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from app.domain.findings import EmailStatus
from app.domain.normal.emails import email_reasons


class SmtpReply(Enum):
    """The meaning of a reply for a mailbox; LATER and UNCLEAR mean no verdict, for now or at all."""

    ACCEPTED = auto()
    NO_MAILBOX = auto()
    FULL = auto()
    DISABLED = auto()
    LATER = auto()
    UNCLEAR = auto()


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The replies for the mailbox and for a random one of the same domain."""

    mailbox: SmtpReply
    random_mailbox: SmtpReply = SmtpReply.UNCLEAR

    @property
    def should_retry(self) -> bool:
        """Return whether a retry in a few minutes may give a verdict."""
        accepted = self.mailbox is SmtpReply.ACCEPTED
        return self.mailbox is SmtpReply.LATER or (accepted and self.random_mailbox is SmtpReply.LATER)


_TRY_LATER = frozenset({450, 451, 452})
_REFUSALS = range(500, 600)
_BY_CODE = {
    250: SmtpReply.ACCEPTED,
    251: SmtpReply.ACCEPTED,
    550: SmtpReply.NO_MAILBOX,
    551: SmtpReply.NO_MAILBOX,
    552: SmtpReply.FULL,
    553: SmtpReply.NO_MAILBOX,
}
_BY_DETAIL = {
    "1.1": SmtpReply.NO_MAILBOX,
    "1.3": SmtpReply.NO_MAILBOX,
    "1.6": SmtpReply.NO_MAILBOX,
    "1.10": SmtpReply.NO_MAILBOX,
    "2.1": SmtpReply.DISABLED,
    "2.2": SmtpReply.FULL,
}
_GENERIC_CODES = frozenset({"", "0.0", "1.0", "2.0"})
_ENHANCED = re.compile(r"[245]\.(\d{1,3}\.\d{1,3})\b")
_ADDRESSES = re.compile(r"\S+@\S+")  # replies quote the address, whose text must not be matched
_GREYLIST = re.compile(r"gr[ae]y", re.IGNORECASE)
_POLICY = re.compile(
    r"spamhaus|spamcop|barracuda|bl[oa]c[ k]*list|\b(?:dns|r)bl\b|\bptr\b|reverse (?:dns|hostname)|\bspf\b"
    r"|reputation|client host|access denied|\b(?:blocked|banned|relay denied|relay not permitted)\b"
    r"|\brelay(?:ing)? (?:access )?(?:denied|not permitted|not allowed|prohibited)|unable to relay",
    re.IGNORECASE,
)
_BY_TEXT = (
    (re.compile(r"quota|(?:mail|in)box (?:is )?full|full (?:mail|in)box", re.IGNORECASE), SmtpReply.FULL),
    (re.compile(r"disabled|inactive|suspended|deactivated|not active", re.IGNORECASE), SmtpReply.DISABLED),
    (
        re.compile(r"not found|n[o']t exist|user unknown|unknown user|no such|n't have a", re.IGNORECASE),
        SmtpReply.NO_MAILBOX,
    ),
)
_STATUSES: dict[SmtpReply, tuple[EmailStatus, tuple[str, ...]]] = {
    SmtpReply.NO_MAILBOX: (EmailStatus.INVALID, ()),
    SmtpReply.FULL: (EmailStatus.RISKY, ("full_inbox",)),
    SmtpReply.DISABLED: (EmailStatus.RISKY, ("disabled",)),
}
_BY_RANDOM_MAILBOX = {SmtpReply.ACCEPTED: EmailStatus.ACCEPT_ALL, SmtpReply.NO_MAILBOX: EmailStatus.VALID}


def of_sender(code: int, text: str) -> SmtpReply:
    """Classify the reply to MAIL FROM: a refusal says nothing about the mailbox, at most when to retry."""
    reply = of_mailbox(code, text)
    return reply if reply in {SmtpReply.ACCEPTED, SmtpReply.LATER} else SmtpReply.UNCLEAR


def of_mailbox(code: int, text: str) -> SmtpReply:
    """Classify the reply to RCPT TO for the mailbox in question."""
    detail, text_without_addresses = _parts(text)
    if code in _REFUSALS:
        return _permanent_refusal(code, detail, text_without_addresses)
    if code not in _TRY_LATER:
        return _BY_CODE.get(code, SmtpReply.UNCLEAR)
    if detail == "2.2":
        return SmtpReply.FULL
    is_about_client = _POLICY.search(text_without_addresses) and not _GREYLIST.search(text_without_addresses)
    return SmtpReply.UNCLEAR if is_about_client else SmtpReply.LATER


def of_random_mailbox(code: int, text: str) -> SmtpReply:
    """Classify the reply to RCPT TO for a random mailbox, after another was accepted.

    Any permanent refusal shows that the domain is not a catch-all; so does a transient "no such user"
    (Postfix's address verification). 5.5.3 only means that there are two recipients.
    """
    detail, _words = _parts(text)
    if (code in _TRY_LATER and detail == "1.1") or (code in _REFUSALS and detail != "5.3"):
        return SmtpReply.NO_MAILBOX
    reply = of_mailbox(code, text)
    return reply if reply in {SmtpReply.ACCEPTED, SmtpReply.LATER} else SmtpReply.UNCLEAR


def verdict(email: str, result: ProbeResult) -> tuple[EmailStatus, tuple[str, ...]]:
    """Return the status and its reasons; a disposable address is at best risky."""
    status, reasons = _STATUSES.get(result.mailbox, (EmailStatus.UNKNOWN, ()))
    if result.mailbox is SmtpReply.ACCEPTED:
        status = _BY_RANDOM_MAILBOX.get(result.random_mailbox, EmailStatus.UNKNOWN)
    reasons += email_reasons(email)
    if "disposable" in reasons and status is not EmailStatus.INVALID:
        status = EmailStatus.RISKY
    return status, reasons


def _permanent_refusal(code: int, detail: str, text_without_addresses: str) -> SmtpReply:
    """Classify a permanent refusal.

    A policy, a block list or a missing reverse name (5.7.x) concerns the client. Microsoft 365 replies for a
    missing mailbox: 550 5.4.1 Recipient address rejected: Access denied.
    """
    if detail == "4.1" and "recipient address rejected" in text_without_addresses.lower():
        return SmtpReply.NO_MAILBOX
    if detail not in _GENERIC_CODES:
        return _BY_DETAIL.get(detail, SmtpReply.UNCLEAR)
    if _POLICY.search(text_without_addresses):
        return SmtpReply.UNCLEAR
    matches = (reply for pattern, reply in _BY_TEXT if pattern.search(text_without_addresses))
    return next(matches, _BY_CODE.get(code, SmtpReply.UNCLEAR))


def _parts(text: str) -> tuple[str, str]:
    """Return subject and detail of the enhanced status (`1.1` of 5.1.1, or ""), and the text of the reply."""
    match = _ENHANCED.match(text.strip())
    return match[1] if match else "", _ADDRESSES.sub("", text)
