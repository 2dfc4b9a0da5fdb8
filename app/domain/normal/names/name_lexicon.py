"""The words that the library `nameparser` knows beside names, and the shapes of credentials and initials."""

from __future__ import annotations

import re
from functools import cache
from types import ModuleType

from app.domain.normal.texts.wordlists import entries

_MORE = frozenset(dict(entries("names/name_notes.txt"))["credential"])
_PIECES = re.compile(r"[-/+&]")
_CAPITALS = re.compile(r"[^\W_](?:[^\W_]|[.+&/-](?=[^\W_])){1,14}")
_DOTTED = re.compile(r"(?:[^\W\d_][a-z]{0,5}\.){2,4}(?:[^\W\d_][a-z]{0,5})?|[^\W\d_]{1,4}\.[^\W\d_]{1,5}")
_INITIALS = re.compile(r"(?:[^\W\d_]\.?(?:[ -]|$)|[^\W\d_]\.){1,5}")


@cache
def library() -> ModuleType:
    """Return the library."""
    import nameparser  # noqa: PLC0415 -- it takes 40 ms to import, and many processes parse no name

    return nameparser


@cache
def meaningful_words() -> frozenset[str]:
    """Return the words that the library's parser treats as something other than a name, such as titles."""
    lexicon = library().Lexicon.default()
    return frozenset().union(
        lexicon.titles,
        lexicon.suffix_acronyms,
        lexicon.suffix_words,
        lexicon.suffix_acronyms_ambiguous,
        lexicon.particles,
        lexicon.conjunctions,
        lexicon.bound_given_names,
        lexicon.maiden_markers,
        lexicon.after_given_titles,
    )


def is_credential(word: str) -> bool:
    """Return whether a word is a credential in itself, such as PMP, PhD, LL.M., M.A. or CISSP-ISSAP.

    It has two capitals or a full stop inside: Ma and Do are family names.
    """
    plain = word.strip(".,;")
    if "." not in plain and sum(map(str.isupper, plain)) < 2:  # noqa: PLR2004 -- as the docstring says
        return False
    pieces = _PIECES.split(plain)
    return any(map(_is_listed, pieces)) and (len(pieces) == 1 or plain.isupper())


def is_dotted(word: str) -> bool:
    """Return whether a word has the shape of an abbreviated degree, such as S.H. or M.Kom."""
    return bool(_DOTTED.fullmatch(word.strip(",;")))


def is_capitals(word: str) -> bool:
    """Return whether a word has the shape of a certificate, such as CSPO or A-CSM."""
    return word.isupper() and bool(_CAPITALS.fullmatch(word.strip(".,;")))


def is_initials(text: str) -> bool:
    """Return whether a name consists of initials, such as A., A, C.R. or J. P."""
    return bool(_INITIALS.fullmatch(text))


def is_generation(word: str) -> bool:
    """Return whether a word tells a son from a father of the same name, such as Jr. or III."""
    return word.strip(".,").lower() in _generations()


def is_title(word: str) -> bool:
    """Return whether the library knows a word as a title; Prince and Judge are names as well."""
    return word.strip(".,").lower() in library().Lexicon.default().titles


def is_bound_given_name(word: str) -> bool:
    """Return whether a word begins a given name of two words, such as Abdul Aziz."""
    return word.lower() in library().Lexicon.default().bound_given_names


def ambiguous_degrees() -> frozenset[str]:
    """Return the degrees whose abbreviations are also names, such as MA."""
    words: frozenset[str] = library().Lexicon.default().suffix_acronyms_ambiguous
    return words


def maiden_markers() -> frozenset[str]:
    """Return the words before a name at birth, such as née."""
    markers: frozenset[str] = library().Lexicon.default().maiden_markers
    return markers


@cache
def _generations() -> frozenset[str]:
    words: frozenset[str] = library().Lexicon.default().suffix_words
    return frozenset(word for word in words if len(word) > 1)


@cache
def _acronyms(*, with_stops: bool) -> frozenset[str]:
    lexicon = library().Lexicon.default()
    acronyms: frozenset[str] = lexicon.suffix_acronyms | _MORE
    return acronyms if with_stops else acronyms - lexicon.suffix_acronyms_ambiguous


def _is_listed(piece: str) -> bool:
    return piece.replace(".", "").lower() in _acronyms(with_stops="." in piece)
