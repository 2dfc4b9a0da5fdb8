"""Phone numbers in normal form: E.164, the national format, the country and the line type."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import phonenumbers
from phonenumbers import NumberParseException

from app.domain.errors import InvalidValue
from app.domain.normal.phones import numbering_plans
from app.domain.normal.phones.numbering_plans import LineType
from app.domain.normal.phones.phone_texts import PhoneText, phone_texts

_E164 = re.compile(r"\+[1-9][0-9]{5,14}")
_TRUNK_ABROAD = re.compile(r"[\s(]*00(?=[\s().-]*[1-9])")
_NO_DIALLING = re.compile(r"[^0-9+().-]+")
_REGIONS = {"UK": "GB", "EL": "GR"}  # common spellings, and the EU's, of the ISO code
MIN_NATIONAL_NUMBER = (
    10_000  # national numbers have at least five digits; shorter ones are extensions and service numbers
)
_UPWARDS = "01234567890123456789"
_DOWNWARDS = _UPWARDS[::-1]
_NON_GEOGRAPHIC = "001"  # the library's region for numbers without a country


@dataclass(frozen=True, slots=True)
class PhoneNumber:
    """A number: E.164 without its extension, the national format, and an ISO 3166 country or None.

    `is_assigned` says whether a numbering plan has assigned it to someone.
    """

    e164: str
    national: str
    extension: str | None
    country: str | None
    line_type: LineType
    is_assigned: bool


def parse_phone(text: str, region: str | None = None) -> PhoneNumber:
    """Parse a number in any format; `region` is the ISO country of national numbers.

    Accepts extensions (x123, ext. 5, ;ext=7), words beside the number, letters in 1-800-FLOWERS, and 00 for
    +. The line type is unknown if the numbering plan does not distinguish mobiles from landlines (North
    America) or has not assigned the number, such as numbers reserved for films.

    Raises:
        InvalidValue: the number is too short or too long for its country, or national without a region; or
            the text has several numbers.

    """
    extension = None
    if plain := numbering_plans.parse_plain(text):
        code, national = plain
    else:
        country = (region or "").strip().upper()
        found = _only(phone_texts(text))
        code, national = _parsed(found.number, _REGIONS.get(country, country) or None)
        extension = found.extension
    national = numbering_plans.without_old_prefix(code, national)
    number = _described(code, national, extension)
    is_typed = not number.is_assigned and _is_typed(national)
    if is_typed or not numbering_plans.is_possible(code, national) or int(national) < MIN_NATIONAL_NUMBER:
        raise InvalidValue(
            "This is not a possible phone number. Include the country code, as in +1 650 253 0000."
        )
    return number


def normal_phone(text: str) -> str:
    """Return a number with a country code in E.164.

    Raises:
        InvalidValue: as in `parse_phone`.

    """
    return parse_phone(text).e164


def assigned_phone(text: str, region: str | None = None) -> PhoneNumber | None:
    """Return the number as `parse_phone` does, but None if no numbering plan has assigned it."""
    try:
        number = parse_phone(text, region)
    except InvalidValue:
        return None
    return number if number.is_assigned else None


@lru_cache(maxsize=4096)
def phone_from_e164(e164: str, extension: str | None = None) -> PhoneNumber:
    """Parse a stored number in E.164; a number since removed from the numbering plan is accepted."""
    if not _E164.fullmatch(e164):
        raise InvalidValue("This is not a phone number in E.164 format: a plus and 6 to 15 digits.")
    code, national = numbering_plans.parse_plain(e164) or _parsed(e164, None)
    return _described(code, national, extension)


def _is_typed(national: str) -> bool:
    """Return whether a number stands for a missing one: 555 555 5555, 1234567890."""
    return len(set(national)) == 1 or national in _UPWARDS or national in _DOWNWARDS


def _only(found: tuple[PhoneText, ...]) -> PhoneText:
    if len(found) > 1:
        raise InvalidValue("This text has several phone numbers. Give one of them.")
    if found[0].is_cut:
        raise InvalidValue("A spreadsheet rounded this phone number. Give all of its digits.")
    return found[0]


def _parsed(text: str, region: str | None) -> tuple[int, str]:
    """Return the country code and national number, as parsed by the library.

    A leading 00 that is not a national prefix in the region means +.
    """
    abroad = _TRUNK_ABROAD.match(text)
    digits = _NO_DIALLING.sub(" ", text)
    try:
        number = phonenumbers.parse(digits, region)
        if not abroad or phonenumbers.is_valid_number(number):
            return number.country_code or 0, phonenumbers.national_significant_number(number)
    except NumberParseException as error:
        if not abroad:
            raise InvalidValue(
                "This is not a phone number, or it lacks the country code, as in +1 650 253 0000."
            ) from error
    return _parsed("+" + text[abroad.end() :], None)


def _described(code: int, national: str, extension: str | None) -> PhoneNumber:
    """Return the number in normal form with its country and line type."""
    country, line_type = numbering_plans.describe(code, national)
    return PhoneNumber(
        e164=f"+{code}{national}",
        national=numbering_plans.national_format(code, national),
        extension=extension or None,
        country=None if country == _NON_GEOGRAPHIC else country,
        line_type=line_type or "unknown",
        is_assigned=line_type is not None,
    )
