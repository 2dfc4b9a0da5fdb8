"""Parsing of single cells: empty markers, several values in one cell, dates and formulas."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from app.domain.errors import InvalidValue

MAX_LENGTH = 300  # characters; a longer title or industry is an error in the file

_EMPTY = frozenset(
    [
        "-",
        "--",
        "---",
        ".",
        "n/a",
        "#n/a",
        "na",
        "n.a.",
        "null",
        "none",
        "(null)",
        "undefined",
        "nil",
        "unknown",
        "(blank)",
        "#ref!",
        "#value!",
        "#name?",
        "#div/0!",
        "#num!",
        "#null!",
        "#error!",
        "nan",
        "keine",
        "aucun",
        "ninguno",
    ]
) | {"not available", "not found", "no data", "not provided", "k. a.", "k.a."}
_EMPTY_NAMES = frozenset(
    {"-", "--", "---", ".", "n/a", "#n/a", "n.a.", "(null)", "undefined", "(blank)", "?"}
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_EMAILS = re.compile(r":::|[;,|\s]")
_PHONES = re.compile(r":::|[|\n\r]|;(?!\s*ext)")
_ADDRESS = re.compile(r"<([^<>]+)>")
_FORMATS = (
    "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S",
    "%Y-%m",
    "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%d-%b-%Y", "%d-%b-%y", "%b %Y", "%B %Y",
    "%a %b %d %Y", "%Y-%m-%d %H:%M:%S UTC", "%b %d, %Y %I:%M %p", "%Y-%m-%d %H:%M:%S %z",
)  # fmt: skip
_SLASHES = re.compile(
    r"(\d{1,2})[/-](\d{1,2})[/-](\d{4}|\d{2})(?:[ ,T]+(\d{1,2}):(\d{2})(?::\d{2})?\s*([AaPp][Mm])?)?"
)
_EPOCH = re.compile(r"1\d{9}|1\d{12}")
_TWENTY_FIRST = 100
_NO_SUCH_DATE = "This date does not exist."


def escape_formula(text: str) -> str:
    """Return a cell that spreadsheets do not run as a formula: an apostrophe is prepended (OWASP)."""
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(text: str) -> str:
    """Remove the apostrophe of `escape_formula` and invisible spaces."""
    text = text.strip("\ufeff\u200b\0 \t\r\n\u00a0") if text[:1] != "'" else text.rstrip()
    if text[:1] == "'" and _FORMULA.match(text):
        return text[1:]
    return text


def value(text: str) -> str | None:
    """Return a cell's text on one line, at most 300 characters; None if empty (`N/A`, `-`, `null`)."""
    return _cached_value(text) if len(text) <= MAX_LENGTH else _value(text)


def _value(text: str) -> str | None:
    content = unescape_formula(text)
    if not content or content.lower() in _EMPTY:
        return None
    return " ".join(_without_controls(content).split())[:MAX_LENGTH].rstrip() or None


def name_value(text: str) -> str | None:
    """Return a name; None if empty. Null and Na are real names, so fewer words count as empty."""
    return _cached_name(text) if len(text) <= MAX_LENGTH else _name(text)


def _name(text: str) -> str | None:
    content = unescape_formula(text)
    if not content or content.lower() in _EMPTY_NAMES:
        return None
    if content.isprintable():
        return " ".join(content.split())
    return " ".join(_without_controls(content).split()) or None


# Most values of a list are repeated. Long ones are not kept: thousands of them would take gigabytes.
_cached_value = lru_cache(maxsize=16384)(_value)
_cached_name = lru_cache(maxsize=16384)(_name)


def _without_controls(text: str) -> str:
    """Return the text without control characters, except those that are spaces."""
    return text if text.isprintable() else _CONTROLS.sub("", text)


def emails_in(text: str) -> list[str]:
    """Return the addresses of a cell: lists, `mailto:`, and `Ada Lovelace <ada@acme.com>` are accepted."""
    if addresses := _ADDRESS.findall(text):
        return [part.strip() for part in addresses]
    parts = _EMAILS.split(unescape_formula(text))
    return [part.removeprefix("mailto:") for part in parts if part and part.lower() not in _EMPTY]


def phones_in(text: str) -> list[str]:
    """Return the parts of a cell between bars, line ends and semicolons; `;ext=7` belongs to its number."""
    parts = map(str.strip, _PHONES.split(unescape_formula(text)))
    return [part for part in parts if part and part.lower() not in _EMPTY]


@lru_cache(maxsize=4096)
def parse_timestamp(text: str) -> datetime:
    """Parse a date or time in UTC: ISO 8601, epoch seconds or milliseconds, and formats of exports.

    03/04/2026 is read with the month first, unless the first number exceeds 12. Two-digit years are 20xx.

    Raises:
        InvalidValue: the text is not a date, or UTC has it only outside the years 1 to 9999.

    """
    content = text.strip()
    try:
        moment = datetime.fromisoformat(content)
    except ValueError:
        moment = _other_moment(content)
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidValue(_NO_SUCH_DATE) from error


def _other_moment(text: str) -> datetime:
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    try:
        if parts := _SLASHES.fullmatch(text):
            return _from_parts(*parts.groups())
        for style in _FORMATS:
            moment = _parsed(text, style)
            if moment:
                return moment
    except ValueError as error:
        raise InvalidValue(_NO_SUCH_DATE) from error
    raise InvalidValue("This is not a date. Use the format 2026-11-20.")


def _parsed(text: str, style: str) -> datetime | None:
    try:
        return datetime.strptime(text, style)  # noqa: DTZ007 -- the caller sets the zone
    except ValueError:
        return None


def _from_parts(  # noqa: PLR0917 -- the groups of one pattern
    first: str, second: str, year: str, hour: str | None, minute: str | None, half: str | None
) -> datetime:
    month, day = int(first), int(second)
    if month > 12:  # noqa: PLR2004 -- months of a year
        month, day = day, month
    hours = int(hour or 0)
    if half:
        hours = hours % 12 + (12 if half.lower() == "pm" else 0)
    century = 2000 if int(year) < _TWENTY_FIRST else 0
    return datetime(century + int(year), month, day, hours, int(minute or 0), tzinfo=UTC)
