"""What the values of a column are, so that its header is believed only if they fit, and replaced if it lacks.

A header such as `Attendee` may be above numbers, `Contact` above yes and no, and a list may have no header.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.cells.cells import value
from app.domain.lists.cells.flags import is_answer
from app.domain.lists.files.csv_records import Row
from app.domain.lists.headers.column_mapping import ColumnMapping, Entity, map_columns
from app.domain.lists.warning_kinds import GUESSED_COLUMN, UNFIT_COLUMN
from app.domain.normal.phones.phone_texts import linked_number
from app.domain.normal.texts.text_folding import fold

SAMPLE = 200  # rows


class Kind(StrEnum):
    """What a value looks like."""

    ADDRESS = "address"
    PROFILE = "profile"
    LINK = "link"
    DATE = "date"
    PHONE = "phone"
    NUMBER = "number"
    ANSWER = "answer"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class FittedColumns:
    """The mapping of a list, the columns that do not have the values of their field, and the guessed ones.

    Both have the field of each column by its index. `full_name` is the index of the only column of names, if
    its header may name a first name, but its values are full names.
    """

    layout: ColumnMapping
    unfit: Mapping[int, str]
    guessed: Mapping[int, str]
    full_name: int | None = None

    def warn(self, warnings: CellWarnings, rows: Iterable[Row]) -> None:
        """Count the cells of these rows in columns that were left out or guessed."""
        for row in rows:
            for code, fields in ((UNFIT_COLUMN, self.unfit), (GUESSED_COLUMN, self.guessed)):
                for index, name in fields.items() if row.fault is None else ():
                    if value(row.cells[index]):
                        warnings.add(name, code, column=index, line=row.line)


_PATTERNS = (
    (Kind.ADDRESS, re.compile(r"[^@]{1,100}@[^@\s]{1,200}\.[^@\s]{2,30}")),
    (
        Kind.PROFILE,
        re.compile(
            r"(?:https?://)?(?:[a-z]{2,3}\.)?linkedin\.[a-z.]{2,6}/(?:in|pub)/.{1,200}", re.IGNORECASE
        ),
    ),
    (Kind.LINK, re.compile(r"(?:https?://|www\.)\S{1,500}", re.IGNORECASE)),
    (
        Kind.DATE,
        re.compile(
            r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].{0,30})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}(?: .{0,30})?"
        ),
    ),
    (
        Kind.PHONE,
        re.compile(r"(?:tel:)?\+\d[\d\s()./-]{6,30}|\(?0[\d\s()./-]{7,30}|\(\d{2,4}\)[\d\s.-]{5,20}"),
    ),
    (Kind.NUMBER, re.compile(r"[#№]? ?-?\d[\d\s.,/-]{0,40}%?")),
)
_NOT_A_NAME = frozenset(Kind) - {Kind.TEXT}
_UNFIT: Mapping[str, frozenset[Kind]] = {
    **dict.fromkeys(("full_name", "first_name", "middle_name", "last_name", "title"), _NOT_A_NAME),
    "company_name": _NOT_A_NAME - {Kind.LINK},
    "email": frozenset(Kind) - {Kind.TEXT, Kind.ADDRESS},
    "phone": frozenset({Kind.ADDRESS, Kind.PROFILE, Kind.LINK, Kind.DATE, Kind.ANSWER}),
    "linkedin_url": frozenset({Kind.ADDRESS, Kind.DATE, Kind.PHONE, Kind.NUMBER}),
    "company_domain": frozenset({Kind.DATE, Kind.PHONE, Kind.NUMBER, Kind.ANSWER}),
}
"""The kinds of values that a field does not have."""
_NAMES = ("full_name", "first_name", "last_name")
_GUESSES = {Kind.ADDRESS: "email", Kind.PROFILE: "linkedin_url", Kind.PHONE: "phone"}
_MIN_VALUES = 3
"""Fewer values may be names, such as `No` in Korea and the company `7-11`."""
_WORDS_OF_A_NAME = (2, 4)


def fit_columns(
    header: Sequence[str],
    entity: Entity,
    rows: Sequence[Sequence[str]],
    mapped: Mapping[str, str] | None = None,
    *,
    has_header: bool = True,
) -> FittedColumns:
    """Return the mapping of a list whose first rows are these, each with as many cells as the header.

    A column whose values mostly are something else than its field is left out, unless it is in `mapped`.
    Without a header, the values say what a column is.
    """
    mapped = mapped or {}
    kinds = [_kinds(cells) for cells in zip(*islice(rows, SAMPLE), strict=True)] or [Counter()] * len(header)
    if not has_header:
        guessed = {
            index: field for index, field in _guesses(kinds, rows).items() if header[index] not in mapped
        }
        named = {header[index]: field for index, field in guessed.items()}
        return FittedColumns(map_columns(header, entity, {**named, **mapped}), {}, guessed)
    layout = map_columns(header, entity, mapped)
    full_name = _full_name(layout, rows)
    if full_name is not None:
        mapped = {header[full_name]: "full_name", **mapped}
        layout = map_columns(header, entity, mapped)
    given = {fold(name) for name in mapped}
    unfit = {
        index: field
        for index, field in _fields(layout).items()
        if fold(header[index]) not in given and _is_unfit(field, kinds[index])
    }
    layout = map_columns(header, entity, mapped, unfit) if unfit else layout
    return FittedColumns(layout, unfit, {}, full_name)


def _full_name(layout: ColumnMapping, rows: Sequence[Sequence[str]]) -> int | None:
    """Return the only column of names if it is one of first or last names, and has full names mostly.

    Many languages have one word for both: `Nombre`, `Nome`, `Ad`, `Nom`, `Nume`.
    """
    columns = [index for name in _NAMES for index in layout.single.get(name, ())]
    if len(columns) != 1 or "full_name" in layout.single:
        return None
    [index] = columns
    names = [text for cells in islice(rows, SAMPLE) if (text := value(cells[index]))]
    return (
        index if sum(" " in text and kind_of(text) is Kind.TEXT for text in names) * 2 > len(names) else None
    )


def _fields(layout: ColumnMapping) -> dict[int, str]:
    """Return the field of each column whose values can be checked."""
    fields = {index: field for field, indexes in layout.single.items() for index in indexes}
    fields |= dict.fromkeys((column.index for column in layout.emails), "email")
    return fields | dict.fromkeys((column.index for column in layout.phones), "phone")


def _is_unfit(field: str, kinds: Counter[Kind]) -> bool:
    total = kinds.total()
    others = sum(kinds[kind] for kind in _UNFIT.get(field, ()))
    if total < _MIN_VALUES:
        others -= kinds[Kind.ANSWER] + (kinds[Kind.NUMBER] if field == "company_name" else 0)
    return others * 2 > total


def _kinds(cells: Sequence[str]) -> Counter[Kind]:
    return Counter(kind_of(text) for cell in cells if (text := value(cell)))


def kind_of(text: str) -> Kind:
    """Return what a value that is not empty looks like."""
    if linked_number(text):
        return Kind.PHONE
    for kind, pattern in _PATTERNS:
        if pattern.fullmatch(text):
            return kind
    is_initial = text.endswith(".")  # `J.`, where `J` may be Ja
    return Kind.ANSWER if is_answer(text) and not is_initial else Kind.TEXT


def _guesses(kinds: Sequence[Counter[Kind]], rows: Sequence[Sequence[str]]) -> dict[int, str]:
    """Return the fields of columns without a header: as most of their values suggest, and the full name."""
    guessed = {}
    for index, counts in enumerate(kinds):
        kind, count = max(counts.items(), key=lambda item: item[1], default=(Kind.TEXT, 0))
        if kind in _GUESSES and count * 2 > counts.total():
            guessed[index] = _GUESSES[kind]
    sources = [index for index, field in guessed.items() if field != "phone"]
    names = (
        index for index in range(len(kinds)) if index not in guessed and _are_names(index, sources, rows)
    )
    if (name := next(names, None)) is not None:
        guessed[name] = "full_name"
    return guessed


def _are_names(index: int, sources: Sequence[int], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a column has full names: in most rows, a word of it is in the address or the profile."""
    filled = [cells for cells in islice(rows, SAMPLE) if value(cells[index])]
    named = sum(_is_named_in(cells[index], [cells[source] for source in sources]) for cells in filled)
    return named * 2 > len(filled)


def _is_named_in(text: str, sources: Sequence[str]) -> bool:
    words = fold(text).split()
    if not _WORDS_OF_A_NAME[0] <= len(words) <= _WORDS_OF_A_NAME[1]:
        return False
    locals_ = [fold(source.partition("@")[0].rpartition("/in/")[2]) for source in sources]
    return any(len(word) > 2 and word in local for word in words for local in locals_)  # noqa: PLR2004 -- initials fit all
