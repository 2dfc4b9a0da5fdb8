"""Names of nobody: what forms, exports and networks write where the name is not known."""

from __future__ import annotations

import re

from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.wordlists import entries

_LISTS = {head: frozenset(items) for head, items in entries("names/placeholder_names.txt")}
_WORDS = _LISTS["word"]
_MARKS = _LISTS["mark"]
_CASED = _LISTS["cased"]
_COMPANY = frozenset(map(fold, _LISTS["company"]))
_SHORT_HOUSEHOLDS = _LISTS["short_household"]
_HOUSEHOLDS = tuple(f"{item} " for item in _LISTS["household"])
_LANGUAGES = _LISTS.keys() - {
    "word",
    "mark",
    "cased",
    "company",
    "household",
    "short_household",
}
_WHOLE = _WORDS.union(*(map(fold, _LISTS[language]) for language in _LANGUAGES))
_NETWORK = re.compile("linkedin|领英|領英", re.IGNORECASE)
_TYPED = re.compile(r"([^\W\d_])\1{2,}|[xX]+")
_WORD = re.compile(r"[^\W_]+")
_REPEATED = re.compile(r"(.)\1\1(?<=[^\W\d_]..)", re.IGNORECASE)  # twice as fast as ([^\W\d_])\1\1
_NOT_AVAILABLE = re.compile(r"(?:NA|na)(?: (?:NA|na))*")
"""Na is also a given and a family name, so it is a placeholder only if the whole name is written so."""

_SEVERAL = re.compile(r"(?<!\bvon)\s(?:[&+]|and|und|et)\s|\s(?-i:or|oder)\s|;", re.IGNORECASE)
_AND = "y|e|en|i|a|och|og|ve|и|та|і|και"  # noqa: RUF001 -- words of other alphabets
_TWO_GIVEN = re.compile(rf"[^\W\d_]+ (?:{_AND}) [^\W\d_a-z][^\W\d_]+ [^,]+")
"""Two given names, and a family name: María y Juan García, but Ortega y Gasset."""
_GUEST = re.compile(r"\d{0,3} ?(?:guest|attendee|user|gast|invitado) ?\d{0,6}")
_TEMPLATE = re.compile(r"%[^\W\d_]{2}|[^\W\d_]%|^#[A-Z0/]+[!?]|^[$]")
"""A placeholder of a template, of a URL or of a spreadsheet: %FIRSTNAME%, $name, #REF!."""

_SIGNS = _LISTS["company"].union(
    *(item.split() for item in (*_WHOLE, *_LISTS["household"], *_SHORT_HOUSEHOLDS)),
    _MARKS,
    _CASED,
    {"linkedin", "na", "&", "+", "and", "und", "et", "or", "oder", "family"},
)


def may_be_placeholder(words: list[str]) -> bool:
    """Return whether lower-case words need a closer look; it is False for most names, and quick."""
    return not _SIGNS.isdisjoint(words) or _REPEATED.search(" ".join(words)) is not None


def is_placeholder(text: str) -> bool:
    """Return whether the text is not a person's name, such as LinkedIn Member, null null, Unknown or xxx."""
    if _NETWORK.search(text) or _NOT_AVAILABLE.fullmatch(text):
        return True
    folded = fold(text)
    words = folded.split()
    if folded in _WHOLE or _TEMPLATE.search(text) or (", " not in text and ends_like_company(text)):
        return True
    found = _WORD.findall(text)
    if all(map(_is_word, found)) or _GUEST.fullmatch(folded):
        return True
    half = words[: len(words) // 2]
    return half * 2 == words and " ".join(half) in _WHOLE


def ends_like_company(text: str) -> bool:
    """Return whether the last of several words makes the text a company's name, as in Acme Inc."""
    before, _space, last = text.rpartition(" ")
    return bool(before) and fold(last) in _COMPANY


def names_several(name: str) -> bool:
    """Return whether a name without notes names several people, such as Ada & Bob Lovelace or Familie Low."""
    return is_household(name) or bool(_SEVERAL.search(name) or _TWO_GIVEN.fullmatch(name))


def is_household(text: str) -> bool:
    """Return whether a text names a household, such as Familie Low, Fam. de Vries or Low family."""
    folded = fold(text)
    first, *others = folded.split() or [""]
    is_short = first in _SHORT_HOUSEHOLDS and len(others) == 1
    begins = folded.startswith(_HOUSEHOLDS) or text.lower().startswith(_HOUSEHOLDS)
    return is_short or begins or folded.endswith(" family")


def _is_word(word: str) -> bool:
    return fold(word) in _WORDS or _TYPED.fullmatch(word) is not None


def is_placeholder_part(text: str) -> bool:
    """Return whether a part beside another is no name; Test, Guest and Null may be one."""
    return all(map(_TYPED.fullmatch, _WORD.findall(text))) or (" " in text and is_placeholder(text))


def without_marks(text: str) -> str:
    """Return a name without marks of an empty value beside it, as in Ada undefined or Ada null.

    Null is also a family name: it is a mark only if it is written unlike the rest, not in christopher null.
    """
    words = text.split()
    name = [word for word in words if word.lower() not in _MARKS and word.lower() not in _CASED]
    if len(name) == len(words) or not name:
        return text
    rest = " ".join(name)
    kept = [word for word in words if word in name or (word.lower() in _CASED and _is_like(word, rest))]
    return " ".join(kept)


def _is_like(word: str, rest: str) -> bool:
    return word.istitle() or (word.islower() == rest.islower() and word.isupper() == rest.isupper())
