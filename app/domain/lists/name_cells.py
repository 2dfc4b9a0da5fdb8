"""The name of the person in a row of a list, from its parts or the full name."""

from __future__ import annotations

import re

from app.domain.errors import InvalidValue
from app.domain.lists.cells import name_value
from app.domain.lists.column_mapping import ColumnMapping
from app.domain.lists.row_values import RowValues
from app.domain.normal.name_parts import name_of_parts
from app.domain.normal.names import MAX_NAME_LENGTH, NoPerson, PersonName, parse_name
from app.domain.normal.text_folding import fold

PLACEHOLDER = "placeholder_name"
SHORTENED = "shortened_name"
REORDERED = "reordered_name"

_ADDRESS = re.compile(r"[^\s@]@[^\s@]")


def name_of(row: RowValues, layout: ColumnMapping) -> tuple[PersonName | None, bool]:
    """Return the name from its parts or the full name, and whether it is a full name."""
    texts = {field: _text(row, field) for field in ("first_name", "middle_name", "last_name", "full_name")}
    try:
        name = _name(row, layout, **texts)
    except NoPerson:
        row.warn("full_name", PLACEHOLDER)
        return None, False
    except InvalidValue:
        row.warn("full_name")
        return None, False
    if name is None:
        return None, False
    return name, bool(texts["full_name"] or (name.first and name.last))


def _name(
    row: RowValues,
    layout: ColumnMapping,
    *,
    first_name: str,
    middle_name: str,
    last_name: str,
    full_name: str,
) -> PersonName | None:
    """Return the name, None if the row has none.

    Raises:
        InvalidValue: as in `parse_name`.

    """
    if len(first_name) > MAX_NAME_LENGTH or len(last_name) > MAX_NAME_LENGTH:
        raise InvalidValue("The name is too long.")
    if last_name and (first_name or not full_name):
        name = name_of_parts(first_name, last_name, middle=middle_name, full=full_name)
        _warn_of_changes(row, f"{first_name} {middle_name} {last_name}", name)
        return name
    text = full_name or first_name
    if not text:
        return None
    name = parse_name(text, family_first=bool(full_name) and _is_family_first(row, layout))
    _warn_of_changes(row, text, name)
    if full_name and full_name in {first_name, last_name}:  # as an export writes a name of one part
        return PersonName(first_name, last_name, full_name)
    return name


def _text(row: RowValues, field: str) -> str:
    """Return the first text of the field's columns that may be a name, an empty one if none is."""
    texts = filter(None, map(name_value, row.raw(field)))
    text = next(texts, "")
    return "" if _ADDRESS.search(text) else text


def _is_family_first(row: RowValues, layout: ColumnMapping) -> bool:
    """Return whether the header of the column with the full name says that the family name comes first."""
    filled = (index for index in layout.single["full_name"] if name_value(row.cells[index]))
    return next(filled) in layout.family_first


def _warn_of_changes(row: RowValues, text: str, name: PersonName) -> None:
    """Count a name of which words were left out, or whose family name was read first without a comma."""
    if text == name.full:
        return
    before, after = fold(text).split(), fold(name.full).split()
    if len(after) < len(before):
        row.warn("full_name", SHORTENED)
    elif before != after and "," not in text:
        row.warn("full_name", REORDERED)
