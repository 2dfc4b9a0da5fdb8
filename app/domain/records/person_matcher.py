"""Mentions: whether something stored for another purpose (a request, an answer, a note) names a person."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from app.domain.normal.names import company_key, name_key

_NUMBER = re.compile(r"\+?\d(?:[\s().\-/]*\d){6,}")
_NO_DIGIT = re.compile(r"\D")
_ROOT = "https://www."


@dataclass(frozen=True, kw_only=True)
class PersonMatcher:
    """All by which a person may be named: ids of contacts; e-mails, profile URLs, phones in normal form.

    `names` are pairs of a name's key and the domain or key of a company: a name alone is a namesake's, too,
    and so is one beside another profile.
    """

    contact_ids: frozenset[str] = frozenset()
    emails: frozenset[str] = frozenset()
    linkedin_urls: frozenset[str] = frozenset()
    phones: frozenset[str] = frozenset()
    names: frozenset[tuple[str, str]] = field(default=frozenset())

    def matches(self, value: Any) -> bool:  # noqa: ANN401 -- any JSON
        """Tell whether a JSON value names the person, in whatever spelling, also amid other text."""
        return any(
            self._is_text(part) if isinstance(part, str) else self._is_called(part) for part in _parts(value)
        )

    def _is_called(self, words: Mapping[str, Any]) -> bool:
        """Tell whether these are the person's name and company, as a subject gives them."""
        said = {name: word for name, word in words.items() if isinstance(word, str)}
        if self.linkedin_urls and said.get("linkedin_url") not in {None, *self.linkedin_urls}:
            return False
        name = said.get("full_name") or f"{said.get('first_name', '')} {said.get('last_name', '')}"
        companies = (said.get("company_domain", ""), company_key(said.get("company_name", "")))
        return any((name_key(name), company) in self.names for company in companies)

    def _is_text(self, text: str) -> bool:
        if self._pattern is not None and self._pattern.search(_folded(text)):
            return True
        said = {_NO_DIGIT.sub("", number).removeprefix("00") for number in _NUMBER.findall(text)}
        return not said.isdisjoint(phone.removeprefix("+") for phone in self.phones)

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        """What finds the person in folded text; no part of a longer address, slug or id."""
        found = [rf"(?<![\w.+'-]){_escaped(email)}(?![\w-])(?!\.\w)" for email in self.emails]
        found += [rf"{_escaped(url.removeprefix(_ROOT))}(?![\w-])" for url in self.linkedin_urls]
        found += [rf"(?<!\w){_escaped(contact_id)}(?!\w)" for contact_id in self.contact_ids]
        return re.compile("|".join(found)) if found else None


def _escaped(value: str) -> str:
    return re.escape(_folded(value))


def _folded(text: str) -> str:
    """Give the text without case and percent-encoding."""
    return unicodedata.normalize("NFC", unquote(text)).casefold()


def _parts(value: Any) -> Iterator[str | Mapping[str, Any]]:  # noqa: ANN401 -- any JSON
    """Give every object and every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield value
        for one in value.values():
            yield from _parts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _parts(one)
