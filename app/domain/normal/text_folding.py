"""Words as people type them, folded so that spelling, case and punctuation do not matter."""

from __future__ import annotations

import re
import unicodedata

_CAMEL = re.compile(r"(?<=[a-zà-ÿ0-9])(?=[A-ZÀ-Þ][a-zà-ÿ])|(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])")
_SIGNS = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """Give lower-case words without accents, one space between them: `Téléphone-Nr.` is `telephone nr`."""
    plain = text.casefold()
    if not plain.isascii():
        decomposed = unicodedata.normalize("NFKD", plain)
        plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    return _SIGNS.sub(" ", plain).strip()


def split_camel(text: str) -> str:
    """Put a space where `camelCase` hides one."""
    return _CAMEL.sub(" ", text)


def snake_case(text: str) -> str:
    """Give the words joined by underscores, as enum values are written."""
    return fold(text).replace(" ", "_")
