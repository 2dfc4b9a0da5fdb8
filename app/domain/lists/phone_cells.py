"""Parsing of the phone numbers of a row, with their types; fax numbers are omitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from app.domain.errors import InvalidValue
from app.domain.findings import FoundPhone
from app.domain.lists.cell_warnings import INVALID, NO_COUNTRY
from app.domain.lists.cells import parse_boolean, phones_in
from app.domain.lists.column_mapping import ValueColumns
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.normal.countries import country_of
from app.domain.normal.phones import PhoneNumber, assigned_phone, parse_phone
from app.domain.normal.vocabularies import email_status, phone_type

_MIN_INTERNATIONAL_DIGITS = 11
_MIN_DIGITS = 5


@dataclass(frozen=True, slots=True)
class PhoneRegions:
    """The countries of a row's national numbers, the likeliest first.

    In a `named` country a number counts if its length is possible; in a `guessed` one only if it is assigned.
    """

    named: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()


_NONE = PhoneRegions()


def phone_regions(
    defaults: ImportDefaults, named: Iterable[str | None], domains: Iterable[str | None]
) -> PhoneRegions:
    """Return the countries of a row that names these countries and has these domains."""
    guessed = (*map(country_of, domains), defaults.countries.majority)
    return PhoneRegions(_distinct((*named, defaults.region)), _distinct(guessed))


def _distinct(countries: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, countries)))


def phones_of(
    row: RowValues,
    columns: tuple[ValueColumns, ...],
    regions: Callable[[], PhoneRegions],
    row_time: datetime | None,
) -> tuple[tuple[FoundPhone, PhoneNumber], ...]:
    """Return the distinct numbers of a row; `regions` returns the countries of national ones."""
    found: dict[str, tuple[FoundPhone, PhoneNumber]] = {}
    for column in columns:
        label = row.cell(column.attributes.get("type"))
        kind = (phone_type(label) if label else None) or column.kind
        if kind == "fax":
            continue
        for number in _numbers(row, column, regions):
            if number.e164 not in found:
                found[number.e164] = (_described(row, column, number, kind, row_time), number)
    return tuple(found.values())


def _numbers(
    row: RowValues, column: ValueColumns, regions: Callable[[], PhoneRegions]
) -> Iterator[PhoneNumber]:
    text = row.cells[column.index]
    if not text:
        return
    for part in phones_in(text):
        is_international = part.startswith("+")
        countries = _NONE if is_international else regions()
        try:
            yield parse_phone(part) if is_international else _number(part, countries)
        except InvalidValue:
            lacks_country = not countries.named and _is_national(part)
            row.warn("phone", NO_COUNTRY if lacks_country else INVALID, column.index)


def _is_national(text: str) -> bool:
    """Return whether the text may be a number that lacks its country code."""
    return not text.startswith(("+", "00")) and sum(map(str.isdecimal, text)) >= _MIN_DIGITS


@lru_cache(maxsize=4096)
def _number(text: str, regions: PhoneRegions) -> PhoneNumber:
    """Parse a number as national in each named country, international without its plus, or in a guessed one.

    Raises:
        InvalidValue: the number is none of these.

    """
    for region in regions.named:
        try:
            return parse_phone(text, region)
        except InvalidValue:
            continue
    if text.startswith("00"):
        return parse_phone(text)
    is_long = sum(map(str.isdecimal, text)) >= _MIN_INTERNATIONAL_DIGITS
    guesses: list[tuple[str, str | None]] = [(f"+{text}", None)] if is_long else []
    for guess, country in (*guesses, *((text, country) for country in regions.guessed)):
        if number := assigned_phone(guess, country):
            return number
    raise InvalidValue("The number lacks its country code.")


def _described(
    row: RowValues, column: ValueColumns, number: PhoneNumber, kind: str | None, row_time: datetime | None
) -> FoundPhone:
    attributes = column.attributes
    seen_at = row.time_in(attributes.get("seen_at"), "phone_seen_at") if attributes else None
    dnc = row.cell(attributes.get("do_not_call")) or row.text("do_not_call")
    return FoundPhone(
        e164=number.e164,
        source=row.source(seen_at or row_time),
        type=kind or ("mobile" if number.line_type == "mobile" else "work"),
        status=_status(row, column),
        extension=number.extension,
        do_not_call=parse_boolean(dnc) if dnc else None,
        verified_at=row.time_in(attributes.get("verified_at"), "phone_verified_at") if attributes else None,
    )


def _status(row: RowValues, column: ValueColumns) -> str:
    """Return the status; `valid` if the row has none, because the operator's data is trusted."""
    text = row.cell(column.attributes.get("status"))
    if text is None:
        return "valid"
    try:
        return email_status(text).value
    except InvalidValue:
        row.warn("phone_status")
        return "unknown"
