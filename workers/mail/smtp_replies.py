"""Classifies SMTP replies into verdicts on a mailbox.

Sources: RFC 5321, section 4.2 (reply codes); RFC 3463 and IANA's registry of enhanced status codes. Without
a specific enhanced status, the words of the reply decide. `benchmarks/verification` has the replies of mail
systems, with their sources. A reply that is in doubt is UNCLEAR: no verdict is better than a wrong one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from app.domain.findings import EmailStatus
from app.domain.normal.emails import email_reasons


class SmtpReply(Enum):
    """The meaning of a reply for a mailbox.

    The last four mean no verdict: LATER for now, BLOCKED because the server refuses this client, UNREACHABLE
    because no server answered, and UNCLEAR because the reply does not tell.
    """

    ACCEPTED = auto()
    NO_MAILBOX = auto()
    FULL = auto()
    DISABLED = auto()
    LATER = auto()
    BLOCKED = auto()
    UNREACHABLE = auto()
    UNCLEAR = auto()


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The replies for the mailbox and for a random one of the same domain.

    `retry_after` is the delay in seconds that a greylist asks for, None if it names none.
    """

    mailbox: SmtpReply
    random_mailbox: SmtpReply = SmtpReply.UNCLEAR
    retry_after: float | None = None

    @property
    def should_retry(self) -> bool:
        """Return whether a retry in a few minutes may give a verdict."""
        accepted = self.mailbox is SmtpReply.ACCEPTED
        return self.mailbox is SmtpReply.LATER or (accepted and self.random_mailbox is SmtpReply.LATER)

    @property
    def reason(self) -> str:
        """Return why there is no verdict, as the trace shows it."""
        last = self.random_mailbox if self.mailbox is SmtpReply.ACCEPTED else self.mailbox
        return _REASONS.get(last, "unclear")


