"""What a mail server's answers say of a mailbox.

Sources: RFC 5321, section 4.2 (reply codes); RFC 3463 and IANA's registry of enhanced status codes. Where a
server gives no enhanced status, or one that says little, its words count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from app.domain.findings import EmailStatus
from app.domain.normal.emails import email_reasons


class SmtpReply(Enum):
    """What one answer says of the mailbox; or that it says nothing, now or ever."""

    ACCEPTED = auto()
    NO_MAILBOX = auto()
    FULL = auto()
    DISABLED = auto()
    LATER = auto()
    UNCLEAR = auto()


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What was heard of the mailbox, and of one at the same domain that nobody can have."""

    mailbox: SmtpReply
    nobody: SmtpReply = SmtpReply.UNCLEAR

    @property
    def is_for_later(self) -> bool:
        """Tell whether the same question may be answered in a few minutes."""
        taken = self.mailbox is SmtpReply.ACCEPTED
        return self.mailbox is SmtpReply.LATER or (taken and self.nobody is SmtpReply.LATER)


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
_ADDRESSES = re.compile(r"\S+@\S+")  # a server repeats the address, whose words are not the server's
_GREYLIST = re.compile(r"gr[ae]y", re.IGNORECASE)
_POLICY = re.compile(
    r"spamhaus|spamcop|barracuda|bl[oa]c[ k]*list|\b(?:dns|r)bl\b|\bptr\b|reverse (?:dns|hostname)|\bspf\b"
    r"|reputation|client host|access denied|\b(?:blocked|banned|relay denied|relay not permitted)\b"
    r"|\brelay(?:ing)? (?:access )?(?:denied|not permitted|not allowed|prohibited)|unable to relay",
    re.IGNORECASE,
)
_BY_WORDS = (
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
_WHERE_ACCEPTED = {SmtpReply.ACCEPTED: EmailStatus.ACCEPT_ALL, SmtpReply.NO_MAILBOX: EmailStatus.VALID}


def of_sender(code: int, text: str) -> SmtpReply:
    """Read the answer to MAIL FROM: a refusal says nothing of the mailbox, at most to come again."""
    answer = of_mailbox(code, text)
    return answer if answer in {SmtpReply.ACCEPTED, SmtpReply.LATER} else SmtpReply.UNCLEAR


def of_mailbox(code: int, text: str) -> SmtpReply:
    """Read the answer to RCPT TO of the mailbox in question."""
    detail, words = _parts(text)
    if code in _REFUSALS:
        return _refusal(code, detail, words)
    if code not in _TRY_LATER:
        return _BY_CODE.get(code, SmtpReply.UNCLEAR)
    if detail == "2.2":
        return SmtpReply.FULL
    is_about_us = _POLICY.search(words) and not _GREYLIST.search(words)
    return SmtpReply.UNCLEAR if is_about_us else SmtpReply.LATER


def of_random_mailbox(code: int, text: str) -> SmtpReply:
    """Read the answer to RCPT TO of a mailbox that nobody can have, next to one that was taken.

    Whatever its reason, a lasting refusal shows that the domain does not take everything; so does "no such
    user" as a passing one (Postfix's address verification). 5.5.3 is only about there being two recipients.
    """
    detail, _words = _parts(text)
    if (code in _TRY_LATER and detail == "1.1") or (code in _REFUSALS and detail != "5.3"):
        return SmtpReply.NO_MAILBOX
    answer = of_mailbox(code, text)
    return answer if answer in {SmtpReply.ACCEPTED, SmtpReply.LATER} else SmtpReply.UNCLEAR


def verdict(email: str, heard: ProbeResult) -> tuple[EmailStatus, tuple[str, ...]]:
    """Give the status and its reasons; a disposable address is at best risky, whatever a server says."""
    status, reasons = _STATUSES.get(heard.mailbox, (EmailStatus.UNKNOWN, ()))
    if heard.mailbox is SmtpReply.ACCEPTED:
        status = _WHERE_ACCEPTED.get(heard.nobody, EmailStatus.UNKNOWN)
    reasons += email_reasons(email)
    if "disposable" in reasons and status is not EmailStatus.INVALID:
        status = EmailStatus.RISKY
    return status, reasons


def _refusal(code: int, detail: str, words: str) -> SmtpReply:
    """Read a lasting refusal.

    A policy, a block list or a missing reverse name (5.7.x) is about who asks. Microsoft 365 says of a
    mailbox that is not there: 550 5.4.1 Recipient address rejected: Access denied.
    """
    if detail == "4.1" and "recipient address rejected" in words.lower():
        return SmtpReply.NO_MAILBOX
    if detail not in _GENERIC_CODES:
        return _BY_DETAIL.get(detail, SmtpReply.UNCLEAR)
    if _POLICY.search(words):
        return SmtpReply.UNCLEAR
    said = (answer for pattern, answer in _BY_WORDS if pattern.search(words))
    return next(said, _BY_CODE.get(code, SmtpReply.UNCLEAR))


def _parts(text: str) -> tuple[str, str]:
    """Give subject and detail of the enhanced status (`1.1` of 5.1.1, or nothing), and the server's words."""
    found = _ENHANCED.match(text.strip())
    return found[1] if found else "", _ADDRESSES.sub("", text)
