"""Reading of one phone number of a list: with its country code, or in the countries that the row suggests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from phonenumbers import country_code_for_region

from app.domain.errors import InvalidValue
from app.domain.normal.phones.numbering_plans import calling_code
from app.domain.normal.phones.phones import PhoneNumber, assigned_phone, parse_phone

_DIGITS = re.compile(r"[0-9]+")
_FIRST_GROUP = re.compile(r"\(?([0-9]{1,3})[ ().-]")
STARTS = ("+", "0", "(0")
"""How a number with all its digits begins; in some countries it may also begin otherwise."""
_MIN_DIGITS = 11
"""The digits of an international number without its plus, if the row names no country."""
_MIN_DIGITS_ABROAD = 10
"""Its digits if the row names a country that has not assigned it."""
_MIN_DIGITS_OF_DOUBT = 10
_MAX_NATIONAL_DIGITS = 11
"""Longer landlines that lack the zero before them are improbable, even where the plan allows any length."""


_RUSSIAN = re.compile(r"\+8[\s(-]*[0-9]{3}[\s)-]")
"""The national prefix 8 with a plus, as Russians write it; the group after it is an area code."""
_OF_RUSSIA = frozenset({"RU", "KZ"})


class PhoneRegions(NamedTuple):  # part of the keys of a cache, so its hash must be fast
    """The countries of a row's national numbers, the likeliest first.

    In a `named` country a number counts if its length is possible; in a `guessed` one only if it is assigned.
    """

    named: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()

    def beside(self, number: PhoneNumber) -> PhoneRegions:
        """Return the countries of the numbers beside this one."""
        return PhoneRegions(self.named, tuple(filter(None, (number.country, *self.guessed))))


NO_REGIONS = PhoneRegions()


def is_international(text: str) -> bool:
    """Return whether a text begins with a country code; `+8 495` may begin with the Russian prefix."""
    return text.startswith("+") and not _RUSSIAN.match(text)


def assigned_number(text: str, regions: PhoneRegions) -> PhoneNumber | None:
    """Return the number as `read_number` does, but None if no numbering plan has assigned it."""
    try:
        number = read_number(text, regions)
    except InvalidValue:
        return None
    return number if number.is_assigned else None


def may_be_foreign(text: str, number: PhoneNumber) -> bool:
    """Return whether a landline without the zero before it would be a foreign number with a plus."""
    digits = _digits(text)
    if number.line_type == "mobile":
        return False
    if digits[0] == "0" or len(digits) < _MIN_DIGITS_OF_DOUBT or _is_written_so(number, digits):
        return False
    abroad = _with_plus(text, digits)
    return abroad is not None and abroad.e164 != number.e164


def is_complete(text: str, number: PhoneNumber) -> bool:
    """Return whether a text is not only the end of a number; mobiles have no area code to be left out."""
    is_mobile = number.line_type == "mobile"
    return is_mobile or text.startswith(STARTS) or _is_written_so(number, _digits(text))


def is_foreign(number: PhoneNumber, regions: PhoneRegions) -> bool:
    """Return whether the row names countries, and none has the number's country code."""
    codes = _calling_codes(regions.named)
    return bool(codes) and calling_code(number.e164[1:]) not in codes


@lru_cache(maxsize=1024)
def _calling_codes(regions: tuple[str, ...]) -> frozenset[int]:
    return frozenset(map(country_code_for_region, regions))


@lru_cache(maxsize=8192)
def read_number(text: str, regions: PhoneRegions) -> PhoneNumber:
    """Return the number of a text of digits and signs.

    A text without a plus is read as national or as if it had the plus, whichever a numbering plan has
    assigned. In a named country and with a plus, a number that no plan has assigned is possible too.

    Raises:
        InvalidValue: the text is not such a number.

    """
    if text.startswith("+(") and (number := assigned_phone(text) or assigned_number(text[1:], regions)):
        return number  # an area code may stand in the brackets
    if text.startswith("+"):
        is_russian = not is_international(text) and not _OF_RUSSIA.isdisjoint(regions.named)
        return parse_phone(text[1:], "RU") if is_russian else parse_phone(text)
    if number := next(_assigned(text, regions), None):
        return number
    for region in regions.named:
        try:
            return parse_phone(text, region)
        except InvalidValue:
            continue
    for region in regions.guessed:
        if number := assigned_phone(text, region):
            return number
    return parse_phone(text)


def _assigned(text: str, regions: PhoneRegions) -> Iterator[PhoneNumber]:
    """Yield the assigned numbers that a text without a plus may be, the likeliest first."""
    groups = _groups(text)
    digits = "".join(groups)
    national = _assigned_in(regions.named, text)
    at_home = national or _assigned_in(regions.guessed, text)
    yield from (number for number in at_home if _has_area_code(number, groups))
    abroad = _with_plus(text, digits)
    if abroad is None or any(_is_grouped_so(text, groups, country) for country in regions.named):
        yield from national
        return
    group = _FIRST_GROUP.match(text)
    may_lack_plus = any(regions) or len(digits) >= _MIN_DIGITS
    if may_lack_plus and group and int(group[1]) == calling_code(digits):
        yield abroad
    yield from (number for number in national if _is_written_so(number, digits))
    if abroad.country in {*regions.named, *regions.guessed}:
        yield abroad
    if not regions.named:
        yield from (number for number in at_home if _is_written_so(number, digits))
    if len(digits) <= _MAX_NATIONAL_DIGITS:
        yield from national
    yield from (number for number in national if number.line_type == "mobile")
    if len(digits) >= (_MIN_DIGITS_ABROAD if regions.named else _MIN_DIGITS):
        yield abroad
    yield from national


def _assigned_in(countries: tuple[str, ...], text: str) -> list[PhoneNumber]:
    """Return the assigned numbers of these countries that the text may be."""
    return [number for country in countries if (number := assigned_phone(text, country))]


def _with_plus(text: str, digits: str) -> PhoneNumber | None:
    """Return the assigned number that has these digits after a plus; None if an area code begins the text."""
    if digits.startswith("0"):
        return None
    bracket = text.startswith("(") and _FIRST_GROUP.match(text)
    if text.startswith("(") and not (bracket and int(bracket[1]) == calling_code(digits)):
        return None
    return assigned_phone(f"+{digits}")


def _has_area_code(number: PhoneNumber, groups: list[str]) -> bool:
    """Return whether the first group is the area code, not a country code, of the number dialled at home."""
    return _groups(number.national)[0] == groups[0] and _is_written_so(number, "".join(groups))


def _is_grouped_so(text: str, groups: list[str], country: str) -> bool:
    """Return whether a number has the country's groups of digits, even if it is not assigned there."""
    try:
        return len(groups) > 1 and _groups(parse_phone(text, country).national) == groups
    except InvalidValue:
        return False


def _is_written_so(number: PhoneNumber, digits: str) -> bool:
    """Return whether these are the digits that are dialled within the country."""
    return _digits(number.national) == digits


def _groups(text: str) -> list[str]:
    return _DIGITS.findall(text)


def _digits(text: str) -> str:
    return "".join(_groups(text))
