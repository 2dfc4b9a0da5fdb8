"""Hashes of websites, computed here so that the name of a website is not sent."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import urlsplit

import idna
from mcp.server.mcpserver.exceptions import ToolError

MAX_HASHES = 8
SCHEME = re.compile(r"([a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)


def website_hashes(website: str) -> list[str]:
    """Return the SHA-256 of the website's host and of each parent domain, the most specific first."""
    try:
        host = urlsplit(website if SCHEME.match(website) else f"//{website}").hostname or ""
        labels = idna.encode(host.rstrip("."), uts46=True).decode().split(".")
    except ValueError:
        labels = []
    domains = [".".join(labels[start:]) for start in range(len(labels) - 1)]
    if not domains:
        raise ToolError(
            "This is not a website. Pass a domain such as acme.com, or a URL such as https://acme.com."
        )
    return [hashlib.sha256(domain.encode()).hexdigest() for domain in domains[-MAX_HASHES:]]
