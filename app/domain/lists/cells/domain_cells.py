"""The domain of a row's company from the cells of websites, of which one may contain several."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from app.domain.errors import InvalidValue
from app.domain.lists.row_values import RowValues
from app.domain.lists.warning_kinds import INVALID, SEVERAL_DOMAINS, SHARED_HOST
from app.domain.normal.companies.company_domains import SharedHost, company_domain
from app.domain.normal.companies.written_websites import written_website
from app.domain.normal.websites import normal_website

FIELD = "company_domain"

_SEPARATOR = re.compile(r":::|[;,|\s\u3001\uff0c\uff1b]+")


class _Read(NamedTuple):
    """The different domains in a cell, or the code of why there is none."""

    domains: tuple[str, ...]
    code: str = ""


def domain_of(row: RowValues, name: str | None, page: str | None) -> str | None:
    """Return the first domain that identifies the company of this name; None if there is none.

    A link to LinkedIn was not left out if the company's `page` there is known.
    """
    left_out: tuple[str, int] | None = None
    for index, text in row.filled(FIELD):
        found = _read(text, name)
        if len(found.domains) > 1:
            row.warn(FIELD, SEVERAL_DOMAINS, index)
        if found.domains:
            return found.domains[0]
        if not (page and "linkedin." in text.lower()):
            left_out = (found.code, index)
    if left_out:
        row.warn(FIELD, *left_out)
    return None


def country_site(row: RowValues) -> str | None:
    """Return the domain of a website that does not identify the company but shows the country; else None.

    This holds below suffixes such as com.au. Short links have the domains of other countries: bit.ly.
    """
    for _index, text in row.filled(FIELD):
        try:
            domain = normal_website(text)
        except InvalidValue:
            continue
        if domain.count(".") > 1:
            return domain
    return None


@lru_cache(maxsize=8192)
def _read(text: str, name: str | None) -> _Read:
    text = written_website(text)
    if not _SEPARATOR.search(text):
        return _read_one(text, name)
    parts = [_read_one(part, name) for part in _SEPARATOR.split(text) if "." in part]
    domains = tuple(dict.fromkeys(domain for part in parts for domain in part.domains))
    if domains or any(part.code == SHARED_HOST for part in parts):
        return _Read(domains, SHARED_HOST)
    return _read_one(text, name)


def _read_one(text: str, name: str | None) -> _Read:
    try:
        return _Read((company_domain(text, name),))
    except SharedHost:
        return _Read((), SHARED_HOST)
    except InvalidValue:
        return _Read((), INVALID)
