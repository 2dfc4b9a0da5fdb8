"""Headers that name one field in several words: Company / Organisation, Firma bzw. Institution."""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.domain.normal.texts.text_folding import fold

_SEPARATOR = re.compile(
    r"[/|&+,(]\s*(?:or\b)?"
    r"|\s(?:or|and|oder|und|bzw\.?|ou|et|o|u|y|e|of|en|eller|och|og|tai|lub|nebo|alebo|ili|vagy|sau|\u0438\u043b\u0438)\s",
    re.IGNORECASE,
)
_PLACES = frozenset({"city", "state", "country"})


def joined_field(header: str, fields: Mapping[str, str]) -> str | None:
    """Return the field that every part of the header names; None if there is one part, or they differ.

    `fields` are the fields of the headers that are known, by their folded text.
    """
    found = _fields_of_parts(header, fields)
    return found[0] if len(found) > 1 and len(set(found)) == 1 else None


def names_place(header: str, fields: Mapping[str, str]) -> bool:
    """Return whether the parts of a header are the parts of a place: City, State; Town and Country."""
    found = _fields_of_parts(header, fields)
    return len(set(found)) > 1 and _PLACES.issuperset(found)


def _fields_of_parts(header: str, fields: Mapping[str, str]) -> list[str]:
    parts = filter(None, map(fold, _SEPARATOR.split(header)))
    return [fields.get(part, "") for part in parts]
