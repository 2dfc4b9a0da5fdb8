"""Similarity of two words of a name: a nickname, another romanization, an initial, or a typing error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz.distance import OSA

from app.domain.normal.names.nicknames import are_distinct, equivalents

ALIKE = {
    "same": 1.0,
    "middle": 0.97,
    "swapped": 0.95,
    "nickname": 0.95,
    "part": 0.93,
    "transliterated": 0.93,
    "romanized": 0.9,
    "generation": 0.9,
    "typo": 0.87,
    "initial": 0.82,
    "second": 0.82,
    "ending": 0.6,
}
"""The factor on the score of two names for each difference between them.

`ending` is one typing error that makes a given name of the other gender: Daniel and Daniela, Mario and Maria.
"""
MIN_TYPO_LENGTH = 4
"""Shorter names that differ in one letter are different names: Jon and Jan."""
_TWO_TYPOS_LENGTH = 9
_MIN_ROMANIZED_LENGTH = 5
"""In shorter names the vowels tell people apart: Kim Jong and Kim Jung."""
_MAX_INITIALS = 3

_SPELLINGS = {word: forms for forms in (("al", "el", "ul"), ("bin", "ben", "ibn")) for word in forms}
"""The spellings of Arabic particles."""
_SOUNDS = tuple(map(frozenset, ("cgkq", "vwbf", "ijy", "sz", "ouw", "aeh")))
_DOUBLED = re.compile(r"(.)\1+")
# Letters that differ between romanizations of one name (Sergei, Sergey, Sergej; Mohammed, Muhammad): between
# the tables of the Library of Congress for Arabic, Persian and Cyrillic and English, French and German usage,
# https://www.loc.gov/catdir/cpso/roman.html.
_ROMANIZATIONS = (
    (re.compile("ou|oo"), "u"),
    (re.compile("[aeiy][ijy]|ee"), "i"),
    (re.compile("[jy]"), "i"),
    (re.compile("ph"), "f"),
    (re.compile("q|ck|kh"), "k"),
    (re.compile("w"), "v"),
    (re.compile("o"), "u"),
    (re.compile("e(?!$)"), "a"),
)
_CHANGED = str.maketrans("", "", "aefhijkcopquvwy")
"""Removes the letters that the romanizations add or remove."""


@lru_cache(maxsize=16384)
def word_similarity(a: str, b: str, *, given: bool) -> float:
    """Return the similarity of two words, 0 for different names; `given` unless one is a family name."""
    if a == b or b in _SPELLINGS.get(a, ()):
        return ALIKE["same"]
    if given and b in equivalents(a):
        return ALIKE["nickname"]
    if 1 in {len(a), len(b)} and a[0] == b[0]:
        return ALIKE["initial"]
    if given and (a.endswith("a") != b.endswith("a") or are_distinct(a, b)):
        return ALIKE["ending"] if a.endswith("a") != b.endswith("a") and _is_typo(a, b) else 0.0
    if _are_romanizations(a, b):
        return ALIKE["romanized"]
    return ALIKE["typo"] if _is_typo(a, b) else 0.0


@lru_cache(maxsize=16384)
def resembles(a: str, b: str) -> bool:
    """Return whether two words may be a pair, or one of them a part of the other or its initials."""
    return (
        a in b
        or b in a
        or (a[0] == b[0] and min(len(a), len(b)) <= _MAX_INITIALS)
        or b in _SPELLINGS.get(a, ())
        or b in equivalents(a)
        or _is_typo(a, b)
        or _are_romanizations(a, b)
    )


def joined_similarity(word: str, parts: Sequence[str]) -> float:
    """Return the similarity of one word and several: the same letters, their initials, or 0."""
    if len(word) == len(parts):
        return ALIKE["initial"] if all(map(str.startswith, parts, word)) else 0.0
    return ALIKE["same"] if word == "".join(parts) else 0.0


def _are_romanizations(a: str, b: str) -> bool:
    """Return whether two words are the same but for their romanization."""
    if min(len(a), len(b)) < _MIN_ROMANIZED_LENGTH:
        return False
    return _fixed_letters(a) == _fixed_letters(b) and _romanized(a) == _romanized(b)


@lru_cache(maxsize=16384)
def _fixed_letters(word: str) -> frozenset[str]:
    """Return the letters that no romanization changes; comparing them first is faster."""
    return frozenset(word.translate(_CHANGED))


@lru_cache(maxsize=16384)
def _romanized(word: str) -> str:
    """Return the word with one letter for those that romanizations exchange."""
    word = _DOUBLED.sub(r"\1", word)
    for letters, letter in _ROMANIZATIONS:
        word = letters.sub(letter, word)
    return _DOUBLED.sub(r"\1", word)


def _is_typo(a: str, b: str) -> bool:
    """Return whether one typing error makes one word of the other, or two in long words.

    Another first letter makes another name (Larry and Harry), unless the two sound alike.
    """
    length = min(len(a), len(b))
    if length < MIN_TYPO_LENGTH:
        return False
    limit = 2 if length >= _TWO_TYPOS_LENGTH else 1
    if OSA.distance(a, b, score_cutoff=limit) > limit:
        return False
    return a[0] == b[0] or a[:2] == b[1::-1] or any(a[0] in sound and b[0] in sound for sound in _SOUNDS)
