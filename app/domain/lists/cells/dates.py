"""Dates in lists: their formats, and whether 03/04/2026 is in March or in April, which the column shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from functools import lru_cache

from app.domain.errors import InvalidValue
from app.domain.lists.cells.month_names import month_names, words_of_dates
from app.domain.lists.headers.column_mapping import ColumnMapping
from app.domain.messages import Message
from app.domain.normal.texts.text_folding import fold

_TIME = (
    r"(?:,?[ T]+(\d{1,2})[:.](\d{2})(?:[:.]\d{2}(?:\.\d{1,9})?)?"
    r"(?:\s?([AaPp])\.?[Mm]\.?)?(?:\s?(?:UTC|GMT|Z))?)?"
)
_DAY_OR_MONTH_FIRST = re.compile(rf"(\d{{1,2}}) ?([/.-]) ?(\d{{1,2}}) ?[/.-] ?(\d{{4}}|\d{{2}})\.?{_TIME}")
_YEAR_FIRST = re.compile(
    rf"(\d{{4}}) ?[/.년年-] ?(\d{{1,2}})(?: ?[/.월月-] ?(\d{{1,2}}))? ?[.일日월月]?{_TIME}"
)
_WITH_TIME = re.compile(rf"(.{{5,40}}?){_TIME}")
_WITH_ZONE = re.compile(r"[A-Za-z]{3}, .{5,40} [+-]\d{4}")  # RFC 5322
_SPACE_BEFORE_ZONE = re.compile(r" (?=[+-]\d{2}:?\d{2}$)")
_TOKENS = re.compile(r"\d+|[^\W\d_]+")
_EPOCH = re.compile(r"1\d{9}|1\d{12}")
_SERIAL = re.compile(r"([2-7]\d{4})(?:[.,]\d{1,15})?")
_SERIAL_START = datetime(1899, 12, 30, tzinfo=UTC)  # day 0 of Excel
_DATED = ("updated_at", "email_verified_at")
_DATED_ATTRIBUTES = frozenset({"verified_at", "seen_at"})
_MAX_LENGTH = 64
_MONTHS = 12
_YEAR_DIGITS = 4
_NO_SUCH_DATE = Message("This date does not exist.")
_NO_DATE = Message("This is not a date. Use the format 2026-11-20.")


class DateOrder(StrEnum):
    """Whether the day or the month comes first in dates of three numbers."""

    DAY_FIRST = "dmy"
    MONTH_FIRST = "mdy"


@dataclass(frozen=True, slots=True)
class DateOrders:
    """The order of the dates of a list: of each column, by its index, and of all others."""

    by_column: Mapping[int, DateOrder] = field(default_factory=dict)
    others: DateOrder | None = None

    def of(self, column: int | None) -> DateOrder | None:
        """Return the order of a column; None if nothing shows it."""
        return self.others if column is None else self.by_column.get(column, self.others)


def date_orders(columns: Mapping[int, Iterable[str]], *, now: datetime) -> DateOrders:
    """Return the orders that these cells show, by the index of their column.

    A column that shows none has the order of the others, if they agree.
    """
    shown = {index: order for index, texts in columns.items() if (order := _shown_by(texts, now))}
    orders = set(shown.values())
    return DateOrders(shown, orders.pop() if len(orders) == 1 else None)


@lru_cache(maxsize=4096)
def is_ambiguous(text: str) -> bool:
    """Return whether a date has another meaning in the other order."""
    parts = _DAY_OR_MONTH_FIRST.fullmatch(text.strip()[:_MAX_LENGTH])
    if parts is None or parts[2] == ".":
        return False
    return parts[1] != parts[3] and int(parts[1]) <= _MONTHS and int(parts[3]) <= _MONTHS


def list_dates(
    layout: ColumnMapping,
    rows: Sequence[Sequence[str]],
    *,
    now: datetime,
    given: DateOrder | None = None,
) -> DateOrders:
    """Return the given order, else those that rows of a list show, each with as many cells as the header."""
    if given is not None:
        return DateOrders(others=given)
    columns = [index for name in _DATED for index in layout.single.get(name, ())]
    for value_column in (*layout.emails, *layout.phones):
        columns += [index for name, index in value_column.attributes.items() if name in _DATED_ATTRIBUTES]
    return date_orders({index: [cells[index] for cells in rows] for index in columns}, now=now)


@lru_cache(maxsize=4096)
def parse_timestamp(text: str, order: DateOrder | None = None) -> datetime:
    """Parse a date or time in UTC: ISO 8601, epoch seconds or milliseconds, and formats of exports.

    03/04/2026 is read in the order, with the month first if that is None, unless a number exceeds 12; with
    dots, the day is first. Two-digit years are 20xx.

    Raises:
        InvalidValue: the text is not a date, or UTC has it only outside the years 1 to 9999.

    """
    content = text.strip()
    try:
        moment = datetime.fromisoformat(_SPACE_BEFORE_ZONE.sub("", content))
    except ValueError:
        moment = _other_moment(content, order or DateOrder.MONTH_FIRST)
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidValue(_NO_SUCH_DATE) from error


@lru_cache(maxsize=4096)
def parse_date_cell(text: str, order: DateOrder | None) -> datetime:
    """Parse a cell of a column of dates: also a day's number in Excel, such as 45678.

    Raises:
        InvalidValue: as in `parse_timestamp`.

    """
    if serial := _SERIAL.fullmatch(text.strip()):
        return _SERIAL_START + timedelta(days=int(serial[1]))
    return parse_timestamp(text, order)


def _shown_by(texts: Iterable[str], now: datetime) -> DateOrder | None:
    """Return the order that most dates show: by a number above 12, or because the other one is in future."""
    votes = Counter(order for text in texts if (order := _shown_order(text, now)))
    return max(votes, key=votes.__getitem__, default=None)


def _shown_order(text: str, now: datetime) -> DateOrder | None:
    parts = _DAY_OR_MONTH_FIRST.fullmatch(text.strip()[:_MAX_LENGTH])
    if parts is None or parts[1] == parts[3]:
        return None
    if is_ambiguous(text):
        past = [order for order in DateOrder if _is_past(text, order, now)]
        return past[0] if len(past) == 1 else None
    return DateOrder.DAY_FIRST if parts[2] == "." or int(parts[1]) > _MONTHS else DateOrder.MONTH_FIRST


def _is_past(text: str, order: DateOrder, now: datetime) -> bool:
    try:
        return parse_timestamp(text, order) <= now
    except InvalidValue:
        return False


def _other_moment(text: str, order: DateOrder) -> datetime:
    if len(text) > _MAX_LENGTH:
        raise InvalidValue(_NO_DATE)
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    try:
        if parts := _DAY_OR_MONTH_FIRST.fullmatch(text):
            return _of_three_numbers(parts, order)
        if parts := _YEAR_FIRST.fullmatch(text):
            return _moment(_year(parts[1]), int(parts[2]), int(parts[3] or 1), parts[4], parts[5], parts[6])
        return _with_month_name(text)
    except InvalidValue:
        raise
    except ValueError as error:
        raise InvalidValue(_NO_SUCH_DATE) from error


def _of_three_numbers(parts: re.Match[str], order: DateOrder) -> datetime:
    month, day = int(parts[1]), int(parts[3])
    is_day_first = order is DateOrder.DAY_FIRST or parts[2] == "."
    if month > _MONTHS or (is_day_first and day <= _MONTHS):
        month, day = day, month
    return _moment(_year(parts[4]), month, day, parts[5], parts[6], parts[7])


def _with_month_name(text: str) -> datetime:
    """Return the date of a text with the name of a month, a year, and perhaps a day and a time.

    Raises:
        InvalidValue: it has other parts.
        ValueError: the date does not exist.

    """
    if _WITH_ZONE.fullmatch(text):
        return parsedate_to_datetime(text)
    parts = _WITH_TIME.fullmatch(text)
    tokens = [fold(token) for token in _TOKENS.findall(parts[1])] if parts else []
    numbers = [token for token in tokens if token.isdecimal()]
    months = [month_names()[token] for token in tokens if token in month_names()]
    others = {token for token in tokens if token not in month_names()}.difference(numbers, words_of_dates())
    if parts is None or len(months) != 1 or others or not _has_year(numbers):
        raise InvalidValue(_NO_DATE)
    *days, year = sorted(numbers, key=len)  # of two short ones, the second is the year
    return _moment(_year(year), months[0], int(days[0]) if days else 1, parts[2], parts[3], parts[4])


def _has_year(numbers: Sequence[str]) -> bool:
    """Return whether the numbers beside the name of a month are a year, or a day and a year."""
    return len(numbers) == 2 or (len(numbers) == 1 and len(numbers[0]) == _YEAR_DIGITS)  # noqa: PLR2004


def _year(text: str) -> int:
    """Return the year of two digits, or of four: 0001 is the first year, which programs write for no date."""
    return int(text) + (2000 if len(text) < _YEAR_DIGITS else 0)


def _moment(  # noqa: PLR0917 -- the parts of a date
    year: int, month: int, day: int, hour: str | None, minute: str | None, half: str | None
) -> datetime:
    hours = int(hour or 0)
    if half:
        hours = hours % 12 + (12 if half.lower() == "p" else 0)
    return datetime(year, month, day, hours, int(minute or 0), tzinfo=UTC)
