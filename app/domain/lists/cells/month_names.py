"""The names of months and weekdays in English and in the languages of the headers, from CLDR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from babel import Locale

from app.domain.normal.texts.text_folding import fold

_HEADERS = Path(__file__).parents[2] / "data" / "lists" / "headers"
_WIDTHS = ("wide", "abbreviated")


_AROUND = frozenset("st nd rd th er o de del d of the den \u0433 \u0440 року".split())  # noqa: SIM905 -- easier to read
"""Words and endings beside the parts of a date, also `of the year` in Russian and Ukrainian."""


@cache
def month_names() -> Mapping[str, int]:
    """Return the number of each month by its folded name; a name of different months is left out."""
    found: dict[str, set[int]] = {}
    for locale in _locales():
        for widths in locale.months.values():
            for width in _WIDTHS:
                for number, name in widths[width].items():
                    found.setdefault(fold(name), set()).add(number)
    return {name: min(numbers) for name, numbers in found.items() if len(numbers) == 1 and name.isalpha()}


@cache
def words_of_dates() -> frozenset[str]:
    """Return the folded words that stand beside the day, the month and the year: weekdays and endings."""
    days = (widths[width] for locale in _locales() for widths in locale.days.values() for width in _WIDTHS)
    return _AROUND | {fold(name) for names in days for name in names.values()}


def _locales() -> Iterator[Locale]:
    for language in ("en", *sorted(path.stem for path in _HEADERS.glob("*/*.txt"))):
        yield Locale.parse(language)
