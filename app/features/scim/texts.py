"""The texts that a provider sends."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from app.features.scim.errors import invalid

MAX_TEXT = 200
_BREAKS = frozenset({"Cc", "Zl", "Zp"})


def one_line(given: Mapping[str, Any], name: str) -> str | None:
    """Return the text of an attribute, None if it is empty or missing.

    Invisible characters within words are kept: names have no-break spaces, and Persian ones non-joiners.
    """
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise _wrong(name)
    text = value.strip()
    if len(text) > MAX_TEXT or any(unicodedata.category(character) in _BREAKS for character in text):
        raise _wrong(name)
    return text or None


def _wrong(name: str) -> Exception:
    return invalid(f"{name} is a text of at most {MAX_TEXT} characters on one line.")
