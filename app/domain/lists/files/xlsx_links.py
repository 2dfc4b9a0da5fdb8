"""The targets of the links in the cells of a sheet: of its hyperlinks, and of HYPERLINK formulas.

A sheet lists its hyperlinks behind its cells, and with the cells only the results of formulas are read. So
the part is searched before its rows are read: as text, which takes far less time than parsing it. Formulas
whose results are not stored are counted likewise.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from app.domain.normal.texts.text_forms import unescaped

Links: TypeAlias = dict[int, dict[int, str]]
"""Targets by the number of the row, from 1, and the index of the column, from 0."""

MAX_CHARACTERS = 16 << 20
"""The length of all targets that are kept of a sheet, in which Excel allows 65,530 hyperlinks."""
_CHUNK = 1 << 20
_OVERLAP = 1 << 14  # longer than what the patterns match
_ATTRIBUTES = rb"[^<>]{1,3000}"
_HYPERLINK = re.compile(rb"<(?:\w{1,20}:)?hyperlink (" + _ATTRIBUTES + rb")>")
_RELATIONSHIP = re.compile(rb"<(?:\w{1,20}:)?Relationship (" + _ATTRIBUTES + rb")>")
_FORMULA = re.compile(
    rb"<(?:\w{1,20}:)?c ([^<>]{1,200})><(?:\w{1,20}:)?f[^<>]{0,200}>\s{0,9}HYPERLINK\(\s{0,9}"
    rb'(?:"|&quot;)([^"<>]{1,3000}?)(?:"|&quot;)'
)
_NO_RESULT = re.compile(
    rb"<(?:\w{1,20}:)?c ([^<>]{0,200})>\s{0,9}"
    rb"<(?:\w{1,20}:)?f(?: [^<>]{0,300})?(?:/>|>([^<>]{0,8000})</(?:\w{1,20}:)?f>)\s{0,9}"
    rb"(?:<(?:\w{1,20}:)?v(?: ?/>|></(?:\w{1,20}:)?v>)\s{0,9})?</(?:\w{1,20}:)?c>"
)
"""A cell with a formula and no result, as programs write it that do not calculate."""
_EMPTY_TEXT = b't="str"'  # the result is a text without characters
_ATTRIBUTE = re.compile(r"""(\w{1,20})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')""")
_REFERENCE = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})(?::[A-Z0-9]{2,10})?")
_OTHER_SCHEME = re.compile(r"#|(?!https?:)[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)
_LINKEDIN = "linkedin."
_CUT_OFF = ("...", "\u2026")


def links_of(archive: zipfile.ZipFile, part: str, columns: Mapping[int, bool]) -> Links:
    """Return the targets of links in these columns; of those that map to False, only targets on LinkedIn.

    A link over several cells counts for the first one.
    """
    links: Links = {}
    targets = _targets(archive, part)
    room = MAX_CHARACTERS
    for reference, target in _found(archive, part, targets):
        place = _REFERENCE.fullmatch(reference)
        if place is None or _OTHER_SCHEME.match(target):
            continue
        index = _index(place[1])
        if index not in columns or not (columns[index] or _LINKEDIN in target.lower()):
            continue
        room -= len(target)
        if room < 0:
            break
        links.setdefault(int(place[2]), {})[index] = target
    return links


def unsolved_formulas(archive: zipfile.ZipFile, part: str) -> int:
    """Return how many formulas of a sheet have no stored result; links are read without one."""
    count = 0
    for text, known in _overlapping(archive, part):
        for found in _NO_RESULT.finditer(text):
            is_link = (found[2] or b"").lstrip().startswith(b"HYPERLINK(")
            count += found.end() > known and _EMPTY_TEXT not in found[1] and not is_link
    return count


def with_targets(cells: list[str], targets: Mapping[int, str]) -> list[str]:
    """Return the cells of a row with the targets in place of their texts; a URL stays as it is written."""
    linked = [*cells, *[""] * (max(targets) + 1 - len(cells))]
    for index, target in targets.items():
        if not _is_url(linked[index]):
            linked[index] = target
    return linked


def _found(archive: zipfile.ZipFile, part: str, targets: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the cell and the target of each link in a sheet."""
    for text in _pieces(archive, part):
        for found in _FORMULA.finditer(text) if b"HYPERLINK(" in text else ():
            yield _attributes(found[1]).get("r", ""), unescaped(found[2].decode("utf-8", "replace"))
        for found in _HYPERLINK.finditer(text) if targets else ():
            named = _attributes(found[1])
            yield named.get("ref", ""), targets.get(named.get("id", ""), "#")


def _targets(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    """Return the targets of the relationships of a sheet by their ids."""
    folder, _, name = part.rpartition("/")
    relations = f"{folder}/_rels/{name}.rels"
    if relations not in archive.NameToInfo:
        return {}
    targets: dict[str, str] = {}
    room = MAX_CHARACTERS
    for text in _pieces(archive, relations):
        for found in _RELATIONSHIP.finditer(text):
            named = _attributes(found[1])
            if named.get("TargetMode") == "External" and room > 0:
                room -= len(named.get("Target", ""))
                targets[named.get("Id", "")] = named.get("Target", "#")
    return targets


def _pieces(archive: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """Yield the unpacked part in pieces that overlap."""
    return (text for text, _known in _overlapping(archive, part))


def _overlapping(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[bytes, int]]:
    """Yield the pieces of an unpacked part, and how much of each was in the one before."""
    rest = b""
    with archive.open(part) as stream:
        while chunk := stream.read(_CHUNK):
            yield rest + chunk, len(rest)
            rest = (rest + chunk)[-_OVERLAP:]


def _attributes(text: bytes) -> dict[str, str]:
    """Return the attributes of an element by their names without a namespace."""
    found = _ATTRIBUTE.finditer(text.decode("utf-8", "replace"))
    return {match[1]: unescaped(match[2] or match[3] or "") for match in found}


def _index(letters: str) -> int:
    """Return the index of a column by its letters, from 0."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _is_url(text: str) -> bool:
    return "/" in text and "." in text and not any(mark in text for mark in _CUT_OFF)
