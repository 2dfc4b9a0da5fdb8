"""The files of registers as numbers: plain, compressed with gzip, or in a zip archive."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from app.domain.errors import InvalidValue
from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.wordlists import entries
from app.features.call_registers.number_forms import MAX_BYTES, MAX_LINE, Normalize, cells, mark

MAX_NAMED = 20
"""The lines that could not be read of which a report has the number."""
_SEPARATOR = re.compile(rb"(?:\xef\xbb\xbf)?\"?sep=(.)\"?\s*$", re.IGNORECASE)
_WORDS = dict(entries("lists/register_words.txt"))
_HEADER_WORDS = [word.encode() for word in _WORDS["header"]]
_LISTED_WORDS = frozenset(_WORDS["listed"])
_UNLISTED_WORDS = frozenset({*_WORDS["unlisted"], ""})
_WORKBOOK = "[Content_Types].xml"


@dataclass(slots=True)
class Report:
    """What was read; the numbers of lines that could not be read are of their file, and no text is kept."""

    lines: int = 0
    rejected: int = 0
    rejected_lines: list[str] = field(default_factory=list)

    def reject(self, name: str, line: int) -> None:
        """Count a line that has no number."""
        self.rejected += 1
        if len(self.rejected_lines) < MAX_NAMED:
            self.rejected_lines.append(f"{name}:{line}")


@contextmanager
def opened(path: Path) -> Iterator[list[tuple[str, IO[bytes]]]]:
    """Open the files at a path, each with its name.

    Raises:
        InvalidValue: it is not a file that can be read.

    """
    try:
        with path.open("rb") as file:
            start = _start(path.name, file)
            file.seek(0)
            if start.startswith(b"PK"):
                with zipfile.ZipFile(file) as archive:
                    members = _members(path.name, archive)
                    yield [(name, archive.open(name)) for name in members]
            elif start.startswith(b"\x1f\x8b"):
                with gzip.open(file) as unpacked:
                    _start(path.name, unpacked)  # type: ignore[arg-type]
                    unpacked.seek(0)
                    yield [(path.name, unpacked)]  # type: ignore[list-item]
            else:
                yield [(path.name, file)]
    except (OSError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error, csv.Error) as error:
        raise InvalidValue(f"{path.name} cannot be read: {error}.") from error


def _members(name: str, archive: zipfile.ZipFile) -> list[str]:
    """Return the names of the files in an archive, without those that macOS adds."""
    infos = [one for one in archive.infolist() if not one.is_dir() and not _is_hidden(one.filename)]
    if any(one.filename == _WORKBOOK for one in infos):
        raise InvalidValue(f"{name} is a workbook. Save it as CSV.")
    for one in infos:
        if one.flag_bits & 1:
            raise InvalidValue(f"{name} is encrypted. Unpack it first.")
        with archive.open(one) as file:
            if _start(one.filename, file).startswith((b"PK", b"\x1f\x8b")):
                raise InvalidValue(f"{one.filename} is an archive in the archive {name}. Unpack it first.")
    return sorted(one.filename for one in infos)


def _is_hidden(name: str) -> bool:
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


def _start(name: str, file: IO[bytes]) -> bytes:
    start = file.read(4)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in start[:2]:
        raise InvalidValue(f"{name} is in UTF-16. Save it as plain text (UTF-8 or ASCII).")
    if start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<"):
        raise InvalidValue(f"{name} is XML. Download the register as a flat text file.")
    return start


def numbers(path: Path, normalize: Normalize, report: Report) -> Iterator[bytes]:
    """Yield the numbers of files with one in each line; see `normalizer` for what may stand beside it."""
    with opened(path) as files:
        for name, file in files:
            for line, text in enumerate(file, 1):
                number = normalize(text)
                if number is not None:
                    report.lines += 1
                    yield number
                elif text.strip() and not (line == 1 and _is_header(text)):
                    report.lines += 1
                    report.reject(name, line)


def changes(path: Path, normalize: Normalize, report: Report) -> Iterator[tuple[bytes, bool]]:
    """Yield the numbers of change lists, each with whether it is registered: a cell `A` or `D` says so."""
    with opened(path) as files:
        for name, file in files:
            for line, text in enumerate(file, 1):
                parts = cells(text[:MAX_LINE])
                marks = [found for part in parts[1:] if (found := mark(part)) is not None]
                number = normalize(b",".join(part for part in parts if mark(part) is None))
                if number is not None and len(marks) == 1:
                    report.lines += 1
                    yield number, marks[0]
                elif text.strip() and not (line == 1 and _is_header(text)):
                    report.lines += 1
                    report.reject(name, line)


def listed_in_table(
    path: Path, normalize: Normalize, report: Report, *, column: str, listed_column: str | None
) -> Iterator[bytes]:
    """Yield the numbers of a CSV file's column; with `listed_column`, only of rows in which it says yes.

    Raises:
        InvalidValue: the file has no such column; the message names those that it has.

    """
    with opened(path) as files:
        for name, file in files:
            first = file.readline()
            separator = _SEPARATOR.match(first)
            line = file.readline() if separator else first
            text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="")
            given = separator[1].decode() if separator else ""
            dialect = _dialect(given or _decoded(line))
            header = [cell.strip() for cell in next(csv.reader([_decoded(line)], dialect), [])]
            rows, before = csv.reader(text, dialect), 2 if separator else 1
            index = _index(header, column)
            listed = None if listed_column is None else _index(header, listed_column)
            for cut in rows:
                if not any(cut):
                    continue
                report.lines += 1
                row = [*cut, *[""] * (len(header) - len(cut))]
                number = normalize(row[index].encode("utf-8", "replace")[: MAX_BYTES + 1])
                if number is None:
                    report.reject(name, before + rows.line_num)
                elif listed is None or (answer := fold(row[listed])) in _LISTED_WORDS:
                    yield number
                elif answer not in _UNLISTED_WORDS:
                    report.reject(name, before + rows.line_num)


def _dialect(line: str) -> type[csv.Dialect]:
    class Separated(csv.excel):
        delimiter = max(",;\t|", key=line.count)

    return Separated


def _index(header: Sequence[str], column: str) -> int:
    folded = [name.casefold() for name in header]
    if column.casefold() not in folded:
        raise InvalidValue(f"There is no column {column!r}. The file has: {', '.join(header)}.")
    return folded.index(column.casefold())


def _is_header(text: bytes) -> bool:
    return any(word in text.lower() for word in _HEADER_WORDS) or _SEPARATOR.match(text) is not None


def _decoded(line: bytes) -> str:
    """Return the header of a table, which Excel writes in UTF-8 or in the encoding of Windows."""
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")
