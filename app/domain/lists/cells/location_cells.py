"""The city and country of a row, from columns of their own, a line such as `Saskatoon, SK`, or a state."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from app.domain.errors import InvalidValue
from app.domain.lists.cells.country_cells import NAMIBIA, list_country
from app.domain.lists.row_values import RowValues
from app.domain.lists.warning_kinds import AMBIGUOUS_PLACE, MAYBE_NAMIBIA
from app.domain.normal.phones.phones import assigned_phone
from app.domain.normal.places.countries import country_code, country_of
from app.domain.normal.places.places import Place, parse_place, place_in_state
from app.domain.normal.places.subdivisions import WITH_CODES, is_subdivision
from app.domain.normal.places.towns import parts_of_line, town_of


class PlaceFields(NamedTuple):
    """The fields of a row that name one place."""

    city: str
    country: str
    location: str
    state: str


OF_PERSON = PlaceFields("city", "country", "location", "state")
OF_COMPANY = PlaceFields("company_city", "company_country", "company_location", "company_state")

_NO_PLACE = Place()


def location_of(
    row: RowValues, fields: PlaceFields, numbers: Iterable[str], domains: Iterable[str]
) -> tuple[str | None, str | None]:
    """Return the city and the country of a row; either may be None.

    A place that may be in several countries is in the one in which the row's `numbers` are assigned, which
    its `domains` name, or in which the list's other places are. If nothing decides, it is reported.
    """
    country = _country(row, fields.country)
    field, place = _place(row, fields)
    city = place.city
    if country:
        return city, country
    if not place.readings and (state := row.text(fields.state)):
        field, place = fields.state, _in_state(row, city, state)
    country = place.country or _hinted(row, place.readings, numbers, domains)
    if country is None and place.readings:
        row.warn(field, AMBIGUOUS_PLACE)
    return city, country


def _place(row: RowValues, fields: PlaceFields) -> tuple[str, Place]:
    """Return the place of the row's city or, without one, of its line, and the field that it is from.

    A text that names no place, such as a street or Remote, is left out and reported.
    """
    for field, read in ((fields.city, _place_of_city), (fields.location, parse_place)):
        if text := row.text(field):
            place = read(text)
            if place.city or place.country:
                return field, place
            row.warn(field)
    return fields.city, _NO_PLACE


@lru_cache(maxsize=8192)
def _place_of_city(text: str) -> Place:
    """Return the place of a city's column; its country if it has a line such as `Berlin, DE`.

    The names of states that people seldom write after a city may also be names of its parts.
    """
    parts = parts_of_line(text)
    if len(parts) == 1:
        return Place(town_of(parts[0]))
    place = parse_place(text)
    is_usual = place.country in WITH_CODES or len(place.readings) > 1
    return place if is_usual or _is_country(parts[-1]) else Place(text)


def _is_country(text: str) -> bool:
    try:
        country_code(text)
    except InvalidValue:
        return False
    return True


def _country(row: RowValues, field: str) -> str | None:
    """Return the country of the row's column; NA is Namibia only among other codes, else it is reported."""
    country = row.normal(field, list_country)
    if country is None and NAMIBIA in map(str.strip, row.raw(field)):
        if row.defaults.countries.has_namibia:
            return NAMIBIA
        row.warn(field, MAYBE_NAMIBIA)
    return country


def _in_state(row: RowValues, city: str | None, state: str) -> Place:
    """Return the place in a state, which is one of the list's country if nearly all of its states are."""
    country = row.defaults.countries.states
    if country and is_subdivision(state, country):
        return Place(city, country, (country,))
    return place_in_state(city, state)


def _hinted(
    row: RowValues, readings: tuple[str, ...], numbers: Iterable[str], domains: Iterable[str]
) -> str | None:
    """Return the country that the row or its list suggests for a place in one of these countries."""
    if not readings:
        return None
    for number in numbers:
        assigned = [country for country in readings if _is_from(number, country)]
        if len(assigned) == 1:
            return assigned[0]
    countries = (*map(country_of, domains), row.defaults.countries.places, row.defaults.region)
    return next((country for country in countries if country in readings), None)


def _is_from(number: str, country: str) -> bool:
    found = assigned_phone(number, country)
    return found is not None and found.country == country
