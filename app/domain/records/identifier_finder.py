"""Finds the e-mail addresses, profile URLs and phone numbers in stored JSON and text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias
from urllib.parse import unquote

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.normal.emails import normal_email
from app.domain.normal.phones.phones import parse_phone
from app.domain.normal.profiles.profiles import normal_profile_url
from app.domain.records.person_matcher import numbers_in

Found: TypeAlias = tuple[str, str]
"""A kind (email, linkedin_url or phone), and the value in normal form."""

_DOMAIN = re.compile(r"@[\w-]+(?:\.[\w-]+)+")
_LOCAL = re.compile(r"[\w.+'-]+\Z")
_MAX_LOCAL = 64  # RFC 5321, section 4.5.3.1.1
_QUOTES = "'.+-"
"""Signs that belong to an address, but at its start rather to the text around it."""
_PROFILE = re.compile(
    r"linkedin\.com/(?:in|pub|sales/(?:lead|people|profile))/[^\s\"'<>?#,;]{1,1000}", re.IGNORECASE
)


def identifiers_in(value: object) -> Iterator[Found]:
    """Yield each identifier in a JSON value, as often as it occurs.

    A phone number is read with its country code, with or without a plus or two zeros before it.
    """
    if isinstance(value, str):
        yield from _in_text(value)
    elif isinstance(value, Mapping):
        for element in value.values():
            yield from identifiers_in(element)
    elif isinstance(value, list | tuple):
        for element in value:
            yield from identifiers_in(element)


def _in_text(text: str) -> Iterator[Found]:
    plain = unquote(text) if "%" in text else text
    if "@" in plain:
        addresses = set(_addresses_in(plain))
        yield from _read("email", {*addresses, *(text.lstrip(_QUOTES) for text in addresses)}, normal_email)
    if "/" in plain:
        yield from _read("linkedin_url", _PROFILE.findall(plain), normal_profile_url)
    yield from _read("phone", numbers_in(text), _e164)


def _addresses_in(text: str) -> Iterator[str]:
    """Yield the addresses, found by their @: a pattern of a whole address is tried at each character."""
    for domain in _DOMAIN.finditer(text):
        if local := _LOCAL.search(text[max(0, domain.start() - _MAX_LOCAL) : domain.start()]):
            yield f"{local[0]}{domain[0]}"


def _read(kind: str, texts: Iterable[str], form: Callable[[str], str]) -> Iterator[Found]:
    for text in texts:
        try:
            yield kind, form(text)
        except (InvalidValue, NotAProfileUrl):
            continue


def _e164(digits: str) -> str:
    return parse_phone(f"+{digits}").e164
