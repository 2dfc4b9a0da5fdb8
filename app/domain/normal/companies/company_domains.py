"""Which addresses identify a company: hosts of pages, mail providers and regions are shared by many."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from app.domain.errors import InvalidValue
from app.domain.messages import Message
from app.domain.normal.companies.company_names import parse_company
from app.domain.normal.companies.written_websites import written_website
from app.domain.normal.emails import email_kind
from app.domain.normal.places.subdivisions import is_subdivision
from app.domain.normal.profiles.url_decorations import undecorated
from app.domain.normal.texts.wordlists import words
from app.domain.normal.websites import NO_HOST, may_end_domain, normal_website, split_url

SHARED_HOST_ERROR = Message(
    "Many companies have pages or addresses at this host, so it identifies none of them. Use a domain of the "
    "company's own, or its name."
)

_SHARED = words("companies/shared_hosts.txt")
_GOVERNMENT = frozenset(["gc", "go", "gob", "gos", "gouv", "gov", "govt", "gub", "gv", "lg", "mil", "state"])
_COUNTRY = re.compile(r"[a-z]{2}")
_MIN_PREFIX = 3
"""Shorter labels begin too many names."""
_MIN_PART = 4
"""Shorter names are part of too many labels."""


class SharedHost(InvalidValue):
    """The host is shared by many companies."""


class _Site(NamedTuple):
    """A registrable domain, whether many companies share the host, and whether there is no more than it."""

    domain: str
    is_shared: bool
    is_whole: bool


def company_domain(text: str, name: str | None = None, *, may_be_host: bool = False) -> str:
    """Return the registrable domain of a website or mail domain of the company with this name.

    With `may_be_host` a shared host itself, given without a name, is the domain of its own company, as in the
    addresses of its people.

    Raises:
        SharedHost: many have pages or addresses at the host, and it is not its own company's.
        InvalidValue: as for `normal_website`.

    """
    site = _parsed(text)
    if not site.is_shared:
        return site.domain
    is_own = is_named_after(site.domain, name) if name else may_be_host and site.is_whole
    if is_own and email_kind(f"a@{site.domain}") == "work":
        return site.domain
    raise SharedHost(SHARED_HOST_ERROR)


def mail_company_domain(host: str, name: str | None = None) -> str | None:
    """Return the registrable domain of a mail domain if it identifies a company; else None."""
    try:
        return company_domain(host, name, may_be_host=True)
    except InvalidValue:
        return None


def is_named_after(domain: str, name: str) -> bool:
    """Return whether the name and the first label of a registrable domain show the same company."""
    label = domain.partition(".")[0].replace("-", "")
    names = parse_company(name).words
    joined = "".join(names)
    initials = "".join(word[0] for word in names)
    return (
        label in names
        or label in {joined, initials}
        or (len(label) >= _MIN_PREFIX and joined.startswith(label))
        or (len(joined) >= _MIN_PART and joined in label)
    )


@lru_cache(maxsize=8192)
def _parsed(text: str) -> _Site:
    text = written_website(text)
    plain = undecorated(text if "/" in text else text.rpartition("@")[2])
    domain = normal_website(plain)
    if not may_end_domain(domain.rpartition(".")[2]):
        raise InvalidValue(NO_HOST)
    host, rest = split_url(plain)
    host = host.removeprefix("www.")
    return _Site(domain, _is_shared(host, domain), host == domain and rest in {"", "/"})


def _is_shared(host: str, domain: str) -> bool:
    labels = host.split(".")
    parents = [".".join(labels[start:]) for start in range(len(labels))]
    listed = {*parents, *(f".{parent}" for parent in parents[1:]), f"{domain.partition('.')[0]}.*"}
    if not _SHARED.isdisjoint(listed) or domain.startswith("www."):  # www.gov.uk/hmrc
        return True
    if any(email_kind(f"a@{part}") == "personal" for part in {host, domain}):
        return True
    return host != domain and _is_region(domain)


def _is_region(domain: str) -> bool:
    """Return whether the domain is of a whole government, such as nsw.gov.au, gov.bc.ca and ca.gov."""
    label, *suffix = domain.split(".")
    country = suffix[-1].upper() if _COUNTRY.fullmatch(suffix[-1]) else "US"
    if label in _GOVERNMENT:
        return len(suffix) > 1 and is_subdivision(suffix[0], country)
    return not _GOVERNMENT.isdisjoint(suffix) and is_subdivision(label, country)
