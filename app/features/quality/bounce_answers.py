"""What the answer of a mail server says about an address, where its words say more than its code.

Servers send 550 and 5.1.0 to a sender that they block, and 5.7.1 for a mailbox that does not exist. The
sources of the answers are in tests/features/quality/cases/answers.txt.
"""

from __future__ import annotations

import re

from app.engine.contacts.bounce_reports import FeedbackKind
from app.features.quality.no_bounces import NoBounce

_NOUN = "(?:users?|recipients?|mailbox|address(?:ee)?|account|alias|domain|e ?mail account)"
_GONE = (
    "unknown|unallocated|inactiv(?:e|ated)|disabled|deactivated|discontinued|terminated"
    "|suspend(?:ed)?|(?:closed|blocked) due to inactivity|has been replaced"
    r"|not (?:a (?:\w+ )?member|available|found|known|listed|valid|activ(?:e|ated)|exist)"
    "|no longer (?:exists?|valid|available|active)|(?:does ?n[o']?t|do not) (?:exist|have an?)"
)
_ANSWERS: tuple[tuple[FeedbackKind | NoBounce, tuple[str, ...]], ...] = (
    (FeedbackKind.BOUNCE, (r"\bsent a hard bounce\b",)),  # Amazon SES: the rest is advice
    (
        NoBounce.REFUSED,
        (
            r"(?<!not )\blisted (?:at|by|in|on)\b|\bfound (?:on|in) (?:one or more )?\w*(?:bl|list)s?\b",
            r"(?:black|block|deny) ?list(?:ed|s)?\b|\b(?:rbl|dnsbls?|dmarc|spf|dkim)\b|reputation|\(bl\)",
            r"\bptr (?:lookup|record)|reverse dns|\bip address\b|\bip\W{1,3}\d|\bclient host\b",
            r"\b(?:your|sending|sender|client|invalid|banned sending) ip\b|\bsender\b|\bmail ?from\b",
            r"\b(?:access|connections?|mail|message) from\b",
        ),
    ),
    (
        NoBounce.TEMPORARY,
        (
            r"temporar(?:y|ily)|\b(?:try|again) later\b|\bout of (?:the )?office\b|\bvacation\b",
            r"\bover (?:\w+ ){0,2}quota|quota (?:\w+ )?exceeded|\b(?:is|mailbox|storage) full\b",
            r"\b(?:pleine|voll|lleno)\b|(?:not (?:have )?enough|insufficient) (?:\w+ )?(?:space|storage)",
            r"\bspace not enough\b|exceed\w* (?:\w+ )?(?:storage|quota|size)|file too large",
            r"\bno route to\b|\bconnection (?:was )?(?:refused|timed|reset|dropped|broken|lost)",
        ),
    ),
    (
        NoBounce.REFUSED,
        (
            r"\btoo many\b|\bhop count\b|\b(?:routing|mail) loop\b|\bloops back\b",
            r"\brelay(?:ing)? (?:access )?(?:denied|not|prohibited)|\b(?:un)?able to relay\b",
        ),
    ),
    (
        FeedbackKind.BOUNCE,
        (
            rf"\b(?:unknown|invalid|non ?existent|bad|illegal) (?:\w+ ){{0,2}}{_NOUN}\b",
            rf"\bno(?:t a)? (?:such|valid) (?:\w+ )?{_NOUN}\b|\bno (?:mailbox|user|account)\b",
            rf"\b{_NOUN}\b[^.;:]{{0,60}}(?<![\w'])(?<!not )(?:{_GONE})\b",
            r"\b(?:account|mailbox|alias|domain)\b[^.;:]{0,60}(?<!message )(?<!not )\bexpired\b",
            r"\b(?:host|local part) unknown\b|\bunknown local part\b|\bunrouteable (?:mail )?address",
            r"5\.4\.1\b.{0,40}\baccess denied\b",  # Exchange Online: there is no such recipient
            r"unbekannt\b|existiert nicht|n'existe pas|no existe|destinataire (?:invalide|inconnu)",
        ),
    ),
)
"""Of a sentence, the first that is in it decides: what concerns the sender may name the recipient, too."""
_MEANINGS = tuple((re.compile("|".join(words)), meaning) for meaning, words in _ANSWERS)
_LINKS = re.compile(r"://\S*(?:spamhaus|spamcop|sorbs|dnsbl|spamrl|junkemailfilter|denyip)", re.IGNORECASE)
_TEMPORARY = re.compile(r"(?<![\d.])4\.\d{1,3}\.\d{1,3}(?![\d.])|^(?:[\w-]+; ?)?4\d\d\b")
_WORDS = 2
"""An answer has at least as many words: fewer are a word of a mail program."""


def meaning(answer: str, text: str) -> FeedbackKind | NoBounce | None:
    """Return what an answer says; None if only its code or a word of a mail program says something.

    `text` is the answer in lower case, without addresses and links.
    """
    if _TEMPORARY.search(text):
        return NoBounce.TEMPORARY
    if _LINKS.search(answer):
        return NoBounce.REFUSED
    if len(text.split()) < _WORDS:
        return None
    return next((what for words, what in _MEANINGS if words.search(text)), None)
