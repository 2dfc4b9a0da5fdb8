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
from app.domain.normal.texts.wordlists import entries, words

MAX_TERMS = 60
"""Of a title; a longer text is not a title."""
_MAX_LENGTH = 40  # characters of a term
_PREFIX_LENGTH = 4
"""A searched word of at least so many letters finds those that begin with it: `account`, `accounts`."""
_SMALL = frozenset(
    {"a", "an", "and", "as", "at", "by", "da", "das", "de", "del", "della", "der", "des", "di", "die", "do"}
    | {"du", "e", "el", "en", "et", "for", "fur", "im", "in", "la", "le", "les", "los", "of", "on", "or"}
    | {"ds", "the", "to", "und", "van", "von", "y"}
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_JOINTS = ("s", "es", "n", "en")
"""What stands between the parts of a German or Swedish compound."""
_MIN_BEGINNING = 2
"""Letters before the end of a compound."""
_NO_COMPOUNDS = tuple(words("titles/no_compounds.txt"))
_FEMININE = re.compile(r"(?<=er|or)in$|(?<=ist|ent|ant|eur)in$")
"""The German ending in `Prokuristin`."""
_GENDERS = re.compile(
    r"(?<=[^\W\d_])(?:[:*_\u00b7\u2022\u2027]|\(-?|/-?)(?:innen|in|t?r?ice|euse|[sn]e|[eao]s?)\b\)?"
    r"|\(?\b(?:[dx]\s?/\s?)?(?:m\s?/\s?[wfvk]|[wfvk]\s?/\s?m|h\s?/\s?f|f\s?/\s?h)(?:\s?/\s?[dix])?\b\)?",
    re.IGNORECASE,
)
"""Marks that a title is for all genders: `Leiter:in`, `Ingénieur·e`, `Director/a`, `(m/w/d)`."""
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,5}(?:[^\W\d_]\b)?")
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


class _Vocabulary:
    """The terms of phrases, and the words that compounds begin or end with, from `title_words.txt`.

    `terms` are stored with a title and `searched` are what a search asks for, both by the words of a phrase.
    """

    def __init__(self) -> None:
        self.terms: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.searched: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.beginnings: dict[str, str] = {}
        ends: set[str] = set()
        for term, phrases in _LINES:
            for written in (term, *phrases):
                phrase = written.strip("()")
                bare = phrase.strip("*-")
                spellings = {bare, bare.translate(_UMLAUTS)}
                for key in {tuple(_plain_words(spelling)) for spelling in spellings}:
                    if phrase.startswith(("*", "-")):
                        ends.add(key[0])
                    if phrase.endswith("-"):
                        self.beginnings[key[0]] = term
                    else:
                        stored = (f"-{key[0]}",) if phrase.startswith("-") else key
                        self._add(stored, term, is_searched=written == phrase)
        self.ends = tuple(sorted(ends, key=len, reverse=True))
        self.longest = max(map(len, self.terms))

    def _add(self, key: tuple[str, ...], term: str, *, is_searched: bool) -> None:
        self.terms[key] = tuple(dict.fromkeys((*self.terms.get(key, ()), term)))
        if is_searched:
            self.searched[key] = tuple(dict.fromkeys((*self.searched.get(key, ()), term)))

    def parts(self, word: str) -> list[str]:
        """Return the beginning and the end of a compound such as `einkaufsleiter`; any other word alone."""
        if (word,) in self.terms or word.endswith(_NO_COMPOUNDS):
            return [word]
        end = next((end for end in self.ends if word.endswith(end)), "")
        rest = word.removesuffix(end)
        if not end or len(rest) < _MIN_BEGINNING:
            return [word]
        known = (form for form in (rest, *map(rest.removesuffix, _JOINTS)) if (form,) in self.terms)
        beginning = self.beginnings.get(rest) or next(known, rest)
        return [beginning, end if (end,) in self.terms else f"-{end}"]


