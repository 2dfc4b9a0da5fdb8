"""Dates, numbers and countries in the language of the request."""

from __future__ import annotations

from datetime import datetime

from app.infra.languages import formats
from app.web.languages.negotiation import language


def moment(time: datetime) -> str:
    """Return a time to the minute: `2026-11-29 10:54 UTC`, `29.11.2026, 10:54 UTC`."""
    return formats.moment(time, language())


def minute(time: datetime) -> str:
    """Return a time to the minute for a column of times in UTC: `2026-11-29 10:54`, `29.11.2026, 10:54`."""
    return formats.minute(time, language())


def day(time: datetime) -> str:
    """Return the day of a time: `2026-11-29`, `29.11.2026`."""
    return formats.day(time, language())


def number(value: float) -> str:
    """Return a number with its thousands apart: `12 345`, `12.345`."""
    return formats.number(value, language())


def country(code: str) -> str:
    """Return the name of a country by its ISO code: `Germany`, `Deutschland`; another text as it is."""
    return formats.country(code, language())
