"""Names whose parts are given apart: they keep their places, without what is not a name."""

from __future__ import annotations

import re
from functools import lru_cache

from app.domain.errors import InvalidValue
from app.domain.normal.names.generations import generation_of
from app.domain.normal.names.honorifics import separated, title_count
from app.domain.normal.names.name_brackets import without_brackets
from app.domain.normal.names.name_keys import nickname_of, without_generation, without_nickname
from app.domain.normal.names.name_lexicon import is_credential, is_generation, meaningful_words
from app.domain.normal.names.name_notes import is_slogan, may_have_notes, without_notes
from app.domain.normal.names.name_texts import clean_text, is_plain_text
from app.domain.normal.names.names import NO_PERSON, NoPerson, PersonName, parse_name
from app.domain.normal.names.placeholder_names import (
    is_placeholder,
    is_placeholder_part,
    may_be_placeholder,
    names_several,
    without_marks,
)
from app.domain.normal.texts.wordlists import words

_PARTICLES = words("names/particles.txt")
_QUOTED = re.compile(r"""["\u201c][^"\u201d]*["\u201d]|\([^()]*\)""")
_PLAIN = re.compile(r"[^\W\d_]{2,}(?:[ '-][^\W\d_]{2,}){0,2}")


@lru_cache(maxsize=8192)
def name_of_parts(first: str, last: str, *, middle: str = "", full: str = "") -> PersonName:
    """Return the name from a given and a family name; `full` is the full name as a source writes it.

    A part that is a credential (MBA) or a placeholder (N/A) is none; the other is then read as a full name.

    Raises:
        NoPerson: the parts are not a person's name.
        InvalidValue: neither part contains a letter, or one is longer than 200 characters.

    """
    if _are_plain(first, last):
        family = without_generation(last, f"{first} {last}")
        return PersonName(first, family, _full_name(full, [first, middle, last]))
    if full and (written := _parsed_as(full, first, last)):
        return written
    if is_placeholder(f"{first} {last}"):
        raise NoPerson(NO_PERSON)
    given, family = _part(first, beside=last, following=last), _part(last, beside=first)
    if not family:
        return parse_name(full or " ".join(filter(None, (given, middle))))
    if names_several(f"{given} {family}"):
        raise NoPerson(NO_PERSON)
    if not given:
        return PersonName("", family, family)
    if " " in given and given == family:  # both columns have the full name
        return parse_name(full or given)
    given = given.removesuffix(f" {family}")
    nickname = nickname_of(f"{given} {family}")
    quoted = f'"{nickname}"' if nickname else ""
    given, family = (_without_quoted(part) if nickname else part for part in (given, family))
    full = _full_name(full, [given, middle, quoted, family])
    return PersonName(given, without_generation(family, f"{given} {family}"), full)


def _parsed_as(full: str, first: str, last: str) -> PersonName | None:
    """Return the name if its full form has just these parts, as in our own exports."""
    try:
        name = parse_name(full)
    except InvalidValue:
        return None
    return name if (name.first, name.last, name.full) == (first, last, full) else None


def _without_quoted(part: str) -> str:
    """Return a part of a name without words in quotes or parentheses, if another word is left."""
    return " ".join(word for word in part.split() if not _QUOTED.fullmatch(word)) or part


def plain_full_name(text: str) -> str:
    """Return a full name without what is not a name, or the text if its order would be lost (Dr. Smith).

    Raises:
        NoPerson: the text is not a person's name.
        InvalidValue: it contains no letter, or is longer than 200 characters.

    """
    name = parse_name(text)
    return name.full if parse_name(name.full) == name else text


def _full_name(full: str, parts: list[str]) -> str:
    """Return the full name that a source writes, without notes; else the parts."""
    joined = " ".join(filter(None, parts))
    if not full or full == joined:
        return joined
    if _core(full) == _core(joined):
        return full
    try:
        name = parse_name(full).full
    except InvalidValue:
        return joined
    return full if sorted(name.split()) == sorted(full.split()) else name


def _core(full: str) -> list[str]:
    """Return the words of a full name in any order, without its nickname and generation."""
    return sorted(without_nickname(generation_of(full).name).split())


def _are_plain(first: str, last: str) -> bool:
    """Return whether both parts are names of a few words that are nothing else."""
    if not (_PLAIN.fullmatch(first) and _PLAIN.fullmatch(last)) or f" {first}".endswith(f" {last}"):
        return False
    if not is_plain_text(f"{first} {last}"):
        return False
    both = f"{first} {last}".lower().split()
    return meaningful_words().isdisjoint(both) and not (may_be_placeholder(both) or may_have_notes(both))


def _part(text: str, *, beside: str, following: str = "") -> str:
    """Return a part of a name without notes, empty if nothing else is left.

    `beside` is the other part, also as `following` if it comes after this one.
    """
    if not any(map(str.isalpha, text)):
        return ""
    text = without_marks(f"{beside} {separated(clean_text(text))}").removeprefix(beside).strip()
    text, _distinction = without_brackets(text, following=following)
    text = _with_particles(without_notes(text, least=1))
    parts = text.split()
    parts = [part for part in parts[title_count(parts, left=1) :] if not part.startswith("#")]
    is_noise = (
        is_placeholder_part(text)
        or is_slogan(text)
        or (len(parts) == 1 and is_credential(text) and not beside.isupper())
    )
    return "" if is_noise else " ".join(parts)


def _with_particles(text: str) -> str:
    """Return the part before a comma, with the particles or the generation after it: Gogh, van; Low, Jr."""
    name, *after = text.split(", ")
    particles = [part for part in after if all(word.lower() in _PARTICLES for word in part.split())]
    generations = [part for part in after if is_generation(part)]
    return " ".join([*particles, name, *generations])
