"""CSV files with columns of SHA-256 hashes, as partners send them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import IO

from app.domain.errors import InvalidValue
from app.domain.suppression_lists.hashed_values import parse_hash

_WORDS = {
    "email": ("mail",),
    "phone": ("phone", "mobile", "tel"),
    "linkedin_url": ("linkedin", "profile"),
    "domain": ("domain", "website"),
}
_DELIMITERS = ",;\t|"


def rows(file: IO[bytes], kind: str | None = None) -> Iterator[tuple[str, bytes | None, int]]:
    """Yield the kind, the 32 bytes and the line of each hash; None instead of what cannot be read.

    The names of the columns tell the kinds, unless `kind` does; then every column is read, and the file needs
    no header.

    Raises:
        InvalidValue: no column is known.

    """
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
    first = text.readline()
    delimiter = max(_DELIMITERS, key=first.count)
    header = next(csv.reader([first], delimiter=delimiter), [])
    columns = _columns(header, kind)
    if kind is not None and any(_hash(cell) for cell in header):
        yield from _read(header, columns, 1)
    reader = csv.reader(text, delimiter=delimiter)
    for cells in reader:
        yield from _read(cells, columns, 1 + reader.line_num)
    text.detach()


def _columns(header: Sequence[str], kind: str | None) -> dict[int, str]:
    columns = {
        index: known
        for index, name in enumerate(header)
        for known, words in _WORDS.items()
        if any(word in name.casefold() for word in words)
    }
    if kind is not None:
        return dict.fromkeys(columns or range(len(header)), kind)
    if not columns:
        raise InvalidValue(
            "No column of hashes is known. Name them email, phone, linkedin_url or domain, or use --kind."
        )
    return columns


def _read(
    cells: Sequence[str], columns: dict[int, str], line: int
) -> Iterator[tuple[str, bytes | None, int]]:
    for index, kind in columns.items():
        if index < len(cells) and cells[index].strip():
            yield kind, _hash(cells[index]), line


def _hash(text: str) -> bytes | None:
    try:
        return parse_hash(text)
    except InvalidValue:
        return None
