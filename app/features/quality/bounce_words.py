"""What a line of a bounce list says happened: the words and codes that mail programs write.

Sources: RFC 3463 and RFC 5321 for the codes; for the words of JSON events, `bounce_events`. Of exports as
CSV: Postmark's types of bounces (postmarkapp.com/developer/api/bounce-api), SendGrid's fields `created,
email, reason, status`, Mailgun's `address, code, error, created_at`, and CLEAN_TIME and CLEAN_CAMPAIGN_TITLE
of Mailchimp's cleaned contacts, as public importers read them. The columns of HubSpot's CSV are not
documented publicly; its words are those of its API.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from app.engine.contacts.bounce_reports import FeedbackKind


class NoBounce(StrEnum):
    """Why a line is not reported."""

    TEMPORARY = "This failure is temporary: the address may work later."
    REFUSED = "The mail was refused for another reason than the address, such as its content or its sender."
    UNWANTED = "This is a complaint or an unsubscription: the address works."
    NOT_SENT = (
        "The mail was not sent, as the address is on a list of the mail program. Report the bounce itself."
    )
    UNCLEAR = "It is not said why the mail failed."
    OTHER = "This is not a bounce."


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN = re.compile(r"[\s_\-/]+")
_ENHANCED = re.compile(r"(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.])")
_BASIC = re.compile(r"(?<![\d.])(4\d\d|55[0-4])(?![\d.])")
_OVER_QUOTA = "552"
_HOST = re.compile(r"(?:[\w-]+\.){2,}[a-z]{2,}\W*", re.IGNORECASE)
_CODES: tuple[tuple[FeedbackKind | NoBounce, str], ...] = (
    (NoBounce.OTHER, r"2\."),
    (NoBounce.TEMPORARY, r"4\.|5\.2\.2$|5\.4\.7$"),  # a full mailbox, and an expired time of delivery
    (NoBounce.REFUSED, r"5\.1\.[78]$|5\.2\.[34]$|5\.3\.[1-5]$|5\.[67]\."),  # sender, size, policy
    (FeedbackKind.BOUNCE, r"5\.[12]\."),
)
"""Enhanced codes (RFC 3463) that say enough; of others, such as 5.0.0, the words beside them do."""
_SAID: tuple[tuple[FeedbackKind | NoBounce, str], ...] = (
    (FeedbackKind.HAS_LEFT, "has left|left (?:the )?company|no longer (?:with|at|works?|employed)"),
    (FeedbackKind.WRONG_PERSON, "wrong (?:person|contact)|another person"),
    (FeedbackKind.WRONG_NUMBER, "wrong number|disconnected|(?:not in|out of) service|number invalid"),
    (NoBounce.NOT_SENT, "suppressed|suppression list|manual suppression|manually deactivated|admin blocked"),
    (NoBounce.NOT_SENT, "(?:smtp api|inbound) error|template rendering failed"),
    (NoBounce.UNWANTED, "(?:spam ?)?complain(?:ts?|ed)|abuse|spam ?reports?|unsubscribed?|opt(?:ed)? ?out"),
    (NoBounce.UNWANTED, "flagged as spam|spam reporting"),
    (NoBounce.TEMPORARY, "soft|softbounces?|transient|temporar(?:y|ily)|defer(?:red|ral)|delay(?:ed)?"),
    (
        NoBounce.TEMPORARY,
        "(?:over ?)?quota|full|timeout|timed out|gr[ae]y ?list(?:ed|ing)?|dns|auto ?responder",
    ),
    (NoBounce.TEMPORARY, "try again|too old|expired|rate limit(?:ed)?|frequency"),
    (
        NoBounce.REFUSED,
        "(?:esp ?)?block(?:ed|s)?|policy|dmarc|content|spam|virus|reputation|throttl(?:ed|ing)",
    ),
    (
        NoBounce.REFUSED,
        "filtered|misconfiguration|(?:message|attachment) (?:too large|rejected)|blacklist(?:ed)?",
    ),
    (NoBounce.UNCLEAR, "undetermined|^unknown$|^error$"),
    (FeedbackKind.BOUNCE, "hard|hardbounces?|permanent|bounced?|invalid|unknown user|user unknown|rejected"),
    (FeedbackKind.BOUNCE, "bad email address|cleaned|undeliverable|does ?n[o']?t exist|no such|not found"),
    (NoBounce.OTHER, "delivered|opened?|click(?:ed)?|sent|accepted|(?:re)?subscribed?|loaded by proxy"),
    (NoBounce.OTHER, "address change|challenge verification|unconfirmed|open relay test"),
    (NoBounce.OTHER, "^(?:delivery|send|processed|requests?|rendering failure)$"),
    (FeedbackKind.VALID, "valid|works|replied|correct"),
)
"""What words mean; the first that a cell has decides."""
_WORDS = tuple((re.compile(rf"\b(?:{words})\b"), meaning) for meaning, words in _SAID)
_REFUTES = frozenset(NoBounce) - {NoBounce.OTHER}
"""Meanings of a later cell that overrule a bounce: a server may contradict what a program calls hard."""


def meaning(cells: Iterable[str]) -> FeedbackKind | NoBounce | None:
    """Return what the first of the cells that says anything says; None if none does.

    A bounce does not count if a later cell says, for example, that the mailbox is full or a policy refused
    the mail.
    """
    said = [found for cell in cells if (found := _of_cell(cell)) is not None]
    if not said or said[0] is not FeedbackKind.BOUNCE:
        return said[0] if said else None
    return next((found for found in said if found in _REFUTES), FeedbackKind.BOUNCE)


def _of_cell(cell: str) -> FeedbackKind | NoBounce | None:
    text = _BETWEEN.sub(" ", _CAMEL.sub(" ", " ".join(filter(_is_said, cell.split())))).strip().lower()
    code = _ENHANCED.search(text)
    of_code = None if code is None else _of_code(code[0])
    if of_code is not None:
        return of_code
    if text in {kind.value.replace("_", " ") for kind in FeedbackKind}:
        return FeedbackKind(text.replace(" ", "_"))
    found = next((what for words, what in _WORDS if words.search(text)), None)
    if found is None and (basic := _BASIC.search(text)) is not None:
        is_temporary = basic[1].startswith("4") or basic[1] == _OVER_QUOTA
        return NoBounce.TEMPORARY if is_temporary else FeedbackKind.BOUNCE
    return found


def _is_said(word: str) -> bool:
    """Return whether a word is not an address, a link or a host, which say nothing about the cause."""
    return not ("@" in word or "://" in word or _HOST.fullmatch(word))


def _of_code(code: str) -> FeedbackKind | NoBounce | None:
    return next((what for what, codes in _CODES if re.match(codes, code)), None)
