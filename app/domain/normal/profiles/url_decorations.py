"""Removal of what stands around a URL in texts: quotes, brackets, punctuation, markup, unseen characters."""

from __future__ import annotations

import re

from app.domain.errors import InvalidValue

_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_QUOTES = "\\s<>\"'`*|,;\u2018-\u201f\u00ab\u00bb\u2039\u203a"
_ESCAPES = "%(?:20|22|27|2c|3c|3e|09|0a|0d|c2%a0|e2%80%8b|ef%bb%bf)"
_BEFORE = re.compile(rf"(?:[{_QUOTES}\[({{]|{_ESCAPES})+", re.IGNORECASE)
_LABEL = re.compile(r"(?:mailto|url|linkedin|profile)\s*:\s*(?=https?:|www\.|linkedin\.com/)", re.IGNORECASE)
_REPEATED = re.compile(r"(?:https?:/{0,2})+(?=https?:/)", re.IGNORECASE)
_AFTER = re.compile(rf"(?:[{_QUOTES}\]}}:!.\u2026]|{_ESCAPES})+\Z", re.IGNORECASE)
_AFTER_CLOSED = re.compile(rf"(?:[{_QUOTES}\]}}):!.\u2026]|{_ESCAPES})+\Z", re.IGNORECASE)
_LINK = re.compile(
    r"""\[[^\[\]]{0,300}\]\(<?([^\s<>"()]{1,2000}?|https?://[^\s<>"]{1,2000}?)>?\)"""
    r"""|<a\s[^<>]{0,500}?\bhref=["']?([^"'<>\s]{1,2000})["']?[^<>]{0,500}>[^<>]{0,500}(?:</a>)?"""
    r"""|=HYPERLINK\("([^"]{1,2000})"[^"]{0,10}(?:"[^"]{0,500}")?\)""",
    re.IGNORECASE,
)
"""A link in Markdown or HTML, or the formula of a spreadsheet: of these, the URL that it leads to."""
_MISSPELT = re.compile(r"h{1,2}t{1,3}ps?[:;]?/{1,3}(?=www\.|linkedin\.com/)", re.IGNORECASE)
_CUT_OFF = re.compile(r"\.\.|\u2026")
_MAX_AFTER = 100


def linked_url(text: str) -> str:
    """Return the URL that a link in Markdown, HTML or a spreadsheet leads to; any other text as it is."""
    link = _LINK.fullmatch(text.strip())
    return next(filter(None, link.groups())) if link else text


def undecorated(text: str) -> str:
    """Return a URL without the characters around it, and without invisible ones.

    `<https://acme.com>,`, `"https://acme.com"`, `URL: https://acme.com` and `https://acme.com%20` all become
    `https://acme.com`, and so does a link in Markdown or HTML. A parenthesis at the end stays if one was
    opened within the URL.

    Raises:
        InvalidValue: the URL ends with `...`, so its end is missing.

    """
    text = linked_url(_INVISIBLE.sub("", text))
    for pattern in (_BEFORE, _LABEL, _REPEATED, _MISSPELT):
        if found := pattern.match(text):
            text = text[found.end() :]
    after = _AFTER if "(" in text else _AFTER_CLOSED
    end = after.search(text, max(0, len(text) - _MAX_AFTER))
    if end is None:
        return text
    if _CUT_OFF.search(end[0]):
        raise InvalidValue("The URL is cut off at its end. Send the whole URL.")
    return text[: end.start()]
