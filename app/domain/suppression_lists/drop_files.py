"""The files of California's Delete Request and Opt-out Platform, DROP.

A download is a ZIP archive with a CSV file for each list, `<date>_<broker>_<list>[_<suffix>].csv`, and one of
removed entries, which names the list of each. Source:
https://privacy.ca.gov/drop-for-data-brokers/technical-specifications/working-with-data/, version 1.2.0.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO

from app.domain.errors import InvalidValue
from app.domain.suppression_lists.hashed_values import parse_hash

KINDS = {"Email": "email", "Phone": "phone"}
"""The lists that can be matched, and the kind of their hashes."""
UNMATCHED = {
    "NDZ": "date of birth and ZIP code",
    "NameVIN": "vehicle identification number",
    "MAID": "mobile advertising ID",
    "CTVID": "connected TV ID",
}
"""The lists that cannot be matched, and what they need that is not stored here."""
_REMOVED = "Removed"
_NAME = re.compile(r"\d{8}_\d{4}_([A-Za-z]+)(?:_[A-Za-z0-9]{1,10})?\.csv")


@dataclass(frozen=True, slots=True)
class DropRow:
    """A row of a list and its line, from 1; `sha256` is None if the hash cannot be read."""

    list_type: str
    is_removed: bool
    sha256: bytes | None
    line: int = 0


def rows(file: IO[bytes], name: str) -> Iterator[DropRow]:
    """Yield the rows of a download or of one of its files, removed entries first.

    A person who withdrew a request and made another one is thus on the list.

    Raises:
        InvalidValue: the file is not one of DROP's.

    """
    if not zipfile.is_zipfile(file):
        file.seek(0)
        yield from _rows(file, _list_type(name))
        return
    with zipfile.ZipFile(file) as archive:
        names = [entry for entry in archive.namelist() if not entry.endswith("/")]
        for entry in sorted(names, key=lambda entry: _list_type(entry) != _REMOVED):
            with archive.open(entry) as part:
                yield from _rows(part, _list_type(entry))


def _list_type(name: str) -> str:
    found = _NAME.fullmatch(PurePath(name).name)
    if found is None or found[1] not in {*KINDS, *UNMATCHED, _REMOVED}:
        raise InvalidValue(
            "A file of DROP has a name such as 20260312_4821_Email.csv or 20260312_4821_DROP.zip, and the "
            "files in the archive too. Do not rename them."
        )
    return found[1]


def _rows(file: IO[bytes], list_type: str) -> Iterator[DropRow]:
    reader = csv.DictReader(io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline=""))
    is_removed = list_type == _REMOVED
    needed = {"Hash", "ListType"} if is_removed else {"Hash"}
    if not needed <= set(reader.fieldnames or ()):
        raise InvalidValue(f"The header of {list_type} must contain: ID, {', '.join(sorted(needed))}.")
    for row in reader:
        found = row["ListType"] if is_removed else list_type
        yield DropRow(found, is_removed, _hash(row["Hash"]), reader.line_num)


def _hash(text: str | None) -> bytes | None:
    try:
        return parse_hash(text or "")
    except InvalidValue:
        return None
