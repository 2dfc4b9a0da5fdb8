"""Dates and numbers as the readers of a language write them (CLDR, by Babel). Times are in UTC.

English pages have ISO dates, which British and American readers read alike, and narrow spaces in numbers.
"""

from __future__ import annotations

from datetime import UTC, datetime

from babel.dates import format_date, format_time
from babel.numbers import format_decimal

from app.infra import clock
from app.web.languages.catalogues import SOURCE
from app.web.languages.negotiation import language


def moment(time: datetime) -> str:
    """Return a time to the minute: `2026-11-29 10:54 UTC`, `29.11.2026, 10:54 UTC`."""
    return f"{minute(time)} UTC"


def minute(time: datetime) -> str:
    """Return a time to the minute for a column of times in UTC: `2026-11-29 10:54`, `29.11.2026, 10:54`."""
    if language() == SOURCE:
        return (clock.rfc3339(time) or "")[:16].replace("T", " ")
    return f"{day(time)}, {format_time(_utc(time), 'short', locale=language())}"


def day(time: datetime) -> str:
    """Return the day of a time: `2026-11-29`, `29.11.2026`."""
    if language() == SOURCE:
        return (clock.rfc3339(time) or "")[:10]
    return format_date(_utc(time), "medium", locale=language())


def number(value: float) -> str:
    """Return a number with its thousands apart: `12 345`, `12.345`."""
    if language() == SOURCE:
        return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return format_decimal(value, locale=language())


def _utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
