"""Headers that name both parts of a name, and so their order: NOM Prénom; Full name (last, first)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from app.domain.normal.texts.text_folding import fold, split_camel

_AND = frozenset(
    "and und et y e og och ja i a en и та in ir un si és es ve va".split()  # noqa: SIM905 -- words, some Cyrillic
)
_BARE = frozenset({"name", "nom", "naam", "namn", "navn", "nimi", "nama", "الاسم"})
"""Headers of the part that the other of two headers does not name: `Name, Vorname` and `Name Surname`; but
`Name (First)` is only the given name."""
_OF_BOTH = frozenset(map(fold, ("nombre", "nome", "ime", "tên", "ชื่อ", "שם", "نام")))
"""Words for a name and for a given name: after a word for a name, they are the same in another language."""
_OTHER = {"last_name": "first_name", "first_name": "last_name"}
_BARE_PARTS = frozenset({"first", "last", "given", "family", "middle"})
_FAMILY_FIRST = frozenset(("фио", "ф и о", "піб", "п і б"))  # noqa: RUF001 -- Cyrillic
_PREFIXED_AND = ("\u05d5", "\u0648")  # in Hebrew and Arabic
_MOST_WORDS = 8
_PART = re.compile(
    r"(?:(?:full|contact|person) )?name (?:(first|given)|(last|family)|(middle)|(formatted))(?: name)?"
)
"""A part of a name whose group is named before it: `Name - First Name`, `name.familyName`."""
_PART_FIELDS = ("first_name", "last_name", "middle_name", "full_name")
_BOTH = {("last_name", "first_name"), ("first_name", "last_name")}


def names_both_parts(header: str, fields: Mapping[str, str]) -> bool:
    """Return whether a header consists of the headers of a given and a family name.

    `fields` are the fields of the headers that are known, by their folded text.
    """
    return bool(_order(header, fields))


def is_family_first(header: str, fields: Mapping[str, str]) -> bool:
    """Return whether a header of full names says that the family name comes first."""
    return fold(header) in _FAMILY_FIRST or _order(header, fields)[:1] == ("last_name",)


def name_part(header: str) -> str | None:
    """Return the field of a header that names the part of a name after the word for it; None for others."""
    found = _PART.fullmatch(fold(split_camel(header))) if "," not in header else None
    return _PART_FIELDS[(found.lastindex or 0) - 1] if found else None


def _order(header: str, fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fields of the parts that the header names, in its order; nothing for another header."""
    words = [_without_and(word, fields) for word in fold(header).split() if word not in _AND]
    if len(words) > _MOST_WORDS:
        return ()
    return next(filter(_BOTH.__contains__, _splits(words, fields)), ())


def _without_and(word: str, fields: Mapping[str, str]) -> str:
    """Return a word without the `and` that Hebrew and Arabic write before it, if a header is left."""
    return word[1:] if word.startswith(_PREFIXED_AND) and word[1:] in fields else word


def _splits(words: list[str], fields: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield the fields of the words before and after each place, also after a header of full names."""
    starts = [0] + [
        end for end in range(1, len(words) - 1) if fields.get(" ".join(words[:end])) == "full_name"
    ]
    for start in starts:
        for end in range(start + 1, len(words)):
            before, after = " ".join(words[start:end]), " ".join(words[end:])
            first, second = fields.get(before, ""), _given(after, fields)
            if before not in _BARE:
                yield first, second
                if after in _BARE and before not in _BARE_PARTS:
                    yield first, _OTHER.get(first, "")
            elif after not in _BARE_PARTS | _OF_BOTH:
                yield "last_name", second
                yield _OTHER.get(second, ""), second


def _given(text: str, fields: Mapping[str, str]) -> str:
    """Return the field of a header, of given names also with one of middle names after it."""
    first, _space, middle = text.rpartition(" ")
    if fields.get(middle) == "middle_name" and fields.get(first) == "first_name":
        return "first_name"
    return fields.get(text, "")
