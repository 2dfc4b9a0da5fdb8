"""Forms of address, offices and degrees before a name: Dr., Shri, Univ.-Prof., Tan Sri."""

from __future__ import annotations

import re

from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.wordlists import entries, words

_LISTS = {head: frozenset(items) for head, items in entries("names/honorifics.txt")}
_ALWAYS = frozenset(item for item in _LISTS["always"] if "." not in item)
_ALWAYS_FOLDED = frozenset(map(fold, _ALWAYS)) - _LISTS["before_iberian"]
_WITH_STOP = frozenset(item for item in _LISTS["always"] if "." in item)
_BEFORE_TWO = _LISTS["before_two"]
_BEFORE_IBERIAN = _LISTS["before_iberian"]
_IBERIAN = words("names/surnames.txt")
_SINGLE = _LISTS["single"] | _LISTS["always"]
_VIETNAMESE_MIDDLE = frozenset({"v\u0103n", "th\u1ecb"})
"""Middle names that show that the word before them is a family name: Ca Văn Thỉnh."""
_LONGEST = 3
_GLUED = re.compile(r"(?<![^\W\d_.])([^\W\d_]{2,7})\.(?=[^\W\d_]{2})")
"""A word with a full stop at which another word begins: Dr.Anna."""


def separated(text: str) -> str:
    """Return the text with a space after titles that are written together with the name: Prof.Dr.Anna."""
    if "." not in text:
        return text
    return _GLUED.sub(lambda found: f"{found[0]} " if is_honorific(found[0]) else found[0], text)


def is_single_title(word: str) -> bool:
    """Return whether a word that the parser took for a title is one before a single name (Dr. King)."""
    return not _SINGLE.isdisjoint({word.lower(), fold(word)})


def is_honorific(word: str) -> bool:
    """Return whether one word is a title; of a compound such as Univ.-Prof., one part must be one."""
    if word.lower() in _WITH_STOP or word.lower() in _ALWAYS:
        return True
    first, *others = fold(word).split() or [""]
    if len(first) == 1:  # h.c.
        return f"{first} {' '.join(others)}" in _ALWAYS_FOLDED
    if others and ("." in word or "/" in word):
        return not _ALWAYS_FOLDED.isdisjoint([first, *others])
    return first in _ALWAYS_FOLDED and not others


def title_count(words: list[str], *, left: int = 2) -> int:
    """Return how many words at the beginning are titles; at least one word of the name is left.

    Before words that are also names, `left` words must be left: two of a full name, one of a given name.
    """
    count = 0
    while length := _title_length(words[count:], left=left, follows=count > 0):
        count += length
    return count


def _title_length(words: list[str], *, left: int, follows: bool) -> int:
    """Return the number of words of the title at the beginning, 0 if there is none."""
    rest = len(words) - 1
    if rest < 1:
        return 0
    for length in range(min(_LONGEST, rest), 1, -1):
        if " ".join(map(fold, words[:length])) in _ALWAYS_FOLDED:
            return length
    if is_honorific(words[0]) or (follows and _continues(words[0])) or _is_monsieur(words):
        return 1
    word = words[0].lower()
    names = sum(len(other) > 1 for other in words[1:])
    is_family = word.isascii() and words[1].lower() in _VIETNAMESE_MIDDLE
    if word in _BEFORE_TWO and names >= left and not is_family:
        return 1
    is_iberian = any(fold(other) in _IBERIAN for other in words[1:])
    return int(word in _BEFORE_IBERIAN and names >= left and is_iberian)


def _is_monsieur(words: list[str]) -> bool:
    """Return whether the name begins with M. and has its family name in capitals, as in M. DIALLO Ousmane."""
    shouted = [word.isupper() and len(word) > 1 and "." not in word for word in words[1:]]
    return words[0] == "M." and any(shouted) and not all(shouted)


def _continues(word: str) -> bool:
    """Return whether a word continues the title before it: rer. nat., h.c. mult., and, und."""
    return (word.islower() and word.endswith(".")) or word.lower() in {"and", "und", "&"}
