"""Second numbers of which only the extension is written: `03991 61157-0 / -100`.

In Germany and Austria the digits after the last hyphen are the extension, and 0 is the switchboard's.
"""

from __future__ import annotations

import re

_ENDING = re.compile(
    r"(?:[/,;|&(\r\n]|\b(?:oder|und|bzw|or|and|dw|durchwahl)\b[.:]?)\s{0,3}"
    r"(-?)([0-9]{1,5})(?![0-9]|[ .()-]{1,3}[0-9])",
    re.IGNORECASE,
)
"""What separates an ending from the number before it, its hyphen if it has one, and its digits."""
_WHOLE = re.compile(r"([+(0-9][0-9 ()./-]{3,24}[0-9)]) ?- ?([0-9]{1,5})\Z")
"""A number before its extension, and the extension."""
_MAX_WHOLE = 40
_HYPHENS = str.maketrans("\u2010\u2011\u2012\u2013\u2212", "-----")
_SWITCHBOARD = "0"


def with_whole_numbers(text: str) -> str:
    """Return a text in which the endings of the number before them are numbers of their own.

    An ending has a hyphen, or a slash or comma after the number of a switchboard: `61157-0/100`. One that is
    shorter than the extension before it remains an ending, as it may replace that or its last digits.
    """
    text = text.translate(_HYPHENS)
    done, position = "", 0
    for ending in _ENDING.finditer(text):
        done += text[position : ending.start()]
        done += _completed(done[-_MAX_WHOLE:].rstrip(" /,;|&(\r\n"), ending)
        position = ending.end()
    return done + text[position:]


def _completed(before: str, ending: re.Match[str]) -> str:
    hyphen, digits = ending.groups()
    whole = _WHOLE.search(before)
    if whole is None or not (hyphen or (ending[0][0] in "/," and whole[2] == _SWITCHBOARD)):
        return ending[0]
    start = whole[1] if len(digits) >= len(whole[2]) else ""
    return f" | {start}-{digits}"
