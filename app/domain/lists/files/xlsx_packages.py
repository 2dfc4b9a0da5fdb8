"""Workbooks that Excel reads and the library does not: in the strict format, or with other names of parts.

Excel writes the strict format as "Strict Open XML Spreadsheet". Names of parts are compared without case
(ECMA-376, part 2), and some programs write them with backslashes.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from io import BytesIO
from typing import IO

from app.domain.errors import InvalidValue
from app.domain.messages import Message

MAX_BYTES = 64 << 20
"""Unpacked; a larger one of these workbooks is not converted, which happens in memory."""
TOO_LARGE = Message(
    "This workbook is too large for its format, which few programs write. "
    "Open it in Excel and save it as CSV (UTF-8)."
)
_TYPES = "[Content_Types].xml"
_BOOK = "xl/workbook.xml"
_RELATIONS = "xl/_rels/workbook.xml.rels"
_PART = re.compile(rb"""\bPartName\s*=\s*["']/?([^"']{1,300})["']""")
_TARGET = re.compile(rb"""\bTarget\s*=\s*["']([^"']{1,300})["']""")
_STRICT = b"http://purl.oclc.org/ooxml/"
_NAMESPACES = (
    (_STRICT + b"spreadsheetml/main", b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"),
    (
        _STRICT + b"officeDocument/relationships",
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    ),
)


def part_name(name: str) -> str:
    """Return the name of a part as others refer to it: with slashes, and in lower case."""
    return name.replace("\\", "/").lstrip("/").lower()


def readable(file: IO[bytes]) -> IO[bytes]:
    """Return the workbook, or one in memory that the library reads.

    Raises:
        InvalidValue: it would have to be converted, and is too large for it.

    """
    with zipfile.ZipFile(file) as archive:
        parts = {part_name(part.filename): part for part in archive.infolist()}
        named = _named(archive, parts)
        is_strict = _STRICT in archive.read(parts[_BOOK])
        if not is_strict and all(part.filename == named.get(key, key) for key, part in parts.items()):
            return file
        if sum(part.file_size for part in parts.values()) > MAX_BYTES:
            raise InvalidValue(TOO_LARGE)
        return _converted(archive, parts, named)


def _named(archive: zipfile.ZipFile, parts: dict[str, zipfile.ZipInfo]) -> dict[str, str]:
    """Return the names by which parts are referred to, by the name in lower case; others keep their own."""
    named = {key: part.filename.replace("\\", "/") for key, part in parts.items()}
    for source, pattern, folder in ((_TYPES, _PART, ""), (_RELATIONS, _TARGET, "xl")):
        content = archive.read(parts[source.lower()]) if source.lower() in parts else b""
        for found in pattern.findall(content):
            target = found.decode("utf-8", "replace")
            name = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
            if name.lower() in named:
                named[name.lower()] = name
    return {**named, _TYPES.lower(): _TYPES, _BOOK: _BOOK, _RELATIONS: _RELATIONS}


def _converted(
    archive: zipfile.ZipFile, parts: dict[str, zipfile.ZipInfo], named: dict[str, str]
) -> IO[bytes]:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as converted:
        for key, part in parts.items():
            content = archive.read(part)
            for strict, transitional in _NAMESPACES:
                content = content.replace(strict, transitional)
            converted.writestr(named[key], content)
    return file
