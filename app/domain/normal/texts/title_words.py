"""Words of job titles: the terms that a title is stored with, and those that a search asks for.

A title is written in many ways: `VP Sales`, `Vice-President of Sales`, `Vertriebsleiter`. Its terms are its
folded words and, for each rank, office or department in it that `title_words.txt` knows, the one term for all
its spellings. Words of scripts without spaces are split into pairs of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from app.domain.normal.texts import vocabularies
from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.text_forms import normalized
from app.domain.normal.texts.wordlists import entries

MAX_TERMS = 60
"""Of a title; a longer text is not a title."""
_MAX_LENGTH = 40  # characters of a term
_PREFIX_LENGTH = 4
"""A searched word of at least so many letters finds those that begin with it: `account`, `accounts`."""
_SMALL = frozenset(
    {"a", "an", "and", "as", "at", "by", "da", "das", "de", "del", "della", "der", "des", "di", "die", "do"}
    | {"du", "e", "el", "en", "et", "for", "fur", "im", "in", "la", "le", "les", "los", "of", "on", "or"}
    | {"the", "to", "und", "van", "von", "y"}
)
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
"""Thai, Lao, Burmese, Khmer, Japanese, Chinese, and Korean, of which titles are often written as one word."""


@dataclass(frozen=True, slots=True)
class TitleWord:
    """A part of what is searched for: it is met by all its terms, or by the seniority or the department.

    With `is_prefix`, a term is met by words that begin with it.
    """

    terms: tuple[str, ...]
    is_prefix: bool = False
    seniority: str | None = None
    department: str | None = None


def _read() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the terms for each phrase of `title_words.txt`, which is given by its words."""
    terms: dict[tuple[str, ...], tuple[str, ...]] = {}
    for term, phrases in entries("titles/title_words.txt"):
        for phrase in (term, *phrases):
            key = tuple(_words(phrase))
            terms[key] = (*terms.get(key, ()), term)
    return terms


@lru_cache(maxsize=16_384)
def title_terms(title: str) -> str | None:
    """Return the terms of a title, each between spaces: ` vice president sales vp `; None if it has none."""
    words = [word[:_MAX_LENGTH] for word in _words(title) if word not in _SMALL][:MAX_TERMS]
    terms = dict.fromkeys(words)
    for term in _known(words):
        terms |= dict.fromkeys((term, *_TERMS.get((term,), ())))
    return f" {' '.join(terms)} " if terms else None


@lru_cache(maxsize=1024)
def searched_words(text: str) -> tuple[TitleWord, ...]:
    """Return the parts of a searched title, all of which a person has to meet; none if it has no words."""
    words = [word[:_MAX_LENGTH] for word in _words(text) if word not in _SMALL][:MAX_TERMS]
    found: list[TitleWord] = []
    start = 0
    while start < len(words):
        word, start = _longest(words, start)
        found.append(word)
    return tuple(found)


def _longest(words: list[str], start: int) -> tuple[TitleWord, int]:
    """Return what the longest known phrase at this place asks for, or its word, and the place behind it."""
    for end in range(min(len(words), start + _LONGEST), start, -1):
        if found := _meaning(tuple(words[start:end])):
            return found, end
    word = words[start]
    if len(word) > _PREFIX_LENGTH and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    is_prefix = len(word) >= _PREFIX_LENGTH or not word.isascii()
    return _meaning((word,)) or TitleWord((word,), is_prefix=is_prefix), start + 1


def _meaning(phrase: tuple[str, ...]) -> TitleWord | None:
    """Return what a known phrase asks for."""
    department = _DEPARTMENTS.get(" ".join(phrase))
    if phrase not in _TERMS:
        return TitleWord(phrase, department=department) if department else None
    terms = _TERMS[phrase]
    term = phrase[0] if phrase[0] in terms else terms[0]
    if term in _RANKS:
        return TitleWord((term,), seniority=term)
    return TitleWord((term,), department=department or _DEPARTMENTS.get(term))


def _known(words: list[str]) -> Iterator[str]:
    """Yield the terms of each known phrase."""
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + _LONGEST) + 1):
            yield from _TERMS.get(tuple(words[start:end]), ())


def _words(text: str) -> list[str]:
    """Return the folded words; those of scripts without spaces as pairs of characters."""
    words: list[str] = []
    for word in normalized("NFC", fold(text)).split():
        end = 0
        for run in _UNSPACED.finditer(word):
            words += [word[end : run.start()]] if run.start() > end else []
            words += map("".join, pairwise(run[0])) if len(run[0]) > 1 else [run[0]]
            end = run.end()
        words += [word[end:]] if end < len(word) else []
    return words


_TERMS = _read()
_LONGEST = max(map(len, _TERMS))
_RANKS = frozenset({"vp", "head", "director", "manager", "founder", "owner"})
"""Terms that are seniorities, too."""
_DEPARTMENTS = {word: name for word, name in vocabularies.departments().items() if name != "executive"}
"""Departments by their words; those of executives, such as `management`, are in titles of all departments."""
