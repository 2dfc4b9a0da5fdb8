"""How registers write numbers, as E.164: fast for the digits of known countries, complete for all others.

A register has tens of millions of numbers, and `parse_phone` takes some twenty microseconds for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import phonenumbers

from app.domain.errors import InvalidValue
from app.domain.normal.phones.phones import parse_phone

Normalize: TypeAlias = Callable[[bytes], bytes | None]
"""Returns a number in E.164, or None if the text is not one."""
_SEPARATORS = b" \t\r\n,-.()\"'"
MAX_BYTES = 64
"""The longest text that is read as a number."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The calling code, the prefix of national numbers, and what is behind it."""

    code: bytes
    trunk: bytes
    national: re.Pattern[bytes]


_NANP = _Plan(b"+1", b"", re.compile(rb"[2-9][0-9]{2}[2-9][0-9]{6}"))
_PLANS = {
    "GB": _Plan(b"+44", b"0", re.compile(rb"[1-9][0-9]{8,9}")),
    "FR": _Plan(b"+33", b"0", re.compile(rb"[1-9][0-9]{8}")),
    "AU": _Plan(b"+61", b"0", re.compile(rb"[23478][0-9]{8}")),
    "US": _NANP,
    "CA": _NANP,
}


def calling_code(country: str) -> str:
    """Return the calling code of a country, with the plus sign.

    Raises:
        InvalidValue: the country has none.

    """
    code = phonenumbers.country_code_for_region(country)
    if not code:
        raise InvalidValue(f"{country} has no telephone numbers.")
    return f"+{code}"


def normalizer(country: str) -> Normalize:
    """Return the function that reads the numbers of a register of this country."""
    plan = _PLANS.get(country)

    def slow(text: bytes) -> bytes | None:
        if len(text) > MAX_BYTES:
            return None
        try:
            return parse_phone(text.decode("latin-1"), country).e164.encode()
        except InvalidValue:
            return None

    if plan is None:
        return slow
    code, skip, trunk, matches = plan.code, len(plan.trunk), plan.trunk, plan.national.fullmatch

    def fast(text: bytes) -> bytes | None:
        digits = text.translate(None, _SEPARATORS)
        if digits.startswith(trunk) and matches(digits, skip):
            return code + digits[skip:]
        return slow(text) if digits else None

    return fast
