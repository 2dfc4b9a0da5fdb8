"""Removal of what people write beside a name: pronouns, slogans, offices, credentials and remarks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from app.domain.normal.names.honorifics import title_count
from app.domain.normal.names.name_lexicon import (
    is_capitals,
    is_credential,
    is_dotted,
    is_generation,
    is_initials,
    is_title,
    maiden_markers,
)
from app.domain.normal.names.placeholder_names import ends_like_company
from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.wordlists import entries, words

_LISTS = {head: frozenset(items) for head, items in entries("names/name_notes.txt")}
_OFFICES = frozenset(map(fold, _LISTS["office"]))
_OF_OFFICE = _LISTS["of_office"]
_TRADES = frozenset(map(fold, _LISTS["trade"]))
_NAMED_TRADES = _LISTS["named_trade"]
_PHRASES = frozenset(map(fold, _LISTS["slogan"] | _LISTS["remark"]))
_LONGEST = max(phrase.count(" ") for phrase in _PHRASES) + 1
_FIRST_WORDS = frozenset(phrase.partition(" ")[0] for phrase in _PHRASES)
_ALIASES = frozenset(map(fold, _LISTS["alias"]))
_EMPLOYERS = _LISTS["employer"]
_PRONOUNS = frozenset(map(fold, _LISTS["pronoun"])) | _LISTS["pronoun"]
_MARKERS = _ALIASES | _EMPLOYERS
_PARTICLES = words("names/particles.txt")
_NOTES = _OFFICES | _MARKERS | _FIRST_WORDS
_OPEN = re.compile(r"[\s(\[{<,;:/&+-]+$")
_COUNT = re.compile(r"\d[\d.,]*[kK]?\+")
"""How many connections a member tells of: 30K+."""
_PRONOUN_SIGNS = re.compile(r"[/\\|,]")


def may_have_notes(words: Sequence[str]) -> bool:
    """Return whether lower-case words of a name need a closer look; it is False for most names, and quick."""
    return not _NOTES.isdisjoint(words)


def is_office(word: str) -> bool:
    """Return whether a word is an office, such as CEO."""
    return fold(word) in _OFFICES


def is_slogan(text: str) -> bool:
    """Return whether a text is a slogan or a remark of several words, such as Open to work."""
    key = fold(text)
    return " " in key and key in _PHRASES


def is_pronoun(word: str) -> bool:
    """Return whether a word is a pronoun, such as she or elle."""
    return word.lower() in _PRONOUNS


def without_notes(text: str, *, least: int = 2) -> str:
    """Return a name without slogans, offices, remarks, pronouns and credentials after it.

    `least` is the number of words that an office or credential leaves: two of a full name, one of a part.
    """
    name, *after = [part for part in text.split(", ") if part.strip()] or [""]
    name, is_cut = _cut(name, least)
    is_whole = sum(map(_is_name, name.split())) >= least
    generations = [part for part in after if is_generation(part)]
    others = [part for part in after if part not in generations]
    given = [part for part in others if not _is_note(part, is_whole=is_whole and not name.isupper())]
    has_notes = is_cut or len(given) < len(others)
    if is_cut or (is_whole and has_notes):
        given = []  # what stands beside a note after a whole name is one, too: PMP, SAFe 5 Agilist
    return ", ".join([_without_credentials(name, least, has_more=has_notes), *given, *generations])


def _is_name(word: str) -> bool:
    """Return whether a word before a comma is no particle and no abbreviated title: van, Col."""
    return word.lower() not in _PARTICLES and not (word.endswith(".") and is_title(word))


def _cut(text: str, least: int) -> tuple[str, bool]:
    """Return the text up to the first note, and whether there was one."""
    parts = text.split()
    keys = [fold(part) for part in parts]
    start = next((index for index in range(1, len(parts)) if _begins_note(parts, keys, index, least)), 0)
    if not start:
        return text, False
    while start > least and keys[start - 1] in _OF_OFFICE:
        start -= 1
    return _OPEN.sub("", " ".join(parts[:start])), True


def _begins_note(parts: Sequence[str], keys: Sequence[str], index: int, least: int) -> bool:
    """Return whether a note begins at this word."""
    key, word = keys[index], parts[index]
    is_marker = key in _MARKERS or word.rstrip(".") in maiden_markers()
    is_after_titles = all(map(is_title, parts[:index]))  # Maj. Gen. Ada Low
    if is_marker and not is_after_titles and (word.islower() or "." in word) and not parts[0].islower():
        return index + 1 < len(parts)
    if key in _OFFICES:
        return index >= least
    if index >= least and (_COUNT.fullmatch(word) or _begins_phrase(keys[index:])):
        return True
    return word[0] in "#@" or _are_pronouns(word)


def _is_note(part: str, *, is_whole: bool) -> bool:
    """Return whether what follows a comma is a note, not the given name."""
    words = part.split()
    keys = [fold(word) for word in words]
    if _are_pronouns(part) or not _OFFICES.isdisjoint(keys) or _begins_phrase(keys):
        return True
    if any(word.islower() and word in _EMPLOYERS for word in words):
        return True
    if words[0].rstrip(".") in maiden_markers() or title_count([*words, "-"]) == len(words):
        return True
    if is_whole and (_has_trade(keys) or ends_like_company(part)):
        return True
    if is_whole:
        return all(is_credential(word) or is_dotted(word) or is_capitals(word) for word in words)
    return all(is_credential(word) and not is_initials(word) for word in words)


def _has_trade(keys: Sequence[str]) -> bool:
    """Return whether a note after a whole name has a word of a trade: Financial Analyst, Technical Sales."""
    if not _TRADES.isdisjoint(keys):
        return True
    pairs = pairwise(("", *keys))
    return any(key in _NAMED_TRADES and (not before or before in _OF_OFFICE) for before, key in pairs)


def _begins_phrase(keys: Sequence[str]) -> bool:
    """Return whether folded words begin with a slogan or a remark."""
    if keys[0] not in _FIRST_WORDS:
        return False
    return any(" ".join(keys[:length]) in _PHRASES for length in range(1, _LONGEST + 1))


def _are_pronouns(text: str) -> bool:
    pieces = [piece.strip() for piece in _PRONOUN_SIGNS.split(text)]
    return len(pieces) > 1 and all(map(is_pronoun, pieces))


def _without_credentials(text: str, least: int, *, has_more: bool) -> str:
    """Return a name without the credentials at its end; abbreviations count if others follow a comma."""
    words = text.split()
    while len(words) > least and (is_credential(words[-1]) or (has_more and is_dotted(words[-1]))):
        words.pop()
    return " ".join(words)
