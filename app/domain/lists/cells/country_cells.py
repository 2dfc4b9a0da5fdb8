"""Countries in the cells of lists, which name them in more languages than requests do."""

from __future__ import annotations

from functools import cache, lru_cache

from babel import Locale

from app.domain.errors import InvalidValue
from app.domain.normal.places.countries import country_code
from app.domain.normal.texts.text_folding import fold

NAMIBIA = "NA"
"""The code of a country that is also the most common mark of an empty cell."""
_LANGUAGES = (
    *("pl", "sv", "da", "nb", "fi", "cs", "sk", "hu", "ro", "hr", "bg", "ru", "uk", "el", "tr"),
    *("ja", "ko", "zh", "zh_Hant"),
)
"""The languages of `data/lists/headers` that `country_code` does not read: loading them takes a while."""


@lru_cache(maxsize=4096)
def list_country(text: str) -> str:
    """Return the ISO 3166-1 alpha-2 code of a country.

    Raises:
        InvalidValue: the text is not a country.

    """
    try:
        return country_code(text)
    except InvalidValue:
        if code := _names().get(fold(text)):
            return code
        raise


@cache
def _names() -> dict[str, str]:
    """Return the code of each country's name in the languages, from CLDR."""
    locales = [Locale.parse(language) for language in _LANGUAGES]
    return {
        fold(name): code
        for locale in locales
        for code, name in locale.territories.items()
        if code.isalpha() and len(code) == len("XX") and _is_country(code)
    }


def _is_country(code: str) -> bool:
    try:
        return country_code(code) == code
    except InvalidValue:
        return False
