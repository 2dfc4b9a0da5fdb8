"""What a line of a bounce list says happened: the words and codes that mail programs write.

Checked: RFC 3463 for the codes, Postmark's types of bounces (postmarkapp.com/developer/api/bounce-api), and
the fields of SendGrid's bounces, `created, email, reason, status`. Not checked against documentation: the
words of Amazon SES, Brevo, HubSpot, Mailchimp and Mailgun.
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
    OTHER = "This is not a bounce."


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN = re.compile(r"[\s_\-/]+")
_ENHANCED = re.compile(r"(?<![\d.])([245])\.(\d{1,3})\.\d{1,3}(?![\d.])")
_BASIC = re.compile(r"(?<![\d.])(4\d\d|55[0-4])(?![\d.])")
_FULL, _POLICY = "2", "7"
"""Subjects of enhanced codes: a mailbox that is full or disabled, and security or policy (RFC 3463)."""
_DISABLED = ("5.2.1", "5.2.0")
_SAID: tuple[tuple[FeedbackKind | NoBounce, str], ...] = (
    (FeedbackKind.HAS_LEFT, "has left|left (?:the )?company|no longer (?:with|at|works?|employed)"),
    (FeedbackKind.WRONG_PERSON, "wrong (?:person|contact)|another person"),
    (FeedbackKind.WRONG_NUMBER, "wrong number|disconnected|(?:not in|out of) service|number invalid"),
    (NoBounce.UNWANTED, "(?:spam ?)?complain(?:ts?|ed)|abuse|spam reports?|unsubscribed?|opt(?:ed)? ?out"),
    (NoBounce.TEMPORARY, "soft|softbounces?|transient|temporar(?:y|ily)|defer(?:red|ral)|delayed|try again"),
    (NoBounce.TEMPORARY, "(?:over ?)?quota|full|timeout|timed out|greylist(?:ed|ing)?|dns|auto ?responder"),
    (NoBounce.REFUSED, "block(?:ed|s)?|policy|dmarc|content|spam|virus|reputation|throttl(?:ed|ing)"),
    (FeedbackKind.BOUNCE, "hard|hardbounces?|permanent|bounced?|invalid|unknown user|user unknown|rejected"),
    (FeedbackKind.BOUNCE, "bad email address|cleaned|undeliverable|does ?n[o']?t exist|no such|not found"),
    (NoBounce.OTHER, "delivered|opened?|click(?:ed)?|sent|accepted|subscribe"),
    (FeedbackKind.VALID, "valid|works|replied|correct"),
)
"""What words mean; the first that a cell has decides."""
_WORDS = tuple((re.compile(rf"\b(?:{words})\b"), meaning) for meaning, words in _SAID)


def meaning(cells: Iterable[str]) -> FeedbackKind | NoBounce | None:
    """Return what the first of the cells that says anything says; None if none does."""
    return next((found for cell in cells if (found := _of_cell(cell)) is not None), None)


def _of_cell(cell: str) -> FeedbackKind | NoBounce | None:
    text = _BETWEEN.sub(" ", _CAMEL.sub(" ", cell)).strip().lower()
    if (code := _ENHANCED.search(text)) is not None:
        return _of_code(code)
    if text in {kind.value.replace("_", " ") for kind in FeedbackKind}:
        return FeedbackKind(text.replace(" ", "_"))
    found = next((what for words, what in _WORDS if words.search(text)), None)
    if found is None and (basic := _BASIC.search(text)) is not None:
        return NoBounce.TEMPORARY if basic[1].startswith("4") else FeedbackKind.BOUNCE
    return found


def _of_code(code: re.Match[str]) -> FeedbackKind | NoBounce:
    """Return what an enhanced status code of RFC 3463 says."""
    kind, subject = code[1], code[2]
    if kind != "5":
        return NoBounce.TEMPORARY if kind == "4" else NoBounce.OTHER
    if subject == _POLICY:
        return NoBounce.REFUSED
    is_full = subject == _FULL and code[0] not in _DISABLED
    return NoBounce.TEMPORARY if is_full else FeedbackKind.BOUNCE
