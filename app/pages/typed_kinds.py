"""What was typed into the box of the search: an address, a profile, a number, or words."""

from __future__ import annotations

import re

_SPACE = re.compile(r"\s")
_NUMBER = re.compile(r"\+?[\d\s()./-]{7,}", re.ASCII)
_MIN_DIGITS = 7


def identifier_of(typed: str) -> dict[str, str]:
    """Return the field of a subject that a text is, nothing if it is words."""
    if "@" in typed.strip("@ ") and not _SPACE.search(typed) and "/" not in typed:
        return {"email": typed}
    if "linkedin.com/" in typed.lower() and "/company/" not in typed.lower():
        return {"linkedin_url": typed}
    digits = sum(character.isdigit() for character in typed)
    if _NUMBER.fullmatch(typed) and digits >= _MIN_DIGITS:
        return {"phone": typed}
    return {}
