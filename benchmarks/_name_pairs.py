"""Labelled pairs of names in the format of name_bench, and those that a lookup must not match."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

COLUMNS = ("schema", "name1", "name2", "is_match", "category", "notes")
GROUPS = {"Person": "persons", "Company": "organisations", "Organization": "organisations"}
"""The group of each schema. Others (vessels, names of persons or companies) are not read."""
DISGUISES = frozenset(
    ("Alphanumeric Swap", "Character Reversal", "Contextual Ending", "Phonetic Replacement")
)
_NUMBER = re.compile(r"\b(?:\w*\d\w*|[ivxlcdm]+)\b", re.IGNORECASE)
_OTHER_NAME = re.compile(
    r"\b(?:swap|real|collision|plausible-alternate|invented|unrelated|different person)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two names, and whether they are labelled as names of the same person or organisation."""

    group: str
    schema: str
    name1: str
    name2: str
    is_match: bool
    category: str
    notes: str

    @property
    def left_out(self) -> str:
        """The rule of LEFT_OUT that applies, or an empty string."""
        return next((rule for rule, applies in LEFT_OUT.items() if applies(self)), "")


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of persons and organisations in a CSV file.

    Raises:
        ValueError: a column is missing.

    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if missing := sorted(set(COLUMNS).difference(rows.fieldnames or ())):
            raise ValueError(f"{path} has no column {', '.join(missing)}.")
        return list(_pairs(rows))


def _pairs(rows: Iterable[dict[str, str]]) -> Iterable[Pair]:
    for row in rows:
        if group := GROUPS.get(row["schema"]):
            values = (row[column] for column in ("schema", "name1", "name2"))
            yield Pair(group, *values, row["is_match"] == "true", row["category"], row["notes"])


def _has_different_scripts(pair: Pair) -> bool:
    return _scripts(pair.name1).isdisjoint(_scripts(pair.name2))


def _scripts(name: str) -> set[str]:
    """Return the first word of the Unicode names of the letters, such as LATIN or CYRILLIC."""
    return {unicodedata.name(character, "?").split()[0] for character in name if character.isalpha()}


def _has_another_number(pair: Pair) -> bool:
    """Return whether a match has another Arabic or Roman number, such as a fund of the same series."""
    numbers = [_NUMBER.findall(name) for name in (pair.name1, pair.name2)]
    rest = [_NUMBER.sub("", name) for name in (pair.name1, pair.name2)]
    return pair.is_match and rest[0] == rest[1] and numbers[0] != numbers[1]


def _has_another_name(pair: Pair) -> bool:
    """Return whether the notes of a person's match say that a name was replaced by another, or invented."""
    return pair.is_match and pair.group == "persons" and bool(_OTHER_NAME.search(pair.notes))


LEFT_OUT: dict[str, Callable[[Pair], bool]] = {
    "written in different scripts": _has_different_scripts,
    "disguised (Ig0r Sech1n)": lambda pair: pair.category in DISGUISES,
    "an abbreviation (PLA)": lambda pair: pair.category == "Abbreviation",
    "another number (Fund V, Fund VI)": _has_another_number,
    "another name (Tom Cook, Tim Cook)": _has_another_name,
}
"""The rules for pairs that only a screening against sanction lists wants, in the order of application.

A screening must not miss anybody who hides behind another name or number, and people then check each hit. A
lookup gives out the address of whoever it matches, so what these pairs call a match is an error there.
"""
