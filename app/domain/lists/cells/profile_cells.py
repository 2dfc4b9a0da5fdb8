"""Reading of LinkedIn profiles from the cells of a list: URLs, ids of members, and handles.

A word is not a profile: `Yes`, `Link` or `pending` stand beside many people. So a handle without a URL counts
only if it is written from the name in its row, or looks like nothing but a handle (`the-grower-1a2b3c`). This
needs no list of words in any language. Unless it has the whole name, it is weak: two people with it are one
only if they have one name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from app.domain.errors import NotAProfileUrl
from app.domain.lists.cells.cells import unescape_formula, value
from app.domain.lists.row_values import RowValues
from app.domain.lists.warning_kinds import NOT_A_PROFILE, PROFILE_URL
from app.domain.normal.names.name_keys import name_key, spellings
from app.domain.normal.names.names import PersonName
from app.domain.normal.profiles.member_ids import is_member_id, is_member_url, member_url
from app.domain.normal.profiles.profiles import is_plain_profile_url, normal_profile_url
from app.domain.records.profile_links import linked

MAX_LENGTH = 4096  # characters of a URL; Excel allows 2,083
_HANDLE = re.compile(r"@?[\w-]{3,100}")
_NOT_A_WORD = re.compile(r"[\d@_-]")
_SUFFIX = re.compile(r"[-_](?=[a-f]*\d)[0-9a-f]{5,9}")
"""What LinkedIn adds to the name of a new member."""
_FORMULA = re.compile(r'=\s*hyperlink\s*\(\s*"([^"]+)"', re.IGNORECASE)
_URL = re.compile(r"https?://[^\s\"'<>\[\]()|]+", re.IGNORECASE)
_AFTER_URL = frozenset(">)]\"'")
_MIN_PART = 2
_MIN_ALONE = 3


class Profiles(NamedTuple):
    """The profile URLs of a row, as in `FoundContact`; `is_weak` if it has only a weak handle."""

    linkedin_url: str | None = None
    member_url: str | None = None
    is_weak: bool = False


def profiles_of(row: RowValues, name: PersonName | None) -> Profiles:
    """Return the profiles of the person in a row, who has this name.

    Columns that may contain any link are read if none has a URL with a chosen name.
    """
    cells = [found for index in row.indexes("linkedin_url") if (found := _profile(row, index, name))]
    urls = [url for url, is_weak in cells if not is_weak]
    if all(map(is_member_url, urls)):
        urls += _elsewhere(row)
    if len(urls) == 1:
        return Profiles(urls[0])
    return Profiles(*linked((), urls)) if urls or not cells else Profiles(cells[0][0], is_weak=True)


def listed_profile(text: str) -> str:
    """Return the profile URL of a cell in a list of suppressions; any handle but a plain word counts."""
    text = _link_in(unescape_formula(text))
    is_handle = _HANDLE.fullmatch(text) and _NOT_A_WORD.search(text) and not is_member_id(text)
    return _url(_path(text) if is_handle else text)


def _profile(row: RowValues, index: int, name: PersonName | None) -> tuple[str, bool] | None:
    """Return the profile URL of a cell, and whether it is weak; None if it is empty or left out."""
    cell = row.cells[index]
    is_plain = is_plain_profile_url(cell)  # as most are; then there is nothing to take off
    if not is_plain and value(cell) is None:
        return None
    text = cell if is_plain else _link_in(unescape_formula(cell))
    is_whole = is_handle = False
    if _HANDLE.fullmatch(text) and not is_member_id(text):
        is_whole = name is not None and _has_whole_name(text, name)
        is_handle = is_whole or _looks_like_handle(text, name)
    try:
        return _url(_path(text) if is_handle else text), is_handle and not is_whole
    except NotAProfileUrl:
        row.warn("linkedin_url", PROFILE_URL if "/" in text else NOT_A_PROFILE, index)
        return None


def _elsewhere(row: RowValues) -> Iterator[str]:
    """Yield the first profile URL in columns that may contain any link."""
    for index in row.indexes("url"):
        text = _link_in(unescape_formula(row.cells[index]))
        if "linkedin." in text.lower():
            try:
                yield _url(text)
            except NotAProfileUrl:
                continue
            return


def _url(text: str) -> str:
    if len(text) > MAX_LENGTH:
        raise NotAProfileUrl
    return member_url(text) or normal_profile_url(text)


def _path(handle: str) -> str:
    return f"in/{handle.removeprefix('@')}"


def _has_whole_name(handle: str, name: PersonName) -> bool:
    """Return whether a handle has the given and the family name: `ada-lovelace-1815`, `lovelaceada`."""
    words = _words(handle)
    joined = "".join(words)
    for first in spellings(name.first):
        for last in spellings(name.last):
            if min(len(first), len(last)) < _MIN_PART:
                continue
            parts = first.replace(" ", ""), last.replace(" ", "")
            together = "".join(parts), "".join(reversed(parts))
            if {first.split()[0], last.split()[-1]}.issubset(words) or any(map(joined.count, together)):
                return True
    return False


def _looks_like_handle(text: str, name: PersonName | None) -> bool:
    """Return whether a handle is certainly no answer or note: it has a suffix, or a part of the name.

    In a row without a name, anything but a word, a number or an abbreviation is one.
    """
    words = _words(text)
    if _SUFFIX.search(text.lower()):
        return not "".join(words).isdigit()
    if _NOT_A_WORD.search(text) is None:
        return False
    if name is None:
        return any(word.isalpha() and len(word) >= _MIN_ALONE for word in words)
    parts = {word for part in (name.first, name.last) for key in spellings(part) for word in key.split()}
    return any(len(word) >= _MIN_ALONE and word in parts for word in words)


def _words(handle: str) -> list[str]:
    return name_key(handle.replace("_", "-")).split()


def _link_in(text: str) -> str:
    """Return the URL of a formula, or the only one of a text if its end is certain; else the text."""
    if found := _FORMULA.match(text):
        return found[1]
    if text[:4].lower() == "http" or len(text) > MAX_LENGTH:
        return text
    urls = list(_URL.finditer(text))
    is_certain = len(urls) == 1 and (urls[0].end() == len(text) or text[urls[0].end()] in _AFTER_URL)
    return urls[0][0] if is_certain else text
