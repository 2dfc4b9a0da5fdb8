"""The name of the person in a row of a list, from its parts or the full name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cells import name_value
from app.domain.lists.headers.column_mapping import ColumnMapping
from app.domain.lists.row_values import RowValues
from app.domain.lists.warning_kinds import INVALID
from app.domain.normal.names.name_parts import name_of_parts
from app.domain.normal.names.name_texts import MAX_NAME_LENGTH
from app.domain.normal.names.names import NoPerson, PersonName, parse_name
from app.domain.normal.texts.text_folding import fold

PLACEHOLDER = "placeholder_name"
SHORTENED = "shortened_name"
REORDERED = "reordered_name"

_ADDRESS = re.compile(r"[^\s@]@[^\s@]")
_BRACKETED_ADDRESS = re.compile(r"(?<=\w)\s*[<(\[][^\s@<>]{1,64}@[^\s@<>]{1,255}[>)\]]$")
"""The address after a name, as mail programs write it: Ada Lovelace <ada@acme.com>."""
_CUT_ADDRESS = re.compile(r"[^\s@]@[^\s@.]{1,63}\.?(?:\s|$)")
"""The start of an address, whose end is in the next part: address books cut `ada@acme.com` into two names."""


class _Texts(NamedTuple):  # faster to make than a dataclass
    """The texts of a row's name, empty if missing, and the position of the column of each."""

    first_name: str
    middle_name: str
    last_name: str
    full_name: str
    columns: Mapping[str, int]

    @property
    def has_parts(self) -> bool:
        """Whether the name is read from its parts."""
        return bool(self.last_name and (self.first_name or not self.full_name))

    @property
    def field(self) -> str:
        """The field that a warning names."""
        if self.has_parts:
            return "last_name"
        return "full_name" if self.full_name else "first_name"


def name_of(row: RowValues, layout: ColumnMapping) -> tuple[PersonName | None, bool]:
    """Return the name from its parts or the full name, and whether it is a full name."""
    texts = _texts(row, layout)
    try:
        name = _name(texts, layout)
    except InvalidValue as error:
        _warn(row, texts, PLACEHOLDER if isinstance(error, NoPerson) else INVALID)
        return None, False
    if name is None:
        return None, False
    if code := _change(texts, name):
        _warn(row, texts, code)
    return name, bool(texts.full_name or (name.first and name.last))


def _texts(row: RowValues, layout: ColumnMapping) -> _Texts:
    """Return the first texts of the columns of each part that may be a name."""
    found: dict[str, str] = dict.fromkeys(("first_name", "middle_name", "last_name", "full_name"), "")
    columns: dict[str, int] = {}
    is_cut = False
    for field in found:
        for index in layout.single.get(field, ()):
            if text := name_value(row.cells[index]):
                columns[field] = index
                if "@" in text:
                    text = _BRACKETED_ADDRESS.sub("", text)
                    is_cut = is_cut or bool(_CUT_ADDRESS.search(text))
                found[field] = "" if _ADDRESS.search(text) else text
                break
    if is_cut:
        found.update(first_name="", middle_name="", last_name="")
    return _Texts(**found, columns=columns)


def _name(texts: _Texts, layout: ColumnMapping) -> PersonName | None:
    """Return the name, None if the row has none.

    Raises:
        InvalidValue: as in `parse_name`.

    """
    first, last, full = texts.first_name, texts.last_name, texts.full_name
    if len(first) > MAX_NAME_LENGTH or len(last) > MAX_NAME_LENGTH:
        raise InvalidValue("The name is too long.")
    if texts.has_parts:
        given = first if full else _without_family(first, last)
        return name_of_parts(given, last, middle=texts.middle_name, full=full)
    if not (full or first):
        return None
    is_family_first = bool(full) and texts.columns["full_name"] in layout.family_first
    name = parse_name(full or first, family_first=is_family_first)
    if full and full in {first, last}:  # as an export writes a name of one part
        return PersonName(first, last, full)
    return name


def _without_family(first: str, last: str) -> str:
    """Return a first name without the family name before it: `Lovelace, Ada` beside `Lovelace`."""
    start, end = first[: len(last)], first[len(last) :]
    is_before = bool(last) and fold(start) == fold(last) and end[:1] in {",", " "}
    return (end.lstrip(" ,") or first) if is_before else first


def _warn(row: RowValues, texts: _Texts, code: str) -> None:
    row.warn(texts.field, code, texts.columns[texts.field])


def _change(texts: _Texts, name: PersonName) -> str:
    """Return the code for a name that lost words, or whose family name was read first; else an empty text."""
    parts = (texts.first_name, texts.middle_name, texts.last_name)
    text = " ".join(filter(None, parts)) if texts.has_parts else texts.full_name or texts.first_name
    if text == name.full or (texts.full_name, texts.first_name, texts.last_name) == _columns_of(name):
        return ""
    before, after = fold(text).split(), fold(name.full).split()
    if len(after) < len(before):
        return SHORTENED
    return REORDERED if before != after and "," not in text else ""


def _columns_of(name: PersonName) -> tuple[str, str, str]:
    return name.full, name.first, name.last
