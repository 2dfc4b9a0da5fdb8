"""Downloads: files that are written while they are read from the database, so that memory stays flat.

A download runs after its request has ended and gave its slot back: a slow reader does not delay others.
"""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from flask import Response, current_app

from app.domain.lists.files.csv_lines import csv_line

FORMATS = ("csv", "json")
BYTE_ORDER_MARK = "\ufeff"
"""What a spreadsheet needs before it reads a file as UTF-8."""


def json_file(name: str) -> dict[str, Any]:
    """Return the schema of a JSON file with the items of this name."""
    return {
        "title": "A file",
        "type": "object",
        "required": [name],
        "properties": {name: {"type": "array", "items": {"type": "object"}}},
        "additionalProperties": False,
    }


def csv_download(
    name: str, columns: Sequence[str], rows: Iterable[dict[str, str]], *, for_spreadsheet: bool = False
) -> Response:
    """Return a CSV file in UTF-8 with formulas escaped; the first row is read before the response starts."""
    lines = _csv_lines(columns, _started(rows))
    mark = (BYTE_ORDER_MARK,) if for_spreadsheet else ()
    return _download(f"{name}.csv", "text/csv", itertools.chain(mark, lines))


def json_download(name: str, items: Iterable[dict[str, Any]]) -> Response:
    """Return a JSON file, an object with the items under `name`; the first is read before the start."""
    return _download(f"{name}.json", "application/json", _json_parts(name, _started(items)))


def as_file(response: Response, name: str) -> Response:
    """Make the response a file with this name, which may have other letters than ASCII (RFC 6266)."""
    in_ascii = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().strip()
    names = {"filename": in_ascii}
    if not name.isascii():
        names["filename*"] = f"UTF-8''{quote(name, safe='')}"
    response.headers.set("Content-Disposition", "attachment", **names)
    return response


def _started(items: Iterable[Any]) -> Iterator[Any]:
    """Read the first item now, so that an error is a response, and return all."""
    iterator = iter(items)
    return itertools.chain(list(itertools.islice(iterator, 1)), iterator)


def _csv_lines(columns: Sequence[str], rows: Iterator[dict[str, str]]) -> Iterator[str]:
    yield csv_line(columns)
    for row in rows:
        yield csv_line([row.get(name, "") for name in columns])


def _json_parts(name: str, items: Iterator[dict[str, Any]]) -> Iterator[str]:
    yield f"{{{json.dumps(name)}: ["
    for index, item in enumerate(items):
        yield (",\n" if index else "\n") + json.dumps(item)
    yield "\n]}\n"


def _download(name: str, mimetype: str, parts: Iterable[str]) -> Response:
    today = datetime.now(UTC).date().isoformat()
    stem, _, ending = name.partition(".")
    response = current_app.response_class((part.encode() for part in parts), mimetype=mimetype)
    return as_file(response, f"{stem}-{today}.{ending}")
