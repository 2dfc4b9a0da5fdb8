"""How registers write numbers, as E.164: fast for the digits of known countries, complete for all others.

A register has tens of millions of numbers, and `parse_phone` takes some twenty microseconds for each.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import phonenumbers

from app.domain.errors import InvalidValue
from app.domain.normal.phones.phones import PhoneNumber, parse_phone

Normalize: TypeAlias = Callable[[bytes], bytes | None]
"""Returns a number in E.164, or None if the text is not one."""
_SEPARATORS = b" \r\n-()\"'"
_COLUMNS = re.compile(rb"[,;\t|]")
_AROUND = b" \r\n\"'=\0"
_DECIMALS = re.compile(rb"\.0+$")
_ADDED = frozenset({b"A", b"ADD", b"ADDED"})
_DELETED = frozenset({b"D", b"DEL", b"DELETE", b"DELETED"})
_MARKED = re.compile(rb"[0-9 ][AD]$", re.IGNORECASE)
_AREA, _AFTER = 3, 4
"""The place of the comma behind an area code of three digits, as the American registers have it."""
_MIN_DIGITS = 6
"""A cell with fewer digits is an area code or a calling code, which the next cells complete."""
_MAX_PARTS = 3
_DIGITS = [b"%d" % digit for digit in range(10)]
MAX_BYTES = 64
"""The longest text that is read as a number."""
MAX_LINE = 1024
"""The part of a line in which a number is sought."""


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


def cells(text: bytes) -> list[bytes]:
    """Return the cells of a line, without quotes and the decimals and formulas of spreadsheets."""
    return [_DECIMALS.sub(b"", cell.strip(_AROUND)) for cell in _COLUMNS.split(text.removeprefix(BOM_UTF8))]


def mark(cell: bytes) -> bool | None:
    """Return whether a cell says that a number was added or, False, deleted; None if it says neither."""
    word = cell.upper()
    return True if word in _ADDED else False if word in _DELETED else None


def normalizer(country: str) -> Normalize:
    """Return the function that reads the lines of a register of this country.

    A line has a number in one cell or, with its area code, in several; cells behind it are not read, but a
    line of a change list is not one of a register.
    """
    plan = _PLANS.get(country)

    def slow(text: bytes) -> bytes | None:
        return _in_cells(cells(text[:MAX_LINE]), country)

    if plan is None:
        return slow
    code, skip, trunk, matches = plan.code, len(plan.trunk), plan.trunk, plan.national.fullmatch

    def fast(text: bytes) -> bytes | None:
        digits = text.translate(None, _SEPARATORS)
        if digits[_AREA:_AFTER] == b",":
            digits = digits[:_AREA] + digits[_AFTER:]
        if digits.startswith(trunk) and matches(digits, skip):
            return code + digits[skip:]
        return slow(text) if digits else None

    return fast


def _in_cells(parts: list[bytes], country: str) -> bytes | None:
    """Return the number of a line with these cells."""
    if any(mark(part) is not None for part in parts[1:]):
        return None
    if (whole := _parsed(parts[0], country)) is not None:
        return whole.e164.encode()
    joined = (_parsed(b"".join(parts[:number]), country) for number in range(2, _MAX_PARTS + 1))
    # Cells of a number that is not assigned may be a part of it, or another cell and a number.
    return next((found.e164.encode() for found in joined if found is not None and found.is_assigned), None)


def _parsed(text: bytes, country: str) -> PhoneNumber | None:
    has_digits = sum(map(text.count, _DIGITS)) >= _MIN_DIGITS
    if not has_digits or len(text) > MAX_BYTES or _MARKED.search(text):
        return None
    try:
        return parse_phone(_decoded(text), country)
    except InvalidValue:
        return None


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")
