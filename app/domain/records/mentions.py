"""Tokens of stored JSON: an index of them finds every text that may mention a person.

If `PersonMatcher.matches` is true for a value, the value and the matcher have a token in common. The reverse
does not hold, so what an index returns is checked with the matcher.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from app.domain.normal.companies.company_names import company_key
from app.domain.normal.names.name_keys import person_key
from app.domain.records.person_matcher import ROOT, PersonMatcher, folded, names_of, numbers_in, parts

_DOMAIN = re.compile(r"@([\w-]+(?:\.\w[\w-]*)*)")
_MAX_LOCAL = 64  # RFC 5321, section 4.5.3.1.1
_BEFORE_LOCAL = re.compile(r"(?<![\w.+'-])(?=\S)")
_PROFILE = re.compile(r"linkedin\.com/(?:in|sales/(?:lead|people|profile))/([^\s/]{1,400})")
_END_OF_SLUG = re.compile(r"(?![\w-])")
_CONTACT_ID = re.compile(r"(?<!\w)con_\w+")


def tokens_in(value: object) -> set[str]:
    """Return the tokens of everybody whom a JSON value may mention."""
    tokens: set[str] = set()
    for part in parts(value):
        tokens.update(_of_text(part) if isinstance(part, str) else _of_subject(part))
    return tokens


def tokens_of(matcher: PersonMatcher) -> set[str]:
    """Return the tokens of the person."""
    tokens = {folded(text) for text in (*matcher.emails, *matcher.contact_ids)}
    tokens |= {folded(url.removeprefix(ROOT)) for url in matcher.linkedin_urls}
    tokens |= {phone.removeprefix("+") for phone in matcher.phones}
    return tokens | {_name_token(name, company) for name, company in matcher.names}


def _of_text(text: str) -> Iterator[str]:
    yield from numbers_in(text)
    plain = folded(text)
    yield from _CONTACT_ID.findall(plain)
    for found in _PROFILE.finditer(plain):
        slug = found[1]
        yield from (f"linkedin.com/in/{slug[: end.start()]}" for end in _END_OF_SLUG.finditer(slug, 1))
    for found in _DOMAIN.finditer(plain):
        before = plain[max(0, found.start() - _MAX_LOCAL) : found.start()]
        local = before.rsplit(maxsplit=1)[-1] if before and not before[-1].isspace() else ""
        for start in _BEFORE_LOCAL.finditer(local):
            yield f"{local[start.start() :]}@{found[1]}"


def _of_subject(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tokens of the name at each company that the fields contain."""
    name, domain, company = names_of(fields)
    if not name.strip() or not (domain or company):
        return
    key = person_key(name)
    for employer in {domain, company_key(company)} - {""}:
        yield _name_token(key, employer)


def _name_token(name: str, company: str) -> str:
    return f"{name}\n{company}"
