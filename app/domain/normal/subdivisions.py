"""States and provinces: the country that a list's states are those of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from app.domain.normal.text_folding import fold
from app.domain.normal.wordlists import lines

_MIN_SHARE = 0.9
"""The share of texts that must be states of one country, because countries share codes such as WA."""
_MAX_CODE_LENGTH = 3


def is_subdivision(text: str, country: str) -> bool:
    """Return whether the text is the code or name of a state of this country (ISO 3166-1 alpha-2)."""
    return fold(text) in _subdivisions().get(country, frozenset())


def country_of_subdivisions(texts: Iterable[str]) -> str | None:
    """Return the country that nearly all of the texts are states of; None if there are none or several."""
    counts = Counter(map(fold, texts))
    fitting = {
        country: sum(count for text, count in counts.items() if text in names)
        for country, names in _subdivisions().items()
    }
    best = max(fitting.values())
    if best == 0 or best < _MIN_SHARE * counts.total():
        return None
    countries = [country for country, count in fitting.items() if count == best]
    return countries[0] if len(countries) == 1 else None


@cache
def _subdivisions() -> dict[str, frozenset[str]]:
    """Return the codes and names of the states of each country in `subdivisions.txt`."""
    found = {}
    for line in lines("subdivisions.txt"):
        country, states = " ".join(line).split(": ")
        names: set[str] = set()
        for state in states.split(", "):
            code, _, name = state.partition(" ")
            names |= {code, name} if name and len(code) <= _MAX_CODE_LENGTH else {state}
        found[country] = frozenset(names)
    return found
