"""Which pages of a site may have people: by the words in their addresses and headings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.wordlists import entries

KINDS = ("imprint", "team", "contact", "about", "press")
"""The kinds of pages, those with the most people and addresses first."""

_WORDS = {
    head.removeprefix("kind "): frozenset(map(fold, items))
    for head, items in entries("websites/page_words.txt")
    if head.startswith("kind ")
}
_ENDING = re.compile(r"\.(?:html?|php|aspx?|jsp|cfm)$")
MAX_DEPTH = 4
"""Segments of the path of a page about the company."""
MAX_WORDS = 5
"""Words of a segment with one of a kind; a longer one is the headline of an article."""


@lru_cache(maxsize=4096)
def kind_of(url: str) -> str | None:
    """Return the kind of a page by its address: imprint, team, contact, about or press; None for others."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    segments = _segments(path)
    if len(segments) > MAX_DEPTH:
        return None
    for kind in KINDS:
        if segments and segments[-1] in _WORDS[kind]:
            return kind
    for kind in KINDS:
        if any(segment in _WORDS[kind] for segment in segments[:-1]):
            return kind
    is_short = bool(segments) and len(segments[-1].split()) <= MAX_WORDS
    words = f" {segments[-1]} " if is_short else ""
    return next((kind for kind in KINDS if any(f" {word} " in words for word in _WORDS[kind])), None)


def names_nobody(url: str) -> bool:
    """Return whether the address of a page can be kept: the home page's, or one that ends with a kind's word.

    Other addresses may have the name of a person, as /team/ada-lovelace has.
    """
    parts = urlsplit(url)
    last = _segments(parts.path)[-1:]
    return not parts.query and all(any(part in _WORDS[kind] for kind in KINDS) for part in last)


def is_about_people(url: str, headings: Iterable[str]) -> bool:
    """Return whether a page is about the people of the company, by its address, its title or its headings."""
    if kind_of(url):
        return True
    texts = (part for text in headings for part in re.split(r"\s[|\u2013\u2014:-]\s|\s*\|\s*", text))
    return any(fold(text) in words for text in texts for words in _WORDS.values())


def _segments(path: str) -> list[str]:
    return [fold(unquote(_ENDING.sub("", part.lower()))) for part in path.split("/") if part]
