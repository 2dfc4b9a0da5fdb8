"""What is kept of the pages of a company's website: their state, by which a change is seen, and addresses."""

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


@dataclass(frozen=True, slots=True)
class RoleAddress:
    """An address of a role, such as info@, and the page on which it stands."""

    email: str
    url: str
