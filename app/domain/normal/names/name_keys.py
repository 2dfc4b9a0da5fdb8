"""Keys of people's names, equal for equivalent spellings, and names without their nickname or generation."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from app.domain.normal.names.generations import IN_FAMILY_NAME, generation_of
from app.domain.normal.names.name_texts import APOSTROPHE_SIGNS, APOSTROPHES
from app.domain.normal.texts.text_forms import normalized

_NICKNAME = re.compile(
    r"""(?<!\s)\s*(?:["\u201c]([^\W\d_][\w'.-]*)["\u201d]|\(([^\W\d_][\w'.-]*)\))(?=\s+\w)"""
)
_QUOTES = frozenset('"(\u201c')
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f]")
_SIGNS = re.compile(r"[\x00-\x2f\x3a-\x60\x7b-\x7f]+")
_LETTERS = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "\u0131": "i",
        "ħ": "h",
        "ŋ": "n",
    }
)
_EXPANSIONS = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}
_UMLAUTS = str.maketrans(_EXPANSIONS)
_EXPANDED = frozenset(_EXPANSIONS)
_PRECOMPOSED = range(0xC0, 0x180)  # the letters of Latin-1 and Latin Extended-A


@lru_cache(maxsize=16384)
def name_key(text: str) -> str:
    """Return a name's key for indexes and comparison: case-folded, without accents and apostrophes.

    Other punctuation becomes one space. Vowel marks of scripts that need them are kept. Letters without a
    Unicode decomposition are transliterated: ß ss, æ ae, ø o, ł l, đ d.
    """
    folded = text.casefold()
    if not folded.isascii():
        latin = folded.translate(_latin_letters())
        folded = latin if latin.isascii() else _plain_letters(folded)
    if folded.replace(" ", "").isalnum() and folded.isascii():
        return " ".join(folded.split())
    return " ".join(_SIGNS.sub(" ", folded.replace("'", "")).split())


def person_key(full: str) -> str:
    """Return the `name_key` of a person's full name, without a nickname, the generation in its usual form."""
    rank, _written, name = generation_of(full)
    key = name_key(without_nickname(name))
    return f"{key} {rank}" if rank else key


def without_generation(family: str, full: str) -> str:
    """Return a family name without the generation at the end of the full name; Silva Filho keeps it."""
    word = generation_of(full).written
    if not word or word.lower() in IN_FAMILY_NAME:
        return family
    return family.rstrip(")").removesuffix(word).rstrip(" ,(") or family


def without_nickname(full: str) -> str:
    """Return a full name without the nickname in quotes or parentheses."""
    return _NICKNAME.sub("", full, count=1) if nickname_of(full) else full


def nickname_of(full: str) -> str:
    """Return the nickname before the last word, as in Earl L. "Buddy" Carter, or an empty string."""
    found = _NICKNAME.search(full) if _QUOTES.intersection(full) else None
    return (found[1] or found[2]) if found else ""


@lru_cache(maxsize=16384)
def spellings(text: str) -> tuple[str, ...]:
    """Return the keys of a name: its own, and the German and Nordic one (ü as ue, ø as oe, å as aa)."""
    if text.isascii():
        return (name_key(text),)
    folded = text.casefold()
    composed = normalized("NFC", folded)
    if composed == folded and _EXPANDED.isdisjoint(folded):
        return (name_key(text),)
    return tuple(dict.fromkeys((name_key(text), name_key(composed.translate(_UMLAUTS)))))


def _plain_letters(folded: str) -> str:
    """Return case-folded text without accents, its letters transliterated, other signs as spaces."""
    folded = normalized("NFKD", APOSTROPHES.sub("'", folded).translate(_LETTERS)).casefold()
    folded = _ACCENTS.sub("", folded.translate(_LETTERS))
    if folded.isascii():
        return folded
    return normalized("NFC", "".join(map(_kept, folded)))


@cache
def _latin_letters() -> dict[int, str]:
    """Return the plain form of each precomposed Latin letter and apostrophe, whatever its neighbours are."""
    letters = filter(str.isalpha, map(chr, _PRECOMPOSED))
    plain = {ord(letter): _plain_letters(letter.casefold()) for letter in letters}
    table = {code: text for code, text in plain.items() if text.isascii()}
    return table | dict.fromkeys(map(ord, APOSTROPHE_SIGNS), "'")


def _kept(character: str) -> str:
    """Return letters, marks and numbers unchanged, nothing for format characters, else a space."""
    category = unicodedata.category(character)
    if category[0] in "LMN" or character == "'":
        return character
    return "" if category == "Cf" else " "
