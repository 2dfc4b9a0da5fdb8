"""The country of a person as a CRM wants it: one of its own options, or an English name."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.errors import InvalidValue
from app.domain.normal.places.countries import country_code


def option(code: str, options: Sequence[tuple[str, str]]) -> str | None:
    """Return the value of the option for a country by its ISO code, else by its name; None without one."""
    by_code = (value for value, _label in options if value.strip().upper() == code)
    by_name = (value for value, label in options if _is_name(label, code) or _is_name(value, code))
    return next(by_code, None) or next(by_name, None)


def _is_name(text: str, code: str) -> bool:
    try:
        return country_code(text) == code
    except InvalidValue:
        return False
