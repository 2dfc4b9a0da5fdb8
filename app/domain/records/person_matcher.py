"""Detection of a person in stored JSON, such as requests, responses and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from app.domain.normal.companies.company_names import company_key
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.profiles.member_ids import PROFILES, is_member_url
from app.domain.normal.texts.text_forms import normalized

_NUMBER = re.compile(r"\+?\d(?:[\s().\-/]*\d){6,}")
_NO_DIGIT = re.compile(r"\D")
ROOT = "https://www."
"""The part of a profile URL that a mention may lack."""


@dataclass(frozen=True, kw_only=True)
class PersonMatcher:
    """The identifiers of a person: contact ids, and e-mails, profile URLs and phones in normal form.

    `names` contains pairs of a name key and a company's domain or key. A name alone is not a match, because
    different people share names; nor is a name next to a different profile URL.
    """

    contact_ids: frozenset[str] = frozenset()
    emails: frozenset[str] = frozenset()
    linkedin_urls: frozenset[str] = frozenset()
    phones: frozenset[str] = frozenset()
    names: frozenset[tuple[str, str]] = field(default=frozenset())

    def matches(self, value: object) -> bool:
        """Return whether a JSON value mentions the person, in any spelling, including inside longer text."""
        return any(
            self._matches_text(part) if isinstance(part, str) else self._matches_name(part)
            for part in parts(value)
        )

    def without(self, cells: Sequence[str]) -> list[str]:
        """Return the cells of a row that mentions the person, those that do so empty."""
        return ["" if self.mentioned_in(cell) else cell for cell in cells]

    def mentioned_in(self, cell: str) -> list[str]:
        """Return the person's identifiers or name in a cell of a row that mentions the person, and no more.

        In such a row the name needs no company beside it.
        """
        if person_key(cell) in {name for name, _employer in self.names}:
            return [cell]
        plain = folded(cell)
        found = [match[0] for match in self._pattern.finditer(plain)] if self._pattern is not None else []
        numbers = numbers_in(cell)
        return found + [phone for phone in sorted(self.phones) if phone.removeprefix("+") in numbers]

    def _matches_name(self, fields: Mapping[str, Any]) -> bool:
        """Return whether the fields of a subject contain the person's name and company."""
        url = fields.get("linkedin_url")
        if self.linkedin_urls and isinstance(url, str) and url not in self.linkedin_urls:
            return False
        name, domain, company = names_of(fields)
        return any((person_key(name), employer) in self.names for employer in (domain, company_key(company)))

    def _matches_text(self, text: str) -> bool:
        if self._pattern is not None and self._pattern.search(folded(text)):
            return True
        return not numbers_in(text).isdisjoint(phone.removeprefix("+") for phone in self.phones)

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        """The pattern of the identifiers in folded text; it does not match inside longer identifiers."""
        patterns = [rf"(?<![\w.+'-]){_escaped(email)}(?![\w-])(?!\.\w)" for email in self.emails]
        patterns += [rf"{_profile(url)}(?![\w-])" for url in self.linkedin_urls]
        patterns += [rf"(?<!\w){_escaped(contact_id)}(?!\w)" for contact_id in self.contact_ids]
        return re.compile("|".join(patterns)) if patterns else None


def names_of(fields: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the name, the company's domain and the company's name of a subject, "" for what it lacks."""
    texts = {name: value for name, value in fields.items() if isinstance(value, str)}
    name = texts.get("full_name") or f"{texts.get('first_name', '')} {texts.get('last_name', '')}"
    return name, texts.get("company_domain", ""), texts.get("company_name", "")


def numbers_in(text: str) -> set[str]:
    """Return the digits of every phone number in the text, without a leading 00."""
    return {_NO_DIGIT.sub("", number).removeprefix("00") for number in _NUMBER.findall(text)}


def _profile(url: str) -> str:
    """Return the pattern of a profile URL; the id of a member may be in one of Sales Navigator too."""
    if is_member_url(url):
        return rf"linkedin\.com/(?:in|sales/(?:lead|people|profile))/{_escaped(url.removeprefix(PROFILES))}"
    return _escaped(url.removeprefix(ROOT))


def _escaped(value: str) -> str:
    return re.escape(folded(value))


def folded(text: str) -> str:
    """Return the text case-folded and percent-decoded."""
    return normalized("NFC", unquote(text)).casefold()


def parts(value: object) -> Iterator[str | Mapping[str, Any]]:
    """Yield every object and every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield value
        for element in value.values():
            yield from parts(element)
    elif isinstance(value, list | tuple):
        for element in value:
            yield from parts(element)
