"""Headers that name both parts of a name, and so their order: NOM Prénom; Full name (last, first)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.domain.normal.texts.text_folding import fold

_AND = frozenset(
    "and und et y e og och ja i a en и та si és es ve va".split()  # noqa: SIM905 -- words, some Cyrillic
)
_BARE = frozenset({"name", "nom", "naam", "namn", "navn", "nimi"})
"""Headers of a family name before the given name's; but `Name (First)` is only the given name."""
_BARE_PARTS = frozenset({"first", "last", "given", "family", "middle"})
_FAMILY_FIRST = frozenset(("фио", "ф и о", "піб", "п і б"))  # noqa: RUF001 -- Cyrillic
_MOST_WORDS = 8
_BOTH = {("last_name", "first_name"), ("first_name", "last_name")}


def names_both_parts(header: str, fields: Mapping[str, str]) -> bool:
    """Return whether a header consists of the headers of a given and a family name.

    `fields` are the fields of the headers that are known, by their folded text.
    """
    return bool(_order(header, fields))


def is_family_first(header: str, fields: Mapping[str, str]) -> bool:
    """Return whether a header of full names says that the family name comes first."""
    return fold(header) in _FAMILY_FIRST or _order(header, fields)[:1] == ("last_name",)


def _order(header: str, fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fields of the parts that the header names, in its order; nothing for another header."""
    words = [word for word in fold(header).split() if word not in _AND]
    if len(words) > _MOST_WORDS:
        return ()
    return next(filter(_BOTH.__contains__, _splits(words, fields)), ())


def _splits(words: list[str], fields: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield the fields of the words before and after each place, also after a header of full names."""
    starts = [0] + [
        end for end in range(1, len(words) - 1) if fields.get(" ".join(words[:end])) == "full_name"
    ]
    for start in starts:
        for end in range(start + 1, len(words)):
            before, after = " ".join(words[start:end]), " ".join(words[end:])
            if before not in _BARE:
                yield fields.get(before, ""), _given(after, fields)
            elif after not in _BARE_PARTS:
                yield "last_name", _given(after, fields)


def _given(text: str, fields: Mapping[str, str]) -> str:
    """Return the field of a header, of given names also with one of middle names after it."""
    first, _space, middle = text.rpartition(" ")
    if fields.get(middle) == "middle_name" and fields.get(first) == "first_name":
        return "first_name"
    return fields.get(text, "")
