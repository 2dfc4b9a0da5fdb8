"""Dates, numbers and countries as the readers of a language write them (CLDR, by Babel). Times are in UTC.

English has ISO dates, which British and American readers read alike, and narrow spaces in numbers.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from babel.core import Locale
from babel.dates import format_date, format_skeleton, format_time
from babel.numbers import format_decimal

from app.infra import clock
from app.infra.languages.catalogues import SOURCE

WITHOUT_YEAR = timedelta(days=300)
"""A day further away is written with its year."""


def moment(time: datetime, language: str) -> str:
    """Return a time to the minute: `2026-11-29 10:54 UTC`, `29.11.2026, 10:54 UTC`."""
    return f"{minute(time, language)} UTC"


def minute(time: datetime, language: str) -> str:
    """Return a time to the minute for a column of times in UTC: `2026-11-29 10:54`, `29.11.2026, 10:54`."""
    if language == SOURCE:
        return (clock.rfc3339(time) or "")[:16].replace("T", " ")
    return f"{day(time, language)}, {format_time(_utc(time), 'short', locale=language)}"


def day(time: datetime, language: str) -> str:
    """Return the day of a time: `2026-11-29`, `29.11.2026`."""
    if language == SOURCE:
        return (clock.rfc3339(time) or "")[:10]
    return format_date(_utc(time), "medium", locale=language)


def day_in_words(time: datetime, language: str) -> str:
    """Return the day of a time as a sentence has it: `1 December`, `1. Dezember`, `1er décembre`."""
    is_near = abs(time - clock.now()) < WITHOUT_YEAR
    locale = "en_GB" if language == SOURCE else language
    at = _utc(time)
    written = format_skeleton("MMMMd", at, locale=locale) if is_near else format_date(at, "long", locale)
    return f"1er{written[1:]}" if language == "fr" and written.startswith("1 ") else written


def number(value: float, language: str) -> str:
    """Return a number with its thousands apart: `12 345`, `12.345`."""
    if language == SOURCE:
        return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return format_decimal(value, locale=language)


def country(code: str, language: str) -> str:
    """Return the name of a country by its ISO code: `Germany`, `Deutschland`; another text as it is."""
    return str(Locale.parse(language).territories.get(code, code))


def _utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
