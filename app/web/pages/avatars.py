"""Avatars: the initials of a name, and a colour that is the same each time, as the extension shows them."""

from __future__ import annotations

import re

COLORS = 6
_BETWEEN_WORDS = re.compile(r"[\s/@._-]+")
_JOINING = re.compile("[\u0600-\u08ff]")
"""Letters of Arabic, Syriac and related scripts, which join with their neighbour."""
_NON_JOINER = "\N{ZERO WIDTH NON-JOINER}"


def initials(name: str | None) -> str:
    """Return the first letters of the first and the last word, or a question mark without a word."""
    words = [word for word in _BETWEEN_WORDS.split(name or "") if word[:1].isalnum()]
    letters = [word[0].upper()[:1] for word in (words[:1] + words[1:][-1:])]
    return (_NON_JOINER if _JOINING.search("".join(letters)) else "").join(letters) or "?"


def color(name: str | None) -> int:
    """Return the number of the avatar's colour, the same as in `extension/views/components.js`."""
    total = 7
    for letter in name or "":
        total = (total * 31 + ord(letter)) % 9973
    return total % COLORS