_REASONS = {
    SmtpReply.LATER: "greylisted",
    SmtpReply.BLOCKED: "blocked",
    SmtpReply.UNREACHABLE: "unreachable",
}
_TRY_LATER = frozenset({421, 450, 451, 452})
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
_GENERIC_DETAILS = frozenset({"", "0.0", "1.0", "2.0"})
_MISSING_BY_DETAIL = {
    "4.1": re.compile(r"recipient address rejected: access denied", re.IGNORECASE),  # Microsoft 365
    "5.0": re.compile(r"mailbox unavailable", re.IGNORECASE),  # Outlook.com
    "7.1": re.compile(  # Proofpoint
        r"recipient address rejected: (?:no such|unknown user|user (?:unknown|not found|email address is))",
        re.IGNORECASE,
    ),
}
"""Replies that mean a missing mailbox despite their enhanced status, by vendor, unless they name a policy."""
_ENHANCED = re.compile(r"(?:^#?|\(#)[245]\.(\d{1,3}\.\d{1,3})\b")  # Cisco writes #5.1.0, qmail (#5.1.1)
_QUOTED = re.compile(r"https?://\S+|(?<![^\s@<>(])[^\s@<>(]+@[\w.-]+")
"""Links and addresses, whose text must not be matched."""
_CLOCK = re.compile(r"\b(\d{1,2}):(\d\d)(?::(\d\d))\b")
_DELAY = re.compile(r"\b(\d{1,5}) ?(s|m)(?:ec|in)?\w*", re.IGNORECASE)
_GREYLIST = re.compile(r"gr[ae]y", re.IGNORECASE)
_RELAY = re.compile(
    r"\brelay(?:ing)? (?:access )?(?:denied|not permitted|not allowed|prohibited)|unable to relay",
    re.IGNORECASE,
)
_BLOCK = (
    r"spamhaus|spamcop|barracuda|bl[oa]c[ k]*list|\b(?:dns|r)bl\b|\bptr\b|reverse (?:dns|hostname)|reputation"
    r"|client host|dynamic (?:ip|address|host)|\bconnections? from\b|\bmail from this\b"
    r"|\bfrom (?:this|your) (?:address|ip|host|server|network|location|country|range|system)"
    r"|\byour (?:ip|host|server|network|access)\b|\b(?:sending|sender|source|client|the) ip\b"
)
"""Words about the address of this client, which all recipients of a mail provider have in common."""
_BLOCKED = re.compile(_BLOCK, re.IGNORECASE)
_CLIENT = re.compile(rf"{_BLOCK}|\bspf\b|access denied|\bblocked\b|\bbanned\b", re.IGNORECASE)
"""Words about the client; a transient refusal with such words is taken for a lasting one."""
_POLICY = re.compile(
    r"\bip\b|\bsender\b|\bpolic(?:y|ies)\b|\bspam\b|prohibit|not allowed to|not authori[sz]ed|rcpthosts"
    r"|too many|\bhelo\b|\bdmarc\b|\bdkim\b"
    r"|\byour (?:access|server|host|domain|e?-?mail|message|network)\b",
    re.IGNORECASE,
)
"""Words about the sender, the mail or rules, not about the recipient."""
_RECIPIENT = re.compile(
    r"user|mail ?box|recipient|address|account|alias|unknown|invalid|unrout"
    r"|unbekannt|inconnu|desconocid|onbekend",
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
    known = {SmtpReply.ACCEPTED, SmtpReply.LATER, SmtpReply.BLOCKED}
    return reply if reply in known else SmtpReply.UNCLEAR


def of_mailbox(code: int, text: str) -> SmtpReply:
    """Classify the reply to RCPT TO for the mailbox in question."""
    detail, words = _parts(text)
    if code in _REFUSALS:
        return _permanent_refusal(code, detail, words)
    if code not in _TRY_LATER:
        return _BY_CODE.get(code, SmtpReply.UNCLEAR)
    if detail == "2.2":
        return SmtpReply.FULL
    return _refusal_of_client(words) if _is_lasting(words) else SmtpReply.LATER


def retry_seconds(text: str) -> float | None:
    """Return the delay that a greylist asks for: `in 1200 seconds`, `in 00:20:00`, `20 minutes`."""
    if clock := _CLOCK.search(text):
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return float(3600 * hours + 60 * minutes + seconds)
    delay = _DELAY.search(text)
    return None if delay is None else float(int(delay[1]) * (60 if delay[2].lower() == "m" else 1))


def of_random_mailbox(code: int, text: str) -> SmtpReply:
    """Classify the reply to RCPT TO for a random mailbox, after another was accepted.

    A transient "no such user" (Postfix's address verification) also shows that the domain is not a catch-all,
    and so does a refusal to relay, which depends on the recipient alone. Any other refusal may be due to the
    number of recipients.
    """
    detail, words = _parts(text)
    is_relay_refusal = code in _REFUSALS and _RELAY.search(words)
    if is_relay_refusal or (code in _TRY_LATER and detail == "1.1"):
        return SmtpReply.NO_MAILBOX
    reply = of_mailbox(code, text)
    conclusive = {SmtpReply.ACCEPTED, SmtpReply.NO_MAILBOX, SmtpReply.LATER}
    return reply if reply in conclusive else SmtpReply.UNCLEAR


def verdict(email: str, result: ProbeResult) -> tuple[EmailStatus, tuple[str, ...]]:
    """Return the status and its reasons; a disposable address is at best risky."""
    status, reasons = _STATUSES.get(result.mailbox, (EmailStatus.UNKNOWN, ()))
    if result.mailbox is SmtpReply.ACCEPTED:
        status = _BY_RANDOM_MAILBOX.get(result.random_mailbox, EmailStatus.UNKNOWN)
    reasons += email_reasons(email)
    if "disposable" in reasons and status is not EmailStatus.INVALID:
        status = EmailStatus.RISKY
    return status, reasons


def _permanent_refusal(code: int, detail: str, words: str) -> SmtpReply:
    """Classify a permanent refusal.

    A policy, a block list or a missing reverse name (5.7.x) concerns the client. Without a specific enhanced
    status, the code counts only if the text is about the recipient: 550 also stands for policies.
    """
    missing = _MISSING_BY_DETAIL.get(detail)
    if missing and missing.search(words) and not _POLICY.search(words):
        return SmtpReply.NO_MAILBOX
    if detail not in _GENERIC_DETAILS:
        return _BY_DETAIL.get(detail, _refusal_of_client(words))
    if any(pattern.search(words) for pattern in (_CLIENT, _RELAY, _POLICY)):
        return _refusal_of_client(words)
    for pattern, reply in _BY_TEXT:
        if pattern.search(words):
            return reply
    reply = _BY_CODE.get(code, SmtpReply.UNCLEAR)
    is_plausible = reply is SmtpReply.FULL or _RECIPIENT.search(words)
    return reply if is_plausible else SmtpReply.UNCLEAR


def _refusal_of_client(words: str) -> SmtpReply:
    """Return whether all mailboxes are refused to this client, or perhaps only this one."""
    return SmtpReply.BLOCKED if _BLOCKED.search(words) else SmtpReply.UNCLEAR


def _is_lasting(words: str) -> bool:
    """Return whether the text of a transient refusal is about the client, unless about its greylisting."""
    return bool(_CLIENT.search(words) and not _GREYLIST.search(words))


def _parts(text: str) -> tuple[str, str]:
    """Return subject and detail of the enhanced status (`1.1` of 5.1.1, or ""), and the reply's words."""
    match = _ENHANCED.search(text.strip())
    return match[1] if match else "", _QUOTED.sub("", text)
