"""LinkedIn's ids of members, which stand in profile URLs in place of the name that a member chose.

An id keeps its capitals: two ids that differ in them belong to two people. Each prefix is a namespace:
`ACoAA` is the id in the network, `ACwAA` in Sales Navigator, `AEMAA` in Recruiter. One person has another id
in each, and none can be computed from another.
"""

from __future__ import annotations

import re

PROFILES = "https://www.linkedin.com/in/"
"""The start of every profile URL in normal form."""
_MEMBER_ID = re.compile(r"(?:ACo|ACw|AEM)AA[A-Za-z0-9_-]{3,95}")
_MEMBER_URL = re.compile(re.escape(PROFILES) + _MEMBER_ID.pattern)
_URN = re.compile(r"urn:li:[A-Za-z_]{1,40}:\(?((?:ACo|ACw|AEM)AA[A-Za-z0-9_-]{3,95})(?![A-Za-z0-9_-])")
_PREFIX = 5


def is_member_id(text: str) -> bool:
    """Return whether the text is an id of a member."""
    return _MEMBER_ID.fullmatch(text) is not None


def member_url(text: str) -> str | None:
    """Return the profile URL of an id of a member, alone or in a URN; None if the text is another."""
    text = text.strip()
    if is_member_id(text):
        return PROFILES + text
    found = _URN.match(text)
    return PROFILES + found[1] if found else None


def is_member_url(url: str) -> bool:
    """Return whether a profile URL in normal form has the id of a member, not a chosen name."""
    return _MEMBER_URL.fullmatch(url) is not None


def namespace(url: str) -> str:
    """Return the prefix of the member's id in a profile URL in normal form; "" for a chosen name."""
    return url.removeprefix(PROFILES)[:_PREFIX] if is_member_url(url) else ""
