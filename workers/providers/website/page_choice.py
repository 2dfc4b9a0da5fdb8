"""Which pages of a site are read: a handful, those that name people by their addresses."""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterable
from urllib.parse import urlsplit

from workers.providers.website.markup import MAX_PAGE_BYTES
from workers.providers.website.page_kinds import KINDS, kind_of

MAX_LOCATIONS = 5_000
"""Addresses of a sitemap that are considered."""
_LOCATION = re.compile(r"<loc>\s*(?:<!\[CDATA\[)?\s*([^<>\s]{8,2000}?)\s*(?:\]\]>)?\s*</loc>", re.IGNORECASE)
_INDEX = re.compile(r"<sitemapindex[\s>]", re.IGNORECASE)
_PAGES = re.compile(r"page|seite|site|main", re.IGNORECASE)
_END = re.compile(r"(?:/(?:index|default))?(?:\.(?:html?|php|aspx?))?/?$")
_GZIP = b"\x1f\x8b"


def choose(links: Iterable[str], *, at_most: int, read: Iterable[str] = ()) -> list[str]:
    """Return the addresses of pages that may name people: one of each kind, then more of each.

    The first link of a kind comes first: menus stand at the top, in the language of the page.
    """
    known = {_key(url) for url in read}
    by_kind: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for url in links:
        kind = kind_of(url)
        if kind and _key(url) not in known:
            known.add(_key(url))
            by_kind[kind].append(url)
    rounds = max(map(len, by_kind.values()))
    turns = (by_kind[kind][turn] for turn in range(rounds) for kind in KINDS if turn < len(by_kind[kind]))
    return [url for url, _ in zip(turns, range(at_most), strict=False)]


def entrance(links: Iterable[str], *, read: Iterable[str]) -> str | None:
    """Return the first page behind a home page that is only a cover or a choice of countries."""
    known = {_key(url) for url in read}
    return next((url for url in links if _key(url) not in known), None)


def missing_kinds(urls: Iterable[str]) -> frozenset[str]:
    """Return the kinds of pages that are not among the addresses."""
    return frozenset(KINDS) - {kind for url in urls if (kind := kind_of(url))}


def locations(sitemap: bytes) -> tuple[list[str], bool]:
    """Return the addresses in a sitemap, and whether it is an index of sitemaps, the likeliest first.

    It is not parsed as XML, so that it has no entities that expand.
    """
    if sitemap.startswith(_GZIP):
        sitemap = _inflated(sitemap)
    text = sitemap[:MAX_PAGE_BYTES].decode("utf-8", errors="replace")
    found = [
        html.unescape(match[1])
        for match, _ in zip(_LOCATION.finditer(text), range(MAX_LOCATIONS), strict=False)
    ]
    is_index = _INDEX.search(text) is not None
    return (sorted(found, key=lambda url: not _PAGES.search(url)) if is_index else found), is_index


def _inflated(content: bytes) -> bytes:
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(content, MAX_PAGE_BYTES)
    except zlib.error:
        return b""


def _key(url: str) -> str:
    """Return what two addresses of one page share: not the scheme, `www.`, the case, and index.html."""
    parts = urlsplit(url)
    path = _END.sub("", parts.path.lower())
    return f"{parts.netloc.lower().removeprefix('www.')}{path}?{parts.query}"
