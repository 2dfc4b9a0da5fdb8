"""States and provinces of all countries (ISO 3166-2), by code and by name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain

from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.wordlists import entries

AFTER_CITIES = frozenset({"US", "CA", "AU", "BR", "IN", "DE", "GB"})
"""The countries in which the name or code of a state often ends a line that starts with a city."""
WITH_CODES = AFTER_CITIES | {"CH", "IT", "MX"}
"""The countries in which people write the codes of states at all."""
_MIN_SHARE = 0.9
"""The share of texts that must be states of one country, because countries share codes such as WA."""
_MAX_CODE_LENGTH = 3
_DOTTED = re.compile(r"[a-z](?:\.\s?[a-z]){1,2}\.?")
_OTHER_NAME = re.compile(r"(.+?) ?[\[(](.+?)(?: [A-Z]{2}-[A-Z]{3})?[\])]")


def is_subdivision(text: str, country: str) -> bool:
    """Return whether the text is the name or code of a state of this country (ISO 3166-1 alpha-2)."""
    return country in subdivisions_called(text)


def subdivisions_called(text: str) -> Mapping[str, str]:
    """Return the ISO 3166-2 code, by country, of the states with this name or code.

    Codes are known only of countries in which people write them.
    """
    return _by_key().get(_key(text), {})


def is_code(text: str) -> bool:
    """Return whether the text has the form of a state's code, such as WA or N.S.W."""
    return len(_key(text)) <= _MAX_CODE_LENGTH


def country_of_subdivisions(texts: Iterable[str]) -> str | None:
    """Return the country that nearly all of the texts are states of; None if there are none or several.

    If several countries fit, it is the only one of them that writes states after cities.
    """
    counts = Counter(map(_key, texts))
    fitting: Counter[str] = Counter()
    for text, count in counts.items():
        fitting.update(dict.fromkeys(subdivisions_called(text), count))
    best = max(fitting.values(), default=0)
    if best == 0 or best < _MIN_SHARE * counts.total():
        return None
    countries = [country for country, count in fitting.items() if count == best]
    usual = [country for country in countries if country in AFTER_CITIES] or countries
    return usual[0] if len(usual) == 1 else None


def _key(text: str) -> str:
    """Return the folded text; `N.S.W.` is `nsw`."""
    lower = text.strip().lower()
    return lower.replace(".", "").replace(" ", "") if _DOTTED.fullmatch(lower) else fold(text)


@cache
def _by_key() -> dict[str, dict[str, str]]:
    """Return the ISO code by country for each code, name and other name of a state."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for code, name in chain(_iso_3166_2(), _other_names()):
        country, _, short = code.partition("-")
        is_written = country in WITH_CODES and short.isalpha()
        for key in {short.lower(), fold(name)} if is_written else {fold(name)}:
            found[key].setdefault(country, code)
    return dict(found)


def _iso_3166_2() -> Iterator[tuple[str, str]]:
    """Yield the code and each name of all states."""
    import pycountry  # noqa: PLC0415 -- its data take 0.15 s to load, and few processes read a state

    for subdivision in pycountry.subdivisions:
        for name in _names(subdivision.name):
            yield subdivision.code, name


def _names(name: str) -> Iterator[str]:
    """Yield the names in `Lleida [Lérida]`, and `Principado de Asturias` for `Asturias, Principado de`."""
    yield name
    if other := _OTHER_NAME.fullmatch(name):
        yield from other.groups()
    name, comma, form = name.partition(", ")
    if comma:
        yield name
        yield f"{form} {name}"


def _other_names() -> Iterator[tuple[str, str]]:
    for code, names in entries("places/subdivisions.txt"):
        for name in names:
            yield code, name
