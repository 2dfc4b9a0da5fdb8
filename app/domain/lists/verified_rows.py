"""What the rows of a list have to verify: an address and a number, each in a column that its owner chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cells import value
from app.domain.lists.cells.country_cells import list_country
from app.domain.lists.cells.verifiable_cells import Field, Value, read_cell
from app.domain.messages import Message

FIELDS = ("email", "phone", "country")
"""The fields of the columns; `country` is the one of a row's number without a country code."""
NOTHING_CHOSEN = Message("Choose the column of e-mail addresses, the one of phone numbers, or both.")
CHOSEN_TWICE = Message("Choose at most one column each for e-mail addresses, phone numbers and countries.")
OTHER_FIELD = Message("A list to verify can have only the fields email, phone and country.")
NOTHING_TO_VERIFY = Message("The row has nothing to verify: its cells are empty.")
_SEVERAL = {
    "email": Message("The cell has several addresses; only the first one was verified."),
    "phone": Message("The cell has several numbers; only the first one was verified."),
}
_KINDS = {"phone": ("phone", "mobile_phone", "direct_phone", "work_phone")} | {
    "email": ("email", "work_email", "personal_email"),
    "country": ("country",),
}


def proposed(columns: Sequence[str | None]) -> list[str | None]:
    """Return the fields of columns for which these were proposed: the first one of each field."""
    chosen: dict[int, str] = {}
    for field, names in _KINDS.items():
        index = next((index for index, name in enumerate(columns) if name in names), None)
        if index is not None:
            chosen[index] = field
    return [chosen.get(index) for index in range(len(columns))]


def problem_of(columns: Sequence[str | None]) -> str | None:
    """Return why columns with these fields cannot be verified, None if they can."""
    fields = [field for field in columns if field is not None]
    if not set(fields) <= set(FIELDS):
        return OTHER_FIELD
    if len(fields) != len(set(fields)):
        return CHOSEN_TWICE
    return None if {"email", "phone"} & set(fields) else NOTHING_CHOSEN


@dataclass(frozen=True, slots=True)
class VerifiedRow:
    """The address and the number of a row in normal form, and what was not read or left out."""

    email: str | None
    phone: str | None
    note: str | None

    @property
    def value(self) -> Value | None:
        """Return what is verified by a job: the address, or without one the number."""
        if self.email:
            return Value("email", self.email)
        return Value("phone", self.phone) if self.phone else None


def read_row(cells: Sequence[str], columns: Sequence[str | None], country: str | None) -> VerifiedRow:
    """Read a row; `country` is that of numbers without a country code, if the row names none."""
    texts = {field: cell for field, cell in zip(columns, cells, strict=False) if field is not None}
    notes: list[str] = []
    email = _first(texts.get("email", ""), "email", None, notes)
    phone = _first(texts.get("phone", ""), "phone", _country(texts.get("country")) or country, notes)
    if not (email or phone or notes):
        notes.append(NOTHING_TO_VERIFY)
    return VerifiedRow(email, phone, " ".join(notes) or None)


def _first(cell: str, field: Field, country: str | None, notes: list[str]) -> str | None:
    """Return the first value of a cell, and add to the notes what is not one, and that there are others."""
    read = list(read_cell(cell, country, only=field))
    found = [one.text for one in read if isinstance(one, Value)]
    notes += dict.fromkeys(str(one) for one in read if isinstance(one, InvalidValue))
    if len(set(found)) > 1:
        notes.append(_SEVERAL[field])
    return found[0] if found else None


def _country(cell: str | None) -> str | None:
    """Return the country that a row names, None if it names none that is known."""
    text = value(cell) if cell else None
    try:
        return list_country(text) if text else None
    except InvalidValue:
        return None
