"""The floor: a regular expression for addresses, each with the nearest heading above it as the name."""

from __future__ import annotations

import html
import re

from benchmarks.website_people.labels import Pair

_ADDRESS = re.compile(r"[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}", re.IGNORECASE)
_HEADING = re.compile(r"<(h[1-6]|strong|b)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


def pairs(page: bytes, domain: str) -> set[Pair]:
    """Return the pairs of a page whose addresses are at the domain."""
    text = html.unescape(page.decode(errors="replace"))
    headings = [(found.start(), _TAG.sub(" ", found[2])) for found in _HEADING.finditer(text)]
    found = set()
    for match in _ADDRESS.finditer(text):
        above = [" ".join(heading.split()) for start, heading in headings if start < match.start()]
        email = match[0].lower()
        if above and above[-1] and email.partition("@")[2] == domain:
            found.add(Pair(domain, above[-1], email))
    return found
