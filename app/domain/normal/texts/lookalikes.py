"""Words with letters of another alphabet that look the same, such as a Cyrillic O in Olga."""

from __future__ import annotations

import re

_CYRILLIC = "АВЕЅІЈКМНОРСТУХаеѕіјорсухһ"  # noqa: RUF001 -- the letters that look alike
_GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"  # noqa: RUF001 -- likewise
_LATIN = "ABESIJKMHOPCTYXaesijopcyxh", "ABEZHIKMNOPTYXo"
_TO_LATIN = str.maketrans(_CYRILLIC + _GREEK, "".join(_LATIN))
_TO_CYRILLIC = str.maketrans(_LATIN[0], _CYRILLIC)
_WORD = re.compile(r"[^\W\d_]+")
_HAS_LATIN = re.compile("[A-Za-z]")
_IS_LATIN = re.compile("[A-Za-z\u00c0-\u024f]+")
_IS_CYRILLIC = re.compile("[\u0400-\u04ff]+")


def in_one_alphabet(text: str) -> str:
    """Return the text with each word of Latin and other letters in the alphabet that all of them look like.

    A word of which some letters have no lookalike in either alphabet is unchanged.
    """
    if text.isascii() or not _HAS_LATIN.search(text):
        return text
    return _WORD.sub(_of_word, text)


def has_lookalikes(text: str) -> bool:
    """Return whether a word has letters of another alphabet that look like its own."""
    return not text.isascii() and in_one_alphabet(text) != text


def _of_word(found: re.Match[str]) -> str:
    word = found[0]
    if word.isascii() or not _HAS_LATIN.search(word) or _IS_LATIN.fullmatch(word):
        return word
    for table, alphabet in ((_TO_LATIN, _IS_LATIN), (_TO_CYRILLIC, _IS_CYRILLIC)):
        if alphabet.fullmatch(plain := word.translate(table)):
            return plain
    return word
