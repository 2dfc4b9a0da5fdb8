"""Countries: from the names people write, in seven languages, to ISO 3166-1 alpha-2."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from app.domain.errors import InvalidValue
from app.domain.words import folded

_LINES = [
    line.split(": ")
    for line in (Path(__file__).parent / "data" / "countries.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
_CODES = {code.lower(): code for code, _ in _LINES} | {"uk": "GB", "el": "GR"}
_NAMES = {name: code for code, names in _LINES for name in names.split(", ")}
_STATES = frozenset(
    [
        "al",
        "ak",
        "az",
        "ar",
        "ca",
        "co",
        "ct",
        "de",
        "fl",
        "ga",
        "hi",
        "id",
        "il",
        "in",
        "ia",
        "ks",
        "ky",
        "la",
        "me",
        "md",
        "ma",
        "mi",
        "mn",
        "ms",
        "mo",
        "mt",
        "ne",
        "nv",
        "nh",
        "nj",
        "nm",
        "ny",
        "nc",
        "nd",
        "oh",
        "ok",
        "or",
        "pa",
        "ri",
        "sc",
        "sd",
        "tn",
        "tx",
        "ut",
        "vt",
        "va",
        "wa",
        "wv",
        "wi",
        "wy",
        "dc",
    ]
)
_AROUND = ("greater ", "grossraum ", "metropolregion ")
_SURROUNDINGS = (
    " metropolitan area",
    " metropolitan region",
    " bay area",
    " metro area",
    " area",
    " metro",
    " region",
)


@lru_cache(maxsize=4096)
def country_code(text: str) -> str:
    """Give the two letters of a country by its code, its three letters or its name.

    Raises:
        InvalidValue: no country goes by this.

    """
    key = folded(text)
    code = _CODES.get(key) or _NAMES.get(key) or _NAMES.get(key.removeprefix("the "))
    if code is None:
        raise InvalidValue("This is no country. Give its name or the two letters of ISO 3166-1.")
    return code


@lru_cache(maxsize=4096)
def parse_location(text: str) -> tuple[str | None, str | None]:
    """Split a line such as "Greater Lyon Area, Rhône, France" into city and country code; either may be None.

    Two letters after a comma that are a state of the USA name no country: `CA` may be either.
    """
    first, *rest = [part.strip() for part in text.split(",") if part.strip()] or [""]
    if not rest:
        try:
            return None, country_code(first)
        except InvalidValue:
            return _city(first), None
    try:
        return _city(first), None if rest[-1].lower() in _STATES else country_code(rest[-1])
    except InvalidValue:
        return _city(first), None


def _city(text: str) -> str | None:
    """Leave of "Greater Munich Metropolitan Area" the city."""
    for word in _AROUND:
        if text.lower().startswith(word):
            text = text[len(word) :]
    for word in _SURROUNDINGS:
        if text.lower().endswith(word):
            text = text[: -len(word)]
    return text.strip() or None
