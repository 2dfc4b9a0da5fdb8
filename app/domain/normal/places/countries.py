"""Countries: conversion of names in seven languages, and in their own, to ISO 3166-1 alpha-2 codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from babel import Locale
from babel.core import get_global

from app.domain.errors import InvalidValue
from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.wordlists import lines

_NO_COUNTRIES = frozenset(
    {"EU", "EZ", "UN", "XA", "XB", "ZZ", "QO", "AC", "CP", "CQ", "DG", "EA", "IC", "TA"}
)
_AMBIGUOUS_CODES = frozenset(
    {
        "AC",
        "AI",
        "AM",
        "CC",
        "CO",
        "FM",
        "GG",
        "IM",
        "IO",
        "LA",
        "LY",
        "ME",
        "SH",
        "SO",
        "TO",
        "TV",
        "VC",
        "WS",
    }
)
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
_OF_THE_USA = frozenset({"GOV", "MIL", "EDU"})
_INVERTED = re.compile(r"([^,(]+)[,(]\s*([^,()]+)\)?")
_TWICE = re.compile(r"([^()]{2,80})\(([^()]{2,80})\)")
_FORM_OF_STATE = re.compile(
    r"^(?:\w+ ){0,3}?(?:republic|kingdom|federated states|plurinational state|sultanate|principality)"
    r" of (?:the )?"
)


@lru_cache(maxsize=4096)
def country_code(text: str) -> str:
    """Return the alpha-2 code of a country for its alpha-2 code, alpha-3 code or name.

    Names may be written as ISO 3166-1 and the United Nations do: `Korea, Republic of`, `Republic of Korea`;
    and twice: `United Kingdom (UK)`.

    Raises:
        InvalidValue: the text is not a country.

    """
    for name in _readings(text):
        if code := _names().get(name):
            return code
    if twice := _TWICE.fullmatch(text.strip()):
        codes = {_names().get(_plain(fold(name))) for name in twice.groups()}
        if len(codes) == 1 and (code := codes.pop()):
            return code
    raise InvalidValue("This is not a country. Use its name or its two-letter ISO 3166-1 code.")


def _readings(text: str) -> Iterator[str]:
    """Yield the text as keys of `_names`: as written, in the usual order, and without the form of state."""
    inverted = _INVERTED.fullmatch(text.strip())
    for written in (text, f"{inverted[2]} {inverted[1]}") if inverted else (text,):
        key = fold(written)
        yield key
        yield _plain(key)
        yield _plain(_FORM_OF_STATE.sub("", key, count=1))


def _plain(key: str) -> str:
    """Return the key without articles and `and`, and with `st` for `saint`."""
    return " ".join("st" if word == "saint" else word for word in key.split() if word not in {"the", "and"})


def country_of(domain: str | None) -> str | None:
    """Return the country of a domain's top-level domain; None for one that is used worldwide.

    The domains gov, mil and edu are the United States' (https://www.iana.org/domains/root/db).
    """
    ending = (domain or "").rpartition(".")[2].upper()
    if ending in _OF_THE_USA:
        return "US"
    if ending in _AMBIGUOUS_CODES or len(ending) != len("XX"):
        return None
    return "GB" if ending == "UK" else ending if ending in _names().values() else None


def country_name(code: str) -> str:
    """Return the English name of the country with this alpha-2 code; another text is returned as it is."""
    return str(Locale("en").territories.get(code, code))


def is_country(code: str) -> bool:
    """Return whether the text is the alpha-2 code of a country, in capitals."""
    return _names().get(code.lower()) == code


@cache
def _names() -> dict[str, str]:
    """Return the code of every name: CLDR names in seven languages, alpha-3 codes and short forms."""
    names: dict[str, str] = {}
    for language in LANGUAGES:
        for code, name in Locale(language).territories.items():
            if code.isalpha() and code not in _NO_COUNTRIES:
                names[fold(name)] = names[_plain(fold(name))] = names[code.lower()] = code
    for alias, codes in get_global("territory_aliases").items():
        if len(alias) == len("USA") and alias.isalpha():
            names[alias.lower()] = codes[0]
    for line in lines("places/countries.txt"):
        code, shorts = " ".join(line).split(": ")
        names |= dict.fromkeys(shorts.split(", "), code)
    return names
