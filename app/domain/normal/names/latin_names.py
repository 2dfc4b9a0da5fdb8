"""Names in Latin letters: those in another script are transliterated."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from anyascii import anyascii

from app.domain.normal.names.name_keys import name_key, without_generation
from app.domain.normal.names.names import PersonName
from app.domain.normal.texts.text_forms import normalized

_MARKS = str.maketrans("", "", "'`~")
"""Removes the signs for letters without a Latin counterpart, such as ayin and the soft sign."""


@lru_cache(maxsize=16384)
def script_of(text: str) -> str:
    """Return the script of the first letter that is not a Latin one with or without accents, or ""."""
    key = name_key(text)
    if key.isascii():
        return ""
    letters = (letter for letter in key if letter.isalpha() and not letter.isascii())
    return next((unicodedata.name(letter, "").partition(" ")[0] for letter in letters), "")


@lru_cache(maxsize=16384)
def latin_key(text: str) -> str:
    """Return the `name_key` of a name in Latin letters; what Chinese characters are read as is Mandarin."""
    key = name_key(text)
    if key.isascii():
        return key
    latin = name_key(anyascii(normalized("NFC", text)).translate(_MARKS))
    return latin.replace("c", "s") if script_of(text) == "TAMIL" else latin  # one letter, spelt s or ch


def latin_name(name: PersonName) -> PersonName:
    """Return the name in Latin letters."""
    return PersonName(*map(latin_key, (name.first, name.last, name.full)))


def family_key(last: str | None, full: str) -> str:
    """Return the key by which people are found by family name: in Latin letters, without the generation.

    A single name is used for both.
    """
    return latin_key(without_generation(last, full) if last else full)
