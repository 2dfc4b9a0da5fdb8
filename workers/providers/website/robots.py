"""What a site allows robots to read: `robots.txt` (RFC 9309), and the headers of pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from protego import Protego

from workers.providers.website.fetching import PRODUCT, Fetcher, FetchError, Reason

MAX_ROBOTS_BYTES = 500 * 1024
"""RFC 9309, 2.5."""
MAX_SITEMAPS = 5
_NO_INDEX = frozenset({"noindex", "none", "noai"})
_AGENT = re.compile(r"^\s*([a-z0-9_-]+)\s*:", re.IGNORECASE)
_DIRECTIVES = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of a host; `refusal` is set if nothing may be read.

    `crawl_delay` is in seconds, `sitemaps` are addresses as written.
    """

    rules: Protego | None = field(default=None, repr=False)
    refusal: Reason | None = None
    crawl_delay: float = 0.0
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:
        """Return whether the page may be read."""
        return self.refusal is None and (self.rules is None or self.rules.can_fetch(url, PRODUCT))


def load(fetcher: Fetcher, origin: str) -> RobotsRules:
    """Return the rules of `https://host`: everything is allowed without a file, nothing if it is unreachable.

    That is RFC 9309, 2.3.1: 4xx means that there is no file. 429 is a refusal here, as for Google.
    """
    try:
        page = fetcher.fetch(f"{origin}/robots.txt")
    except FetchError as error:
        is_absent = error.reason in {"not_found", "login_required", "not_a_page"}
        return RobotsRules() if is_absent else RobotsRules(refusal=error.reason)
    return parse(page.body)


def parse(text: bytes) -> RobotsRules:
    """Return the rules in a file; bytes that are not UTF-8 are left out, and so is what is too long."""
    if len(text) > MAX_ROBOTS_BYTES:
        text = text[:MAX_ROBOTS_BYTES].rpartition(b"\n")[0]  # a rule that is cut would be another
    rules = Protego.parse(text.decode("utf-8-sig", errors="ignore"))
    sitemaps = tuple(url for _, url in zip(range(MAX_SITEMAPS), rules.sitemaps, strict=False))
    return RobotsRules(rules, None, max(rules.crawl_delay(PRODUCT) or 0.0, 0.0), sitemaps)


def is_opted_out(headers: Mapping[str, str]) -> bool:
    """Return whether the headers of a page opt out: `X-Robots-Tag`, or `tdm-reservation: 1` (TDMRep)."""
    if headers.get("tdm-reservation", "").strip() == "1":
        return True
    is_for_us = True
    for part in headers.get("x-robots-tag", "").lower().split(","):
        directive = part
        agent = _AGENT.match(part)
        if agent and agent[1] not in _DIRECTIVES:
            is_for_us = agent[1] in {PRODUCT, "*", "robots"}
            directive = part[agent.end() :]
        if is_for_us and directive.strip() in _NO_INDEX:
            return True
    return False
