"""Places on one line, such as `Saskatoon, SK`: the city, and the country or the countries it may be in."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

from babel import Locale
from babel.core import get_global

from app.domain.errors import InvalidValue
from app.domain.normal.places.countries import LANGUAGES, country_code
from app.domain.normal.places.subdivisions import (
    AFTER_CITIES,
    WITH_CODES,
    is_code,
    is_subdivision,
    subdivisions_called,
)
from app.domain.normal.places.towns import PARTS_OF_CITIES, parts_of_line, town_of, without_postcode
from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.wordlists import entries

_NORTH_AMERICA = frozenset({"US", "CA"})
_STATES_AFTER_SPACE = frozenset({"US", "CA", "AU"})
_CAPITAL_DISTRICTS = frozenset({"US-DC", "BR-DF"})
"""Districts whose abbreviations stand for capitals of other countries, too, as in `Bogotá, D.C.`"""
_MIN_SHARE = 0.9
_STATE_AFTER_SPACE = re.compile(r"\s([A-Z]{2,3}|D\.C\.)$")


@dataclass(frozen=True, slots=True)
class Place:
    """A place: its city and country, either may be None, and the countries that the text may mean.

    `country` is None if several countries are as likely, as for `Springfield, Georgia`.
    """

    city: str | None = None
    country: str | None = None
    readings: tuple[str, ...] = ()


def parse_location(text: str) -> tuple[str | None, str | None]:
    """Split a line such as "Greater Lyon Area, Rhône, France" into city and country code, if it has them."""
    place = parse_place(text)
    return place.city, place.country


@lru_cache(maxsize=4096)
def parse_place(text: str) -> Place:
    """Parse a line of a city, perhaps a state, and perhaps a country.

    The end of the line is a country, a state of one country, or both: `CA` is California or Canada, `Georgia`
    is a state and a country. Then the city and the state before the end decide. If they do not, there is no
    country rather than a wrong one.
    """
    parts = parts_of_line(text)
    if len(parts) == 1:
        return _single(parts[0])
    between = parts[-2] if len(parts) > len(("city", "end")) else None
    return _at(without_postcode(parts[0]), without_postcode(parts[-1]), between)


def country_of_places(texts: Iterable[str]) -> str | None:
    """Return the country that nearly all of the places are in, if most of them are in only one; else None."""
    countries = Counter(place.country for text in texts if (place := parse_place(text)).readings)
    unknown = countries.pop(None, 0)
    country, count = next(iter(countries.most_common(1)), (None, 0))
    return country if count > max(unknown, _MIN_SHARE * countries.total()) else None


def place_in_state(city: str | None, state: str) -> Place:
    """Return the place of a city and a state that have cells of their own; the state is not a country."""
    return _decided(city or "", state, subdivisions_called(state))


def _single(text: str) -> Place:
    """Parse a line without commas: a country, a city, or a city with a state's code as in `Sydney NSW`."""
    try:
        country_code(text)
    except InvalidValue:
        line = without_postcode(text)
    else:
        return _at("", text, None)
    found = _STATE_AFTER_SPACE.search(line)
    if found is None or _STATES_AFTER_SPACE.isdisjoint(subdivisions_called(found[1])):
        return Place(town_of(text))
    return _at(line[: found.start()], found[1], None)


def _at(town: str, end: str, between: str | None) -> Place:
    """Return the place of a town with this end of its line, and this part of the line between them."""
    states = subdivisions_called(end)
    try:
        country = country_code(end)
    except InvalidValue:
        return _decided(town, end, states)
    return _decided(town, end, _rivals(end, country, states), country, between)


def _rivals(end: str, country: str, states: Mapping[str, str]) -> Mapping[str, str]:
    """Return the states of other countries that the end of a line may mean instead of this country.

    The states of most countries are not meant, and Puerto Rico is the same place as a state and as a country.
    """
    territory = "" if is_code(end) else country
    return {
        other: state
        for other, state in states.items()
        if other in WITH_CODES - {country} and not state.endswith(f"-{territory}")
    }


def _decided(
    town: str,
    end: str,
    states: Mapping[str, str],
    country: str | None = None,
    between: str | None = None,
) -> Place:
    """Return the place whose end is this country or one of the states: the one that fits, or the only one."""
    key = fold(town)
    fitting = [other for other, state in states.items() if _is_in_state(key, other, state)]
    if country and (_is_in(key, country) or _is_state(town, country) or _is_state(between, country)):
        fitting.append(country)
    found = fitting if len(fitting) == 1 else _likely(end, states, country)
    if not fitting:
        found = [other for other in found if other == country or _shows(other, states[other], key, end)]
    readings = (*((country,) if country else ()), *states)
    return Place(town_of(town), found[0] if len(found) == 1 else None, readings)


def _likely(end: str, states: Mapping[str, str], country: str | None) -> list[str]:
    """Return the likeliest countries of an end of a line that the rest of the line does not explain."""
    after_cities = [other for other in states if other in AFTER_CITIES]
    if country:
        return [country, *after_cities] if end.upper() == country or not is_code(end) else [country]
    known = after_cities if is_code(end) else [other for other in states if other in _NORTH_AMERICA]
    return known or list(states)


def _shows(country: str, state: str, town: str, end: str) -> bool:
    """Return whether the end of a line shows that the town is in this state of a country, and not elsewhere.

    Most people write a part of the city after it, not a state: Nippes is a state of Haiti, and in Cologne.
    """
    if fold(end) in PARTS_OF_CITIES:
        return False
    is_vague = state in _CAPITAL_DISTRICTS or country not in WITH_CODES
    return not (is_vague and _is_elsewhere(town, country))


def _is_in_state(town: str, country: str, state: str) -> bool:
    """Return whether the town is a large one of the state, or has its name, as São Paulo does."""
    return (
        town in _large_cities()[state]
        or town in _zone_cities()[country]
        or subdivisions_called(town).get(country) == state
    )


def _is_in(town: str, country: str) -> bool:
    return town in _large_cities()[country] or town in _zone_cities()[country]


def _is_elsewhere(town: str, country: str) -> bool:
    """Return whether the town is a known one of another country."""
    others = chain(_zone_cities().items(), _large_cities().items())
    return any(town in cities for place, cities in others if not place.startswith(country))


def _is_state(text: str | None, country: str) -> bool:
    return text is not None and is_subdivision(text, country)


@cache
def _large_cities() -> defaultdict[str, frozenset[str]]:
    """Return the cities of `places/cities.txt` by state or country."""
    found = {place: frozenset(cities) for place, cities in entries("places/cities.txt")}
    return defaultdict(frozenset, found)


@cache
def _zone_cities() -> defaultdict[str, set[str]]:
    """Return the cities that name a time zone, by country, among them nearly all capitals (CLDR)."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    locales = [Locale(language).time_zones for language in LANGUAGES]
    for zone, country in get_global("zone_territories").items():
        found[country].add(fold(zone.rpartition("/")[2]))
        found[country].update(fold(zones[zone]["city"]) for zones in locales if "city" in zones.get(zone, ()))
    return found
