"""Folding of text, so that comparisons ignore accents, case and punctuation."""

from __future__ import annotations

import re
import unicodedata

from app.domain.normal.texts.text_forms import normalized

_CAMEL = re.compile(r"(?<=[a-zà-ÿ0-9])(?=[A-ZÀ-Þ][a-zà-ÿ])|(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])")
_SIGNS = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """Return lower-case words without accents, one space apart: `Téléphone-Nr.` becomes `telephone nr`."""
    plain = text.casefold()
    if not plain.isascii():
        decomposed = normalized("NFKD", plain)
        plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    return _SIGNS.sub(" ", plain).strip()


def split_camel(text: str) -> str:
    """Insert spaces between the words of `camelCase`."""
    return _CAMEL.sub(" ", text)


def snake_case(text: str) -> str:
    """Return the folded words joined by underscores, as in enum values."""
    return fold(text).replace(" ", "_")
