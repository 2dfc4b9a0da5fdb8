"""The state of a page of a company's website, by which a change is seen; it holds no personal data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PageState:
    """A page as it was read: its validators (RFC 9110, 8.8), the digest of its content, or why it was not."""

    url: str
    etag: str | None = None
    last_modified: str | None = None
    digest: str | None = None
    reason: str | None = None
