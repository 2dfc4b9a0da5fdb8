"""Nicknames of given names: the English ones of the package `nicknames`, and `names/nicknames.txt`.

Given names of different people that look alike are in `names/distinct_given_names.txt`.
"""

from __future__ import annotations

from functools import cache

from app.domain.normal.names.name_keys import name_key
from app.domain.normal.texts.wordlists import lines

_FEW = 3


def given_names(first: str) -> frozenset[str]:
    """Return the keys of a given name and its equivalents, such as nicknames."""
    key = name_key(first)
    return equivalents(key) | {key}


def equivalents(key: str) -> frozenset[str]:
    """Return the keys of the nicknames of a name, and of the names that it is a nickname of."""
    return _equivalents().get(key, frozenset())


def is_given_name(key: str) -> bool:
    """Return whether the name is a common given name: one with several nicknames."""
    return len(equivalents(key)) > _FEW


def are_distinct(a: str, b: str) -> bool:
    """Return whether two given names, of which a letter may be an error, are names of different people."""
    return b in _distinct().get(a, ())


@cache
def _distinct() -> dict[str, frozenset[str]]:
    """Return the names that are taken for another person's beside each name."""
    met: dict[str, set[str]] = {}
    for names in lines("names/distinct_given_names.txt"):
        for name in names:
            met.setdefault(name, set()).update(names)
    return {name: frozenset(names - {name}) for name, names in met.items()}


@cache
def _equivalents() -> dict[str, frozenset[str]]:
    """Return the equivalents of each name."""
    from nicknames import name_triplets  # noqa: PLC0415 -- many processes compare no names

    pairs = {frozenset((english.name1, english.name2)) for english in name_triplets()}
    met: dict[str, set[str]] = {}
    for sign, name, *others in lines("names/nicknames.txt"):
        changed = {frozenset((name, other)) for other in others}
        pairs = pairs | changed if sign == "+" else pairs - changed
    for pair in pairs:
        for name in pair:
            met.setdefault(name, set()).update(pair)
    return {name: frozenset(names) for name, names in met.items()}
