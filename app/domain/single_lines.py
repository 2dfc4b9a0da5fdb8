"""Texts that pages and commands show within a line, such as names and reasons."""

from __future__ import annotations

import re

from app.domain.errors import InvalidValue
from app.domain.messages import Message

UNSHOWN = r"\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
"""Control characters, line breaks, and the characters that change the direction of what follows."""
_FAULT = re.compile(f"[{UNSHOWN}]")
MAX_LENGTH = 500


def single_line(text: str, max_length: int = MAX_LENGTH) -> str:
    """Return the trimmed text.

    Raises:
        InvalidValue: it is blank or too long, or would not be shown as a part of one line.

    """
    text = text.strip()
    if not text:
        raise InvalidValue("This must not be empty.")
    if len(text) > max_length:
        raise InvalidValue(Message("Longer than {max} characters.", max=max_length))
    if _FAULT.search(text):
        raise InvalidValue("Leave out line breaks and control characters.")
    return text
