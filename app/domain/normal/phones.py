"""Phone numbers in normal form: E.164, what they are called at home, and what kind of line they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat, PhoneNumberType, ValidationResult

from app.domain.errors import InvalidValue

LineType = Literal["mobile", "landline", "voip", "unknown"]

_LINE_TYPES: dict[int, LineType] = {
    PhoneNumberType.MOBILE: "mobile",
    PhoneNumberType.FIXED_LINE: "landline",
    PhoneNumberType.VOIP: "voip",
}
_E164 = re.compile(r"\+[1-9][0-9]{5,14}")
_TRUNK_ABROAD = re.compile(r"[\s(]*00(?=[\s().-]*[1-9])")
_REGIONS = {"UK": "GB", "EL": "GR"}  # what people and the EU write for the ISO code
MIN_NATIONAL_NUMBER = (
    10_000  # national numbers have five digits at least; shorter ones are extensions and services
)
_NON_GEOGRAPHIC = "001"  # the library's region of numbers that belong to no country


@dataclass(frozen=True, slots=True)
class PhoneNumber:
    """A number: E.164 without its extension, the national spelling, and an ISO 3166 country or None."""

    e164: str
    national: str
    extension: str | None
    country: str | None
    line_type: LineType


def parse_phone(text: str, region: str | None = None) -> PhoneNumber:
    """Read a number in any spelling; `region` is the ISO country to read a national one in.

    Takes extensions (x123, ext. 5, ;ext=7), letters for digits, and 00 for +. Where the numbering plan does
    not tell mobiles from landlines apart (North America), or has not handed the number out, as those kept for
    films, the line type is unknown.

    Raises:
        InvalidValue: it is too short or too long for its country, or a national one came without a region.

    """
    country = (region or "").strip().upper()
    number = _parsed(text, _REGIONS.get(country, country) or None)
    possible = phonenumbers.is_possible_number_with_reason(number) == ValidationResult.IS_POSSIBLE
    if not possible or (number.national_number or 0) < MIN_NATIONAL_NUMBER:
        raise InvalidValue(
            "No such phone number can exist. Give it with its country code, as in +1 650 253 0000."
        )
    line = phonenumbers.number_type(number)
    extension, number.extension = number.extension, None  # the national spelling would have it
    return _described(number, line, extension)


@lru_cache(maxsize=4096)
def phone_from_e164(e164: str, extension: str | None = None) -> PhoneNumber:
    """Describe a number that is kept in E.164; one that the numbering plan has dropped since is let through.

    Raises:
        InvalidValue: it is not in E.164.

    """
    if not _E164.fullmatch(e164):
        raise InvalidValue("A phone number in E.164 is a plus and 6 to 15 digits.")
    number = _parsed(e164, None)
    return _described(number, phonenumbers.number_type(number), extension)


def _parsed(text: str, region: str | None) -> phonenumbers.PhoneNumber:
    """Parse with the library; a leading 00 that is no national prefix there stands for the plus."""
    abroad = _TRUNK_ABROAD.match(text)
    try:
        number = phonenumbers.parse(text, region)
        if not abroad or phonenumbers.is_valid_number(number):
            return number
    except NumberParseException as error:
        if not abroad:
            raise InvalidValue("This is not a phone number, or its country is not known.") from error
    return _parsed("+" + text[abroad.end() :], None)


def _described(number: phonenumbers.PhoneNumber, line: int, extension: str | None) -> PhoneNumber:
    """Put together what is told of a number."""
    country = phonenumbers.region_code_for_number(number)
    return PhoneNumber(
        e164=phonenumbers.format_number(number, PhoneNumberFormat.E164),
        national=phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL),
        extension=extension or None,
        country=None if country == _NON_GEOGRAPHIC else country,
        line_type=_LINE_TYPES.get(line, "unknown"),
    )