@lru_cache(maxsize=16_384)
def title_terms(title: str) -> str | None:
    """Return the terms of a title, each between spaces: ` vice president sales vp `; None if it has none."""
    words = _plain_words(title)[:MAX_TERMS]
    parts = [part for word in words for part in _VOCABULARY.parts(word)][:MAX_TERMS]
    terms = dict.fromkeys([*words, *(part for part in parts if not part.startswith("-"))][:MAX_TERMS])
    for term in _known(parts):
        terms |= dict.fromkeys((term, *_VOCABULARY.terms.get((term,), ())))
    return f" {' '.join(terms)} " if terms else None


@lru_cache(maxsize=1024)
def searched_words(text: str) -> tuple[TitleWord, ...]:
    """Return the parts of a searched title, all of which a person has to meet; none if it has no words."""
    words = [part for word in _plain_words(text) for part in _VOCABULARY.parts(word)][:MAX_TERMS]
    found: dict[TitleWord, None] = {}
    start = 0
    while start < len(words):
        meant, start = _longest(words, start)
        found |= dict.fromkeys(meant)
    return tuple(found)


def _longest(words: list[str], start: int) -> tuple[list[TitleWord], int]:
    """Return what the longest known phrase at this place asks for, or its word, and the place behind it."""
    for end in range(min(len(words), start + _VOCABULARY.longest), start, -1):
        if found := _meaning(tuple(words[start:end])):
            return found, end
    word = _FEMININE.sub("", words[start])
    if len(word) > _PREFIX_LENGTH and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    is_prefix = len(word) >= _PREFIX_LENGTH or not word.isascii()
    return _meaning((word,)) or [TitleWord((word,), is_prefix=is_prefix)], start + 1


def _meaning(phrase: tuple[str, ...]) -> list[TitleWord]:
    """Return what a known phrase asks for; nothing for another."""
    department = _DEPARTMENTS.get(" ".join(phrase))
    terms = _VOCABULARY.searched.get(phrase, ())
    if not terms:
        return [TitleWord(phrase, department=department)] if department else []
    if phrase[0] in terms:
        terms = phrase[:1]
    if len(terms) == 1 and department and terms[0] not in _RANKS:
        return [TitleWord(terms, department=department)]
    return [_word(term) for term in terms]


def _word(term: str) -> TitleWord:
    if term in _RANKS:
        return TitleWord((term,), seniority=term)
    return TitleWord((term,), department=_DEPARTMENTS.get(term))


def _known(words: list[str]) -> Iterator[str]:
    """Yield the terms of each known phrase, and of the singular of each word."""
    terms = _VOCABULARY.terms
    for start, word in enumerate(words):
        for end in range(start + 1, min(len(words), start + _VOCABULARY.longest) + 1):
            yield from terms.get(tuple(words[start:end]), ())
        if word.endswith("s"):
            yield from terms.get((word[:-1],), ())


def _plain_words(text: str) -> list[str]:
    """Return the words that count, without marks of gender and the dots of abbreviations."""
    text = _DOTTED.sub(lambda found: found[0].replace(".", ""), _GENDERS.sub(" ", text))
    text = _HYPHENATED.sub("", text)
    return [word[:_MAX_LENGTH] for word in _words(text) if word not in _SMALL]


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


_LINES = entries("titles/title_words.txt")
_ONLY_ENDS = [
    phrase.strip("()-") for _, phrases in _LINES for phrase in phrases if phrase.strip("(")[0] == "-"
]
_HYPHENATED = re.compile(rf"(?<=\w)-(?=(?:{'|'.join(_ONLY_ENDS)})\b)", re.IGNORECASE)
"""The hyphen before words that are a rank only in a compound, as in `HR-chef`."""
_VOCABULARY = _Vocabulary()
_RANKS = frozenset({"vp", "head", "director", "manager", "founder", "owner", "partner", "intern"})
"""Terms that are seniorities, too."""
_DEPARTMENTS = {word: name for word, name in vocabularies.departments().items() if name != "executive"}
"""Departments by their words; those of executives, such as `management`, are in titles of all departments."""
