"""Forms of address and offices after a Chinese, Japanese or Korean name: 王先生, 佐藤様, 김민수 부장님."""

from __future__ import annotations

import re

from app.domain.normal.texts.wordlists import entries, words

_LISTS = {head: frozenset(items) for head, items in entries("names/east_asian_titles.txt")}
_JAPANESE = _LISTS["japanese"]
_TITLES = sorted(frozenset().union(*(_LISTS[head] for head in ("chinese", "japanese", "korean"))), key=len)
_CHINESE_FAMILIES = frozenset("".join(_LISTS["families"]))
_GIVEN_NAMES = _LISTS["given"]
_LONG_FAMILIES = words("names/han_surnames.txt")
_LETTERS = "[\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
_HANGUL = "\uac00"
_NAMED = re.compile(
    rf"(?P<name>{_LETTERS}?(?: {_LETTERS}?)??)"
    rf"\s?(?P<title>{'|'.join(reversed(_TITLES))})(?:님|様)?"
)
_FAMILY = 2


def without_title(text: str) -> tuple[str, bool]:
    """Return a name in Chinese, Japanese or Korean letters without a title after it.

    The second value is whether what is left is a family name alone, as it is before a title: 佐藤様.
    """
    found = None if text.isascii() else _NAMED.fullmatch(text)
    if found is None:
        return text, False
    name, title = found["name"], found["title"]
    if title in _GIVEN_NAMES and len(name) == _FAMILY and name[0] not in _CHINESE_FAMILIES:
        return text, False
    is_short = len(name) == 1 or name in _LONG_FAMILIES
    is_japanese = title in _JAPANESE or (name[0] not in _CHINESE_FAMILIES and name[0] < _HANGUL)
    return name, is_short or (is_japanese and len(name) == _FAMILY)
