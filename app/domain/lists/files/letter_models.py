"""How probable a word is in a language, by the pairs of letters in its names of countries and months.

The names are from CLDR. Only words with other letters than ASCII are compared, so few names suffice.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from math import log

from babel import Locale

WORD = re.compile(r"[A-Za-z\x80-\U0010ffff]+")
"""Letters, and everything else that is not ASCII: a sign within a word makes it improbable."""
_APOSTROPHE = "\u2019"
_SIGNS = frozenset(
    "\u201c\u201d\u2018\u201e\u2013\u2014\u2026\xab\xbb\xa0\u3000\u3001\u3002\u30fb\u30fc" + _APOSTROPHE
)
"""Quotes, dashes and East Asian punctuation; any other sign beside a letter is improbable."""
_PAIR, _LETTER, _REST = 0.6, 0.3, 0.1  # the shares of what is known of a pair, of a letter, and of neither
_KNOWN_LETTER, _COMMON_IDEOGRAPH, _WORD_END = 1e-3, 2e-3, 1e-2
_SIGN_OUTSIDE, _SIGN_INSIDE = 1e-3, 3e-5
_UNKNOWN_LETTER = 1e-5
_IMPROBABLE = 1e-7
_CAPITAL_INSIDE = 1e-5
_KANA = frozenset({"HIRAGANA", "KATAKANA"})


@dataclass(frozen=True, slots=True)
class CommonRows:
    """The rows of an East Asian character set with its common characters: `codec` puts them in `rows`."""

    codec: str
    rows: range

    def has(self, character: str) -> bool:
        """Return whether a character is a common one."""
        try:
            return character.encode(self.codec)[0] in self.rows
        except UnicodeEncodeError:
            return False


@dataclass(frozen=True, slots=True)
class LetterModel:
    """The letters and pairs of letters of a language, counted in names; a space begins and ends each word."""

    pairs: Counter[str]
    letters: Counter[str]
    firsts: Counter[str]
    total: int
    scripts: frozenset[str]

    def log_probability(self, word: str, common: CommonRows | None) -> float:
        """Return how probable a word is; `common` is given for East Asian text."""
        text = f" {word} "
        return sum(log(self._of_pair(text[i], text[i + 1], common)) for i in range(len(text) - 1))

    def _of_pair(self, first: str, second: str, common: CommonRows | None) -> float:
        """Return how probable the second character is after the first."""
        if second == " ":
            rest = _WORD_END
        elif not _is_letter(second):
            return _of_sign(first, second)
        elif _is_broken(first, second, common):
            return _CAPITAL_INSIDE if _script(first) == _script(second) else _IMPROBABLE
        else:
            rest = self._of_letter(second, common)
        low_first, low_second = first.lower(), second.lower()
        of_pair = self.pairs[low_first + low_second] / (self.firsts[low_first] or 1)
        return _PAIR * of_pair + _LETTER * self.letters[low_second] / self.total + _REST * rest

    def _of_letter(self, letter: str, common: CommonRows | None) -> float:
        """Return how probable a letter is that the names may lack."""
        if common and not letter.isascii():
            is_common = common.has(letter) or _script(letter) in _KANA & self.scripts
            return _COMMON_IDEOGRAPH if is_common else _UNKNOWN_LETTER
        if _script(letter) not in self.scripts:
            return _IMPROBABLE
        return _KNOWN_LETTER if self.letters[letter.lower()] else _UNKNOWN_LETTER


@cache
def letter_model(language: str) -> LetterModel:
    """Return the model of a language, by its code in CLDR."""
    pairs, letters, firsts = Counter[str](), Counter[str](), Counter[str]()
    for name in _names(Locale.parse(language)):
        for word in WORD.findall(name.lower()):
            text = f" {word} "
            pairs.update(text[i : i + 2] for i in range(len(text) - 1))
            letters.update(text[1:])
            firsts.update(text[:-1])
    scripts = frozenset(_script(letter) for letter in letters if _is_letter(letter))
    return LetterModel(pairs, letters, firsts, letters.total(), scripts)


def _names(locale: Locale) -> Iterator[str]:
    yield from locale.territories.values()
    yield from locale.languages.values()
    for widths in locale.months.values():
        for months in widths.values():
            yield from months.values()


def _of_sign(first: str, sign: str) -> float:
    if sign not in _SIGNS:
        return _IMPROBABLE
    return _SIGN_OUTSIDE if first == " " or sign == _APOSTROPHE else _SIGN_INSIDE


def _is_broken(first: str, second: str, common: CommonRows | None) -> bool:
    """Return whether two letters do not stand beside each other: of two scripts, or a capital in a word."""
    if not _is_letter(first):
        return False
    if _script(first) != _script(second):
        return common is None or first.isascii() or second.isascii()
    return first.islower() and second.isupper()


@lru_cache(maxsize=4096)
def _is_letter(character: str) -> bool:
    """Return whether a character is a letter or a mark of one, such as a vowel in Thai."""
    return character.isalpha() or unicodedata.category(character).startswith("M")


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    """Return the script of a letter: the first word of its name."""
    return unicodedata.name(letter, "").partition(" ")[0]
