"""Reading of the phone numbers of a cell, and of what is said beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cells import phones_in
from app.domain.lists.phone_cells.phone_endings import with_whole_numbers
from app.domain.lists.phone_cells.phone_parts import MAX_NUMBERS, numbers_in
from app.domain.lists.phone_cells.phone_reading import (
    NO_REGIONS,
    PhoneRegions,
    assigned_number,
    is_complete,
    is_foreign,
    is_international,
    may_be_foreign,
)
from app.domain.lists.warning_kinds import CUT_NUMBER, INVALID, MAYBE_FOREIGN, NO_COUNTRY, READ_AS_FOREIGN
from app.domain.normal.phones.phone_texts import PhoneText, is_plain, phone_texts
from app.domain.normal.phones.phones import PhoneNumber

_UNREADABLE = (PhoneText(""),)
_NATIONAL = re.compile(r"(?!\+|00)(?:[^0-9]*[0-9]){5}")
"""A text that may be a number without its country code."""


class ReadPhone(NamedTuple):  # faster to make than a dataclass
    """A number of a cell with the words beside it; `code` is the code of a warning if it was guessed."""

    number: PhoneNumber
    note: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class UnreadPhone:
    """A part of a cell that is not a number, and the code of the warning."""

    code: str


def read_phones(text: str, regions: Callable[[], PhoneRegions]) -> Iterator[ReadPhone | UnreadPhone]:
    """Yield the numbers of a cell; `regions` returns the countries of those without a country code.

    A sign such as a slash separates two numbers only if each is assigned by itself and the whole is not.
    """
    near = NO_REGIONS if is_international(text) else None
    if is_plain(text) and (number := assigned_number(text, regions() if near is None else near)):
        yield ReadPhone(number, code="" if text[0] == "+" else _doubt(text, number, regions()))
        return
    texts = [found for part in phones_in(with_whole_numbers(text)) for found in phone_texts(part)]
    is_broken = False
    for found in texts if len(texts) <= MAX_NUMBERS else _UNREADABLE:
        for read in _read(found, regions()) if found.number else [_unread(found)]:
            is_part = is_broken and isinstance(read, ReadPhone) and not is_complete(found.number, read.number)
            yield UnreadPhone(INVALID) if is_part else read
            is_broken = is_broken or isinstance(read, UnreadPhone)


def _unread(found: PhoneText) -> UnreadPhone:
    return UnreadPhone(CUT_NUMBER if found.is_cut else INVALID)


def _read(found: PhoneText, regions: PhoneRegions) -> Iterator[ReadPhone | UnreadPhone]:
    text = found.number
    try:
        numbers = numbers_in(text, regions)
    except InvalidValue:
        yield UnreadPhone(INVALID if regions.named or not _NATIONAL.match(text) else NO_COUNTRY)
        return
    if found.extension and (last := numbers[-1]):
        numbers[-1] = replace(last, extension=found.extension)
    for number in numbers:
        yield ReadPhone(number, found.note, _doubt(text, number, regions)) if number else UnreadPhone(INVALID)


def _doubt(text: str, number: PhoneNumber, regions: PhoneRegions) -> str:
    """Return the code of a number that is a guess; empty if it has a plus, or is surely national."""
    if text.startswith("+"):
        return ""
    if is_foreign(number, regions):
        return READ_AS_FOREIGN
    return MAYBE_FOREIGN if may_be_foreign(text, number) else ""
