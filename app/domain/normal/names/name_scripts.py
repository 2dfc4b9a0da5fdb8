"""Names that are written in two scripts: the Latin spelling is the name."""

from __future__ import annotations

import re

from anyascii import anyascii
from rapidfuzz import fuzz

from app.domain.normal.names.honorifics import title_count
from app.domain.normal.names.name_lexicon import is_title
from app.domain.normal.texts.text_folding import fold

_LATIN = re.compile("[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
_SIDES = re.compile(r"\s*[()/|,\u3001\u30fb\u2010-\u2015]\s*|\s+-\s+|\s+")
_WIDE = re.compile(
    "[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of which a transliteration does not show whether two spellings are of one name."""
_LEAST_ALIKE = 60
_MOST_WORDS = 5


def one_script(text: str) -> str:
    """Return the Latin spelling of a name that is written in Latin and in other letters; else the text.

    Examples: 张伟 Wei Zhang, Иван Петров (Ivan Petrov), 田中太郎 / Taro Tanaka. One Latin word is not the
    spelling of a whole name. Nor is an office or an employer: where letters show it, the sound must agree.
    """
    if text.isascii():
        return text
    latin, other = _by_script(text)
    if not (1 < len(latin) <= _MOST_WORDS and other) or len("".join(other)) == 1:
        return text
    latin = latin[title_count(latin) :]
    return " ".join(latin) if _is_spelling(latin, other, is_first=_LATIN.match(text) is not None) else text


def _by_script(text: str) -> tuple[list[str], list[str]]:
    """Return the Latin words and the others; nothing if a word has letters of both."""
    latin: list[str] = []
    other: list[str] = []
    for word in filter(None, _SIDES.split(text)):
        letters = [character for character in word if character.isalpha()]
        latin_count = sum(1 for character in letters if _LATIN.match(character))
        if 0 < latin_count < len(letters):
            return [], []
        if letters:
            (latin if latin_count else other).append(word)
    return latin, other


def _is_spelling(latin: list[str], other: list[str], *, is_first: bool) -> bool:
    """Return whether the Latin words are a name, and the same one as far as its letters show."""
    if not all(word[0].isupper() for word in latin) or any(map(_is_office, latin)):
        return False
    if is_first or _WIDE.search("".join(other)):
        return True
    spelled = fold(anyascii(" ".join(other)))
    return fuzz.token_sort_ratio(fold(" ".join(latin)), spelled) >= _LEAST_ALIKE


def _is_office(word: str) -> bool:
    return is_title(word) and not word.isupper()
