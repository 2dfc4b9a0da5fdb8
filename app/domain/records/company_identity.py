"""Whether two names at one domain are of one company, and which domains many companies have."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from app.domain.findings import FoundCompany
from app.domain.normal.companies.company_domains import is_named_after
from app.domain.normal.companies.company_names import parse_company
from app.domain.records.similarity.company_similarity import company_score
from app.domain.records.similarity.similarity import AGREES

_SMALL_WORDS = frozenset(["and", "de", "e", "et", "for", "of", "und", "y"])
"""Words that initials leave out: EY is Ernst & Young."""
SHARED_BY = 3
"""The number of companies of one list at a domain from which it is a host, a group or a placeholder."""


@lru_cache(maxsize=8192)
def are_one_company(a: str, b: str, domain: str) -> bool:
    """Return whether two names at one domain are forms of one name, or both show the domain.

    Forms are names that are similar, of which one has all words of the other (Acme, Acme Rail Systems), or
    is its initials (IBM). Both show the domain in Siemens Energy and Siemens Healthineers at siemens.com.
    Names in two scripts cannot be compared: the domain decides.
    """
    left, right = _words(a), _words(b)
    return (
        company_score(a, b) >= AGREES
        or set(left) <= set(right)
        or set(right) <= set(left)
        or "".join(left) in {"".join(right), _initials(right)}
        or _initials(left) == "".join(right)
        or (is_named_after(domain, a) and is_named_after(domain, b))
        or _is_latin(a) != _is_latin(b)
    )


def shared_domains(records: Iterable[FoundCompany]) -> frozenset[str]:
    """Return the domains at which these records have so many companies that they identify none."""
    names: dict[str, list[str]] = {}
    for record in records:
        if record.domain and record.name:
            others = names.setdefault(record.domain, [])
            is_known = len(others) == SHARED_BY or record.name in others
            if not is_known and not any(are_one_company(name, record.name, record.domain) for name in others):
                others.append(record.name)
    return frozenset(domain for domain, found in names.items() if len(found) == SHARED_BY)


def _words(name: str) -> tuple[str, ...]:
    words = parse_company(name).words
    return tuple(word for word in words if word not in _SMALL_WORDS) or words


def _initials(words: tuple[str, ...]) -> str:
    return "".join(word[0] for word in words)


def _is_latin(name: str) -> bool:
    """Return whether the name has a letter of the Latin script."""
    return name.isascii() or any("LATIN" in unicodedata.name(letter, "") for letter in name)
