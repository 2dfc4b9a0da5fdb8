"""Country, line type and national format of a phone number, from the plans in the library `phonenumbers`.

The library's own functions return the same, but each tests the number against the plans again: together they
take five times as long.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import phonenumbers
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata

LineType = Literal["mobile", "landline", "voip", "unknown"]

_OTHER_LINES: dict[str, LineType] = {
    "premium_rate": "unknown",
    "toll_free": "unknown",
    "shared_cost": "unknown",
    "voip": "voip",
    "personal_number": "unknown",
    "pager": "unknown",
    "uan": "unknown",
    "voicemail": "unknown",
}
"""The line types that the library tests before landline and mobile, in its order."""
_PLAIN = re.compile(r"\+[1-9](?:[ ().-]{0,3}[0-9]){6,20}(?<!\.0)(?<!\.00)")
_SEPARATORS = re.compile("[().-]+")
_FIRST_GROUP = re.compile(r"(\\\d)")
_OLD_PREFIXES = {
    48: re.compile(r"0([0-9]{9})"),
    380: re.compile(r"80([0-9]{9})"),
    52: re.compile(r"(?:0?1|04[45])([0-9]{10})"),
}
"""What was dialled in Poland and Ukraine until 2009, and in Mexico until 2019, and is still written."""
_CODE_LENGTHS = (1, 2, 3)
_MIN_LENGTH, _MAX_LENGTH = 5, 15  # digits of a national number, within the library's limits


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The numbers of one line type, or of a whole plan: their pattern and possible lengths (any if empty)."""

    pattern: re.Pattern[str]
    lengths: tuple[int, ...]

    def include(self, number: str) -> bool:
        """Return whether a national number is one of them."""
        return self.may_have(len(number)) and self.pattern.fullmatch(number) is not None

    def may_have(self, length: int) -> bool:
        """Return whether some of these numbers have so many digits."""
        return not self.lengths or length in self.lengths


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan of a region.

    `leading` are the digits that tell some regions with the same country code apart. `others` are the numbers
    of other lines by their length. In an undivided plan, landlines and mobiles have the same numbers.
    """

    region: str
    leading: re.Pattern[str] | None
    all: _Numbers | None
    others: Mapping[int, Sequence[tuple[re.Pattern[str], LineType]]]
    landline: _Numbers | None
    mobile: _Numbers | None
    is_undivided: bool

    def line(self, number: str) -> LineType | None:
        """Return the line type of a national number; None if the plan has not assigned it."""
        if self.all is None or not self.all.include(number):
            return None
        for pattern, line in self.others.get(len(number), ()):
            if pattern.fullmatch(number):
                return line
        is_mobile = self.mobile is not None and self.mobile.include(number)
        if self.landline is not None and self.landline.include(number):
            return "unknown" if self.is_undivided or is_mobile else "landline"
        return "mobile" if is_mobile and not self.is_undivided else None


def describe(country_code: int, number: str) -> tuple[str | None, LineType | None]:
    """Return the region and line type of a national number, whose leading zeros are significant.

    The region is 001 for a number without a country. If no plan has assigned the number, the line is None,
    and the region is the only one with the country code, or the one that the first digits tell.
    """
    plans = _plans(country_code)
    if len(plans) == 1:
        return plans[0].region, plans[0].line(number)
    for plan in plans:
        if plan.leading is None:
            if line := plan.line(number):
                return plan.region, line
        elif plan.leading.match(number):
            return plan.region, plan.line(number)
    return None, None


def national_format(country_code: int, number: str) -> str:
    """Return a national number as it is dialled within its country, such as 020 7946 0018."""
    for leading, pattern, template in _formats(country_code):
        if (leading is None or leading.match(number)) and (groups := pattern.fullmatch(number)):
            return template.format(*groups.groups(""))
    return number


def is_possible(country_code: int, number: str) -> bool:
    """Return whether the national number is as long as numbers with this country code are."""
    plans = _plans(country_code)
    return plans[0].all is not None and len(number) in plans[0].all.lengths


def without_old_prefix(country_code: int, number: str) -> str:
    """Return a number without what was once dialled before it, such as 0 in Poland and 1 in Mexico."""
    prefix = _OLD_PREFIXES.get(country_code)
    old = prefix.fullmatch(number) if prefix else None
    return old[1] if old else number


def parse_plain(text: str) -> tuple[int, str] | None:
    """Return the country code and national number of a plus, digits and usual separators.

    Return None if it takes the library to tell: if the national number begins with a zero or with its
    national prefix, as in +44 (0)20 7946 0018.
    """
    if _PLAIN.fullmatch(text) is None:
        return None
    digits = text[1:].replace(" ", "")
    if not digits.isdecimal():
        digits = _SEPARATORS.sub("", digits)
    code = calling_code(digits)
    if code is None:
        return None
    number = digits[len(str(code)) :]
    prefix = _national_prefix(code)
    is_plain = _MIN_LENGTH <= len(number) <= _MAX_LENGTH and number[0] != "0"
    return (code, number) if is_plain and (prefix is None or not prefix.match(number)) else None


def calling_code(digits: str) -> int | None:
    """Return the country code with which the digits of an international number begin; None if it has none."""
    for length in _CODE_LENGTHS:
        if (code := int(digits[:length])) in COUNTRY_CODE_TO_REGION_CODE:
            return code
    return None


@cache
def _plans(country_code: int) -> tuple[_Plan, ...]:
    """Return the plans of the regions with this country code, the main one first."""
    regions = COUNTRY_CODE_TO_REGION_CODE.get(country_code, ())
    return tuple(_plan(region, _metadata(country_code, region)) for region in regions)


def _metadata(country_code: int, region: str) -> Any:  # noqa: ANN401 -- phonenumbers declares every part optional
    return PhoneMetadata.metadata_for_region_or_calling_code(country_code, region)


@cache
def _formats(country_code: int) -> tuple[tuple[re.Pattern[str] | None, re.Pattern[str], str], ...]:
    """Return the formats of national numbers: the leading digits they apply to, their groups, the result."""
    metadata = _metadata(country_code, COUNTRY_CODE_TO_REGION_CODE[country_code][0])
    formats = []
    for entry in metadata.number_format:
        leading = re.compile(entry.leading_digits_pattern[-1]) if entry.leading_digits_pattern else None
        rule = entry.national_prefix_formatting_rule
        template = _FIRST_GROUP.sub(rule, entry.format, count=1) if rule else entry.format
        formats.append((leading, re.compile(entry.pattern), _as_format(template)))
    return tuple(formats)


def _as_format(template: str) -> str:
    r"""Convert a replacement of regular expressions to a format string: `(\1) \2` becomes `({0}) {1}`."""
    return _FIRST_GROUP.sub(lambda found: f"{{{int(found[1][1:]) - 1}}}", template)


@cache
def _national_prefix(country_code: int) -> re.Pattern[str] | None:
    """Return the pattern of what the library strips from national numbers, if anything."""
    text = _metadata(country_code, COUNTRY_CODE_TO_REGION_CODE[country_code][0]).national_prefix_for_parsing
    return re.compile(text) if text else None


def _plan(region: str, metadata: Any) -> _Plan:  # noqa: ANN401 -- as above
    others = [
        (numbers, line)
        for name, line in _OTHER_LINES.items()
        if (numbers := _numbers(getattr(metadata, name))) is not None
    ]
    return _Plan(
        region=region,
        leading=re.compile(metadata.leading_digits) if metadata.leading_digits is not None else None,
        all=_numbers(metadata.general_desc),
        others={
            length: [(numbers.pattern, line) for numbers, line in others if numbers.may_have(length)]
            for length in range(_MAX_LENGTH + 1)
        },
        landline=_numbers(metadata.fixed_line),
        mobile=_numbers(metadata.mobile),
        is_undivided=bool(metadata.same_mobile_and_fixed_line_pattern),
    )


def _numbers(description: phonenumbers.PhoneNumberDesc | None) -> _Numbers | None:
    if description is None or not description.national_number_pattern:
        return None
    return _Numbers(re.compile(description.national_number_pattern), tuple(description.possible_length))
