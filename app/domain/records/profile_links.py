"""The two profile URLs that one person may have: one with a chosen name, and one with an id of the member."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from app.domain.normal.profiles.member_ids import is_member_url, namespace


class HasProfiles(Protocol):
    """A contact, a finding or a subject."""

    @property
    def linkedin_url(self) -> str | None:
        """The URL by which the person is shown: that with the chosen name, if it is known."""

    @property
    def member_url(self) -> str | None:
        """A further URL, with an id of the member."""


def urls_of(person: HasProfiles) -> tuple[str, ...]:
    """Return the profile URLs of a person."""
    shown, further = person.linkedin_url, person.member_url
    if further:
        return (shown, further) if shown else (further,)
    return (shown,) if shown else ()


def spellings(identifier: str) -> tuple[str, ...]:
    """Return the identifier, and how a profile was stored before the ids of members kept their capitals."""
    return (identifier, identifier.lower()) if is_member_url(identifier) else (identifier,)


def are_two_people(urls: Iterable[str], others: Iterable[str]) -> bool:
    """Return whether a URL of the one belongs to another person than a URL of the other for certain.

    A chosen name and an id may belong to one person, and so may ids of two namespaces.
    """
    known = {namespace(url): url for url in urls}
    return any(known.get(namespace(url), url) != url for url in others)


def linked(stored: Iterable[str], found: Iterable[str]) -> tuple[str | None, str | None]:
    """Return `linkedin_url` and `member_url` of a person with these URLs, who is certainly one.

    Stored ones stay, except for an id without its capitals. A third URL is left out.
    """
    found = list(found)
    outdated = {url.lower() for url in found if is_member_url(url)}
    urls = [url for url in stored if url not in outdated]
    for url in found:
        if namespace(url) not in map(namespace, urls):
            urls.append(url)
    shown, further, *_ = [*sorted(urls, key=is_member_url), None, None]
    return shown, further
