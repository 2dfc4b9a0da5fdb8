"""What is typed into a search for people, as words of a name with their spellings, and as a company."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.domain.normal.companies.company_names import company_key
from app.domain.normal.names import nicknames
from app.domain.normal.names.name_keys import name_key, spellings

MIN_LETTERS = 3
"""The letters of a part that is searched for: shorter ones begin too many names."""
MAX_WORDS = 6
MAX_TEXT = 200
_BETWEEN = re.compile(r"\s+(?:at|@|bei|chez)\s+|\s*[,;|·/]\s*|\s+[-\u2013\u2014]\s+", re.IGNORECASE)
_EXPANDED = re.compile("ae|oe|ue|aa")
_CONTRACTED = {"ae": "a", "oe": "o", "ue": "u", "aa": "a"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a name: the beginnings that are searched for, and the whole names that are equivalent."""

    beginnings: tuple[str, ...]
    equivalents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Split:
    """A text read as a name before or behind a company."""

    name: str
    company: str


def words_of(text: str) -> tuple[Word, ...]:
    """Return the words of a name; Müller is also searched for as Mueller, and the other way round."""
    written = re.split(r"[\s,;]+", text[:MAX_TEXT].strip())
    words = []
    for part in written:
        for key in name_key(part).split():
            forms = dict.fromkeys((key, *spellings(part)) if " " not in name_key(part) else (key,))
            forms |= dict.fromkeys(
                _EXPANDED.sub(lambda found: _CONTRACTED[found[0]], form) for form in list(forms)
            )
            words.append(Word(tuple(forms), tuple(sorted(nicknames.equivalents(key)))))
    return tuple(words[:MAX_WORDS])


def separated(text: str) -> Split | None:
    """Return the name and the company, if a separator such as a comma or `at` is between them."""
    parts = _parts(text)
    return Split(parts[0], " ".join(parts[1:])) if len(parts) > 1 else None


def splits_of(text: str) -> Iterator[Split]:
    """Yield the ways to read a text as a person at a company: by a separator in it, or between any words."""
    if split := separated(text):
        yield split
    words = " ".join(_parts(text)).split()[:MAX_WORDS]
    for place in range(len(words) - 1, 0, -1):
        before, behind = " ".join(words[:place]), " ".join(words[place:])
        yield Split(before, behind)
        yield Split(behind, before)


def company_beginnings(text: str) -> tuple[str, ...]:
    """Return how the keys of companies may begin that are meant; none if that is too short.

    An abbreviation at the end, which a key has in full, may be the beginning of another word.
    """
    keys = dict.fromkeys((company_key(text[:MAX_TEXT]), name_key(text[:MAX_TEXT])))
    return tuple(key for key in keys if len(key) >= MIN_LETTERS)


def _parts(text: str) -> list[str]:
    return [part for part in _BETWEEN.split(text[:MAX_TEXT].strip()) if part.strip()]
