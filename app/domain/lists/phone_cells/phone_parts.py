"""Which parts of a text of digits and signs are numbers: one, several, or one and other endings of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from app.domain.errors import InvalidValue
from app.domain.lists.phone_cells.phone_reading import (
    STARTS,
    PhoneRegions,
    assigned_number,
    is_complete,
    is_foreign,
    read_number,
)
from app.domain.normal.phones.phones import PhoneNumber, assigned_phone

_SEPARATOR = re.compile(r"\s*([/,])[/,\s]*|\s-+\s+|\s{2,}|\s(?=\(|0)|(?<=[0-9]{8})-(?=0)")
_NO_DIGIT = re.compile(r"[^0-9]")
_GROUP = re.compile(r"[0-9]+")
_MAX_PARTS = 6
"""Texts of more parts are numbers of one part each."""
MAX_NUMBERS = 100
"""A cell with more does not list the numbers of a person."""
_MAX_ENDING = 4
"""The digits of `68` in `1234567/68`, which is the ending of a second number."""
_MIN_SUBSCRIBER = 5
"""The digits of `12346` in `030 12345 / 12346`, which replaces as many."""
_MAX_SHORT_ENDING = 2
_MIN_DIGITS_BEFORE_SHORT_ENDING = 9
"""Where the whole is a number too, a short ending is one only after so many digits."""
_AT_COMMA, _AT_ZERO, _ABROAD, _UNASSIGNED, _UNREAD = 5, 10, 5, 50, 100
"""The costs of a join at a comma or before a zero, which begins a number, of a number of another country, of
one that no plan has assigned, and of a part that is none."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a text, and the sign before it: a slash, a comma or none of them."""

    text: str
    sign: str

    @property
    def cost(self) -> int:
        """Return what it costs to join the part to the one before it."""
        return (_AT_COMMA if self.sign == "," else 0) + (_AT_ZERO if self.text.startswith("0") else 0)


def numbers_in(text: str, regions: PhoneRegions) -> list[PhoneNumber | None]:
    """Return the numbers of a text without words, None for a part that is none.

    Raises:
        InvalidValue: no part is a number.

    """
    parts = _parts(text)
    if len(parts) == 1:
        return [read_number(text, regions)]
    if len(parts) > MAX_NUMBERS:
        raise InvalidValue("A cell does not have so many numbers.")
    if not _ending_count(parts) and not any(part.cost for part in parts[1:]):
        whole = assigned_number(_text(parts), regions)
        if whole and not _leaves_country(parts[0], whole, regions):
            return [whole]
    first = assigned_number(parts[0].text, regions)
    regions = regions.beside(first) if first else regions
    if len(parts) <= _MAX_PARTS:
        numbers = _with_endings(parts, regions) or list(_cheapest(parts, parts[0], regions)[1])
    else:
        numbers = [_number([part], parts[0], regions) for part in parts]
    if not any(numbers):
        raise InvalidValue("No part of this text is a phone number.")
    return numbers


def _parts(text: str) -> list[_Part]:
    pieces = _SEPARATOR.split(text)
    return [_Part(part, sign or "") for part, sign in zip(pieces[::2], ["", *pieces[1::2]], strict=True)]


def _text(parts: Sequence[_Part]) -> str:
    return " ".join(part.text for part in parts)


def _number(parts: Sequence[_Part], first: _Part, regions: PhoneRegions) -> PhoneNumber | None:
    """Return the number of some parts; None if they are none, or lack an area code, which the first has."""
    text = _text(parts)
    try:
        number = read_number(text, regions)
    except InvalidValue:
        return None
    if parts[0] is first or text.startswith(STARTS):
        return number
    is_whole = not first.text.startswith(STARTS) or is_complete(text, number)
    return number if number.is_assigned and is_whole else None


def _leaves_country(first: _Part, number: PhoneNumber, regions: PhoneRegions) -> bool:
    """Return whether a text that begins so is read as foreign without a plus."""
    return not first.text.startswith("+") and is_foreign(number, regions)


def _with_endings(parts: Sequence[_Part], regions: PhoneRegions) -> list[PhoneNumber | None]:
    """Return the numbers of `030/1234567/8`, whose last parts are other endings; none of another text."""
    for count in range(_ending_count(parts), 0, -1):
        text, endings = _text(parts[:-count]), [part.text for part in parts[-count:]]
        first = assigned_number(text, regions)
        if first and (_is_other_ending(text, endings[0]) or not assigned_number(_text(parts), regions)):
            numbers = [assigned_phone(first.e164[: -len(ending)] + ending) for ending in endings]
            return [first, *numbers]
    return []


def _ending_count(parts: Sequence[_Part]) -> int:
    """Count the last parts that may be other endings of the number before them."""
    pairs = list(pairwise(parts))
    return len(list(takewhile(_may_be_ending, reversed(pairs))))


def _may_be_ending(pair: tuple[_Part, _Part]) -> bool:
    before, part = pair
    if not part.sign or not part.text.isdecimal():
        return False
    return (part.sign == "/" and len(part.text) <= _MAX_ENDING) or _is_alike(before.text, part.text)


def _is_alike(before: str, ending: str) -> bool:
    """Return whether the ending is as long as the last group of digits before it, and begins like it."""
    group = _last_group(before)
    is_subscriber = len(ending) >= _MIN_SUBSCRIBER and ending[0] != "0"
    return is_subscriber and len(group) == len(ending) and group[:2] == ending[:2]


def _last_group(text: str) -> str:
    """Return the last group of digits; empty if there is none."""
    return next(reversed(_GROUP.findall(text)), "")


def _is_other_ending(text: str, ending: str) -> bool:
    """Return whether the text ends before the ending, where both together are a number too."""
    digits, group = _NO_DIGIT.sub("", text), _last_group(text)
    is_short = len(ending) <= _MAX_SHORT_ENDING and len(ending) < len(group)
    is_long = len(digits) >= _MIN_DIGITS_BEFORE_SHORT_ENDING
    return _is_alike(text, ending) or (is_short and is_long and ending > digits[-len(ending) :])


def _cheapest(
    parts: Sequence[_Part], first: _Part, regions: PhoneRegions
) -> tuple[int, tuple[PhoneNumber | None, ...]]:
    """Return the parts as few numbers, assigned ones if possible, or None; before them the costs."""
    if not parts:
        return 0, ()
    cost, rest = _cheapest(parts[1:], first, regions)
    found: list[tuple[int, tuple[PhoneNumber | None, ...]]] = [(_UNREAD + cost, (None, *rest))]
    is_assigned = False
    for size in range(1, len(parts) + 1):
        if is_assigned and parts[size - 1].sign == ",":
            break
        number = _number(parts[:size], first, regions)
        if number and (number.is_assigned or not is_assigned):
            is_assigned = number.is_assigned
            cost, rest = _cheapest(parts[size:], first, regions)
            cost += 1 if is_assigned else _UNASSIGNED
            cost += sum(part.cost for part in parts[1:size])
            cost += _ABROAD * _leaves_country(parts[0], number, regions)
            found.append((cost, (number, *rest)))
    return min(found, key=lambda candidate: candidate[0])
