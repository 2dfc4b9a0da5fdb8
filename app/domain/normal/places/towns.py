"""The town in a text of a place: without its street, postcode and the words for the area around it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.wordlists import entries

_WORDS = {place: tuple(words) for place, words in entries("places/place_words.txt")}
PARTS_OF_CITIES = frozenset(_WORDS["part of city"])
"""States of a few countries that are called like parts of cities elsewhere, as in `Mumbai, West`."""
_STREET_LAST = frozenset(_WORDS["street last"])
_STREET_FIRST = tuple(f"{word} " for word in _WORDS["street first"])
_NOWHERE = frozenset(_WORDS["nowhere"])
_BEFORE_CITY = tuple(f"{word} " for word in _WORDS["before city"])
_AFTER_CITY = tuple(f" {word}" for word in _WORDS["after city"])
_SAINT = "st"
_MIN_BEFORE_ENDING = 3
_NUMBER = re.compile(r"\d")
_POSTCODE_BEFORE = re.compile(r"(?:[A-Z]{1,2}-)?\d{4,6}\s(?:[A-Z]{2}\s)?(?=[^\W\d])")
_POSTCODE_AFTER = re.compile(r"\s(?:\d{4,6}(?:-\d{4})?|[A-Z]\d[A-Z] ?\d[A-Z]\d)$")
_STATE_IN_BRACKETS = re.compile(r"([^()]+)\(([^()]+)\)")


def parts_of_line(text: str) -> list[str]:
    """Return the parts of a line between commas, without streets before the town and numbers.

    Brackets count as a comma: Milan (Italy).
    """
    bracketed = _STATE_IN_BRACKETS.fullmatch(text.strip())
    text = f"{bracketed[1]}, {bracketed[2]}" if bracketed else text
    parts = [part.strip() for part in text.split(",") if any(map(str.isalpha, part))]
    while len(parts) > 1 and is_street(parts[0]):
        del parts[0]
    return parts or [""]


def is_street(text: str) -> bool:
    """Return whether a text is a street with a number, or a post-office box."""
    if not _NUMBER.search(text):
        return False
    key = fold(text)
    words = [word for word in key.split() if not _NUMBER.search(word)]
    return " ".join(words).startswith(_STREET_FIRST) or _ends_as_street(words) or _has_ending(words)


def is_nowhere(text: str) -> bool:
    """Return whether a text stands in the place of a town and names none, such as Remote."""
    return fold(text) in _NOWHERE


def without_postcode(text: str) -> str:
    """Return a town, or the end of a line, without the postcode before or after it."""
    return _POSTCODE_AFTER.sub("", _POSTCODE_BEFORE.sub("", text, count=1))


def town_of(text: str) -> str | None:
    """Return the town of a text, None for none: Munich for "Greater Munich Metropolitan Area"."""
    if is_street(text) or is_nowhere(text):
        return None
    text = without_postcode(text)
    if text.lower().startswith(_BEFORE_CITY):
        for start in _BEFORE_CITY:
            text = text[len(start) :] if text.lower().startswith(start) else text
    if text.lower().endswith(_AFTER_CITY):
        for end in _AFTER_CITY:
            text = text[: -len(end)] if text.lower().endswith(end) else text
    return text.strip() or None


def _ends_as_street(words: Sequence[str]) -> bool:
    """Return whether the last word is one for a street; St. may begin the name of a town instead."""
    return bool(words) and words[-1] in _STREET_LAST and words != [_SAINT]


def _has_ending(words: Sequence[str]) -> bool:
    return any(
        word.endswith(ending) and len(word) >= len(ending) + _MIN_BEFORE_ENDING
        for word in words
        for ending in _WORDS["street ending"]
    )
