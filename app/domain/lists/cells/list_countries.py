"""The country of a list's phone numbers without a country code, from the rows at its start."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import phonenumbers

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cells import emails_in, phones_in, value
from app.domain.lists.cells.country_cells import NAMIBIA, list_country
from app.domain.lists.headers.column_mapping import ColumnMapping
from app.domain.normal.phones.phone_texts import phone_texts
from app.domain.normal.phones.phones import assigned_phone, parse_phone
from app.domain.normal.places.countries import country_of
from app.domain.normal.places.places import country_of_places, parse_place
from app.domain.normal.places.subdivisions import country_of_subdivisions, is_subdivision

SAMPLE = 2_000  # rows
_MIN_SHARE = 0.05
"""The minimum share of rows with the same country, so that a few rows do not decide for all."""
_CODE = re.compile(r"[A-Z]{2}")
_DIGITS = re.compile(r"[0-9]+")
_MAX_NUMBERS = 50
"""The phone numbers that `fitting_country` tries."""
_MAX_NUMBER = 60  # characters of a number, which has at most 15 digits
_COUNTRY_FIELDS = ("country", "company_country")
_STATE_FIELDS = ("state", "company_state")
_LOCATION_FIELDS = ("location", "company_location")


@dataclass(frozen=True, slots=True)
class ListCountries:
    """The countries of the list's states, of its lines such as `Lyon, France`, and of most of its rows.

    Each may be None. `national` are phone numbers of the list that have no country code, at most 50.
    `has_namibia` is whether NA in a column of countries is Namibia, and not an empty cell.
    """

    states: str | None = None
    places: str | None = None
    majority: str | None = None
    national: tuple[str, ...] = ()
    has_namibia: bool = False


UNKNOWN = ListCountries()
"""The countries of a list whose rows name none."""


def list_countries(layout: ColumnMapping, rows: Sequence[Sequence[str]]) -> ListCountries:
    """Return the countries of a list with these rows; those with fewer cells than the header do not count."""
    rows = [cells for cells in rows if len(cells) >= len(layout.header)]
    states = country_of_subdivisions(text for cells in rows for text in _texts(layout, cells, _STATE_FIELDS))
    lines = (text for cells in rows for text in _texts(layout, cells, _LOCATION_FIELDS))
    national = [text for cells in rows for text in _phones(layout, cells) if not text.startswith("+")]
    known = ListCountries(states, country_of_places(lines), has_namibia=_has_namibia(layout, rows))
    if not national:
        return known
    votes = Counter(country for cells in rows if (country := _country(layout, cells, states)) is not None)
    enough = max(votes.total() / 2, _MIN_SHARE * len(rows))
    majority = next((country for country, count in votes.items() if count > enough), None)
    return replace(known, majority=majority, national=tuple(national[:_MAX_NUMBERS]))


def fitting_country(numbers: Sequence[str]) -> str | None:
    """Return the country whose format fits most of the national numbers; None if they fit none.

    Numbers with the country's groups of digits count first, then those in its numbering plan. Of several
    countries, the one with the lowest calling code is returned.
    """
    best: tuple[tuple[int, int], str | None] = ((0, 0), None)
    for _, (region, *_) in sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items()):
        parsed = [(number, found) for number in numbers if (found := assigned_phone(number, region))]
        alike = sum(_groups(number) == _groups(found.national) for number, found in parsed)
        best = max(best, ((alike, len(parsed)), region), key=lambda score: score[0])
    return best[1]


def _groups(number: str) -> list[str]:
    """Return the groups of digits, without the zero that is dialled within a country."""
    return _DIGITS.findall(number.lstrip("( 0"))


def _country(layout: ColumnMapping, cells: Sequence[str], states: str | None) -> str | None:
    """Return the country of a row: as it names it, or as its state, a phone number or an address tells."""
    for text in _texts(layout, cells, _COUNTRY_FIELDS):
        try:
            return list_country(text)
        except InvalidValue:
            continue
    if states and any(is_subdivision(text, states) for text in _texts(layout, cells, _STATE_FIELDS)):
        return states
    for text in _texts(layout, cells, _LOCATION_FIELDS):
        if place := parse_place(text).country:
            return place
    for text in _phones(layout, cells):
        if text.startswith("+"):
            try:
                return parse_phone(text).country
            except InvalidValue:
                continue
    return next(filter(None, map(country_of, _domains(layout, cells))), None)


def _has_namibia(layout: ColumnMapping, rows: Sequence[Sequence[str]]) -> bool:
    """Return whether NA is a code among others: its column has only codes, and no other column has NA."""
    columns = {index for field in _COUNTRY_FIELDS for index in layout.single.get(field, ())}
    cells = {cells[index].strip() for cells in rows for index in columns}
    others = {text for text in cells if value(text)}
    if NAMIBIA not in cells or not others or not all(map(_CODE.fullmatch, others)):
        return False
    return not any(
        cell == NAMIBIA for cells in rows for index, cell in enumerate(cells) if index not in columns
    )


def _texts(layout: ColumnMapping, cells: Sequence[str], fields: Iterable[str]) -> Iterator[str]:
    for field in fields:
        for index in layout.single.get(field, ()):
            if text := value(cells[index]):
                yield text


def _phones(layout: ColumnMapping, cells: Sequence[str]) -> Iterator[str]:
    for column in layout.phones:
        for part in phones_in(cells[column.index]):
            yield from (found.number for found in phone_texts(part) if 0 < len(found.number) <= _MAX_NUMBER)


def _domains(layout: ColumnMapping, cells: Sequence[str]) -> Iterator[str]:
    for column in layout.emails:
        for address in emails_in(cells[column.index]):
            yield address.rpartition("@")[2]
    for text in _texts(layout, cells, ("company_domain",)):
        yield text.partition("//")[2].partition("/")[0] or text.partition("/")[0]
