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

from app.engine.contacts.bounce_reports import FeedbackKind
from app.features.quality import bounce_answers
from app.features.quality.no_bounces import NoBounce

_ADDRESS = re.compile(r"(?<![^\s@])[^\s@]*@[\w.-]*")
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
_SAID: tuple[tuple[FeedbackKind | NoBounce, tuple[str, ...]], ...] = (
    (
        FeedbackKind.HAS_LEFT,
        (
            "has left|^left$|left (?:the )?company",
            "no longer (?:with|at|works?|employed|an employee)",
        ),
    ),
    (FeedbackKind.WRONG_PERSON, ("wrong (?:person|contact)|another person",)),
    (
        FeedbackKind.WRONG_NUMBER,
        ("wrong number|disconnected|(?:not in|out of) service|number invalid",),
    ),
    (
        NoBounce.OTHER,
        ("^(?:reject(?:ed)?|delivery|send|processed|requests?|rendering failure)$",),
    ),
    (
        NoBounce.NOT_SENT,
        (
            "suppressed|suppression list|preblocked|manual suppression|manually deactivated|admin blocked",
            "(?:smtp api|inbound) error|template rendering failed",
        ),
    ),
    (
        NoBounce.UNWANTED,
        (
            "(?:spam ?)?complain(?:ts?|ed)|abuse|spam ?reports?|unsub(?:scribed?)?|opt(?:ed)? ?out",
            "flagged as spam|spam reporting|d[ée]sabonn[ée]e?|abgemeldet",
        ),
    ),
    (
        NoBounce.TEMPORARY,
        (
            "soft|softbounces?|transient|temporar(?:y|ily)|defer(?:red|ral)|delay(?:ed)?",
            "(?:over ?)?quota|full|timeout|timed out|gr[ae]y ?list(?:ed|ing)?|dns|auto ?responder",
            "try (?:again|later)|too old|expired|rate limit(?:ed)?|frequency|retr(?:y|ied)|retrying",
            "busy|load|queue|exceed(?:s|ed)|will continue|not yet|can't connect",
            "on leave|auto ?reply|vacation",
            "suave|blando|souple|temporaire|temporal",
        ),
    ),
    (
        NoBounce.REFUSED,
        (
            "(?:esp ?)?block(?:ed|s)?|policy|dmarc|content|spam|virus|reputation|throttl(?:ed|ing)",
            "filtered|misconfiguration|blacklist(?:ed)?|(?:message|attachment) (?:too large|rejected)",
            "(?:is|mime) rejected|invalid sender|refused",
            "denied|forbidden|not (?:allowed|authori[sz]ed|permitted)",
            "prohibit(?:ed|ion)|relay(?:ing)?|authenticat(?:e|ion)|dynamic ip|bad ip|ant[iy] ?spam\\w*",
            "domain ?keys|security|comply|transaction (?:failed|rejected)|protected|that you verify",
            "junk mail|invalid (?:data|structure)|(?:duplicate|multiple) (?:\\w+ )?headers?|mime error",
        ),
    ),
    (NoBounce.UNCLEAR, ("undetermined|^unknown$|^error$",)),
    (
        FeedbackKind.BOUNCE,
        (
            "hard|hardbounces?|permanent|bounced?|invalid|unknown user|user unknown|rejected",
            "bad (?:email address|mailbox|domain)|non ?existent|inactive mailbox",
            "rebotad[oa]|rebote|rimbalzat[oa]|devolvid[oa]|^(?:duro?|dure)$",
            "cleaned|undeliverable|does ?n[o']?t exist|no such|not found",
        ),
    ),
    (
        NoBounce.OTHER,
        (
            "delivered|opened?|click(?:ed)?|sent|accepted|(?:re)?subscribed?|loaded by proxy",
            "(?:address|subscription) change|challenge verification|unconfirmed|open relay test",
        ),
    ),
    (FeedbackKind.VALID, ("^(?:valid|works|replied|correct)",)),
)
"""What words mean; the first that a cell has decides."""
_WORDS = tuple((re.compile(rf"\b(?:{'|'.join(words)})\b"), meaning) for meaning, words in _SAID)
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
    said = " ".join(filter(_is_said, _ADDRESS.sub(" ", cell).split()))
    answered = bounce_answers.meaning(cell, _BETWEEN.sub(" ", said).strip().lower())
    if answered is not None:
        return answered
    text = _BETWEEN.sub(" ", _CAMEL.sub(" ", said)).strip().lower()
    of_code = next((what for code in _ENHANCED.findall(text) if (what := _of_code(code))), None)
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
    """Return whether a word is not a link or a host, which say nothing about the cause."""
    return not ("://" in word or _HOST.fullmatch(word))


def _of_code(code: str) -> FeedbackKind | NoBounce | None:
    return next((what for what, codes in _CODES if re.match(codes, code)), None)
