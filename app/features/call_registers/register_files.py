"""The files of registers as numbers: plain, compressed with gzip, or in a zip archive."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from app.domain.errors import InvalidValue
from app.features.call_registers.number_forms import MAX_BYTES, Normalize

MAX_NAMED = 20
"""The lines that could not be read of which a report has the number."""
_HEADER_WORDS = (b"number", b"phone", b"area", b"num")
LISTED_WORDS = frozenset({"y", "yes", "true", "1", "listed", "registered", "do not call", "dnc", "found"})


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
            start = file.read(4)
            file.seek(0)
            if start.startswith(b"PK"):
                with zipfile.ZipFile(file) as archive:
                    names = sorted(one for one in archive.namelist() if not one.endswith("/"))
                    yield [(name, archive.open(name)) for name in names]
            elif start.startswith(b"\x1f\x8b"):
                with gzip.open(file) as unpacked:
                    yield [(path.name, unpacked)]  # type: ignore[list-item]
            elif start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise InvalidValue(f"{path.name} is in UTF-16. Save it as plain text (UTF-8 or ASCII).")
            elif start.lstrip().startswith(b"<"):
                raise InvalidValue(f"{path.name} is XML. Download the register as a flat text file.")
            else:
                yield [(path.name, file)]
    except (OSError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidValue(f"{path.name} cannot be read: {error}.") from error


def numbers(path: Path, normalize: Normalize, report: Report) -> Iterator[bytes]:
    """Yield the numbers of files with one in each line; spaces, commas and hyphens in them do not matter."""
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
    """Yield the numbers of change lists, each with whether it is registered now: a field `A` or `D` says so.

    The fields before are the number, in one or in two of them; other fields, such as a date, are not read.
    """
    with opened(path) as files:
        for name, file in files:
            for line, text in enumerate(file, 1):
                cells = [cell.strip(b" \t\r\n\"'") for cell in text.split(b",")]
                marks = [cell for cell in cells if cell.upper() in {b"A", b"D"}]
                number = normalize(cells[0]) or normalize(b"".join(cells[:2]))
                if number is not None and len(marks) == 1:
                    report.lines += 1
                    yield number, marks[0].upper() == b"A"
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
            text = io.TextIOWrapper(file, "utf-8-sig", errors="replace", newline="")
            rows = csv.reader(text, _dialect(text.readline()))
            text.seek(0)
            header = [cell.strip() for cell in next(rows, [])]
            index = _index(header, column)
            listed = None if listed_column is None else _index(header, listed_column)
            for row in rows:
                if not any(row):
                    continue
                report.lines += 1
                cells = [*row, *[""] * (len(header) - len(row))]
                number = normalize(cells[index].encode("utf-8", "replace")[: MAX_BYTES + 1])
                if number is None:
                    report.reject(name, rows.line_num)
                elif listed is None or cells[listed].strip().lower() in LISTED_WORDS:
                    yield number


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
    return any(word in text.lower() for word in _HEADER_WORDS)
