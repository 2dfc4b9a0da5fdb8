"""Downloads: files that are written while they are read from the database, so that memory stays flat.

A download runs after its request has ended and gave its slot back: a slow reader does not delay others.
"""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from flask import Response, current_app

from app.domain.lists.files import xlsx_parts
from app.domain.lists.files.csv_lines import csv_line

FORMATS = ("csv", "xlsx", "json")
TABLES = ("csv", "xlsx")
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


def table_download(
    name: str,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, str | float]],
    file_format: str,
    *,
    for_spreadsheet: bool = False,
) -> Response:
    """Return a table as a file in one of the formats `TABLES`."""
    if file_format == "xlsx":
        return xlsx_download(name, columns, rows)
    return csv_download(name, columns, rows, for_spreadsheet=for_spreadsheet)


def xlsx_download(name: str, columns: Sequence[str], rows: Iterable[Mapping[str, str | float]]) -> Response:
    """Return a workbook in which numbers are numbers, and texts are texts, whatever they begin with."""
    cells = ([row.get(column, "") for column in columns] for row in _started(rows))
    return _download(f"{name}.xlsx", xlsx_parts.MIMETYPE, xlsx_parts.workbook(name, columns, cells))


def csv_download(
    name: str,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, str | float]],
    *,
    for_spreadsheet: bool = False,
) -> Response:
    """Return a CSV file in UTF-8 with formulas escaped; the first row is read before the response starts."""
    lines = _csv_lines(columns, _started(rows))
    mark = (BYTE_ORDER_MARK,) if for_spreadsheet else ()
    return _download(f"{name}.csv", "text/csv", _encoded(itertools.chain(mark, lines)))


def json_download(name: str, items: Iterable[dict[str, Any]]) -> Response:
    """Return a JSON file, an object with the items under `name`; the first is read before the start."""
    return _download(f"{name}.json", "application/json", _encoded(_json_parts(name, _started(items))))


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


def _csv_lines(columns: Sequence[str], rows: Iterator[Mapping[str, str | float]]) -> Iterator[str]:
    yield csv_line(columns)
    for row in rows:
        yield csv_line([row.get(name, "") for name in columns])


def _json_parts(name: str, items: Iterator[dict[str, Any]]) -> Iterator[str]:
    yield f"{{{json.dumps(name)}: ["
    for index, item in enumerate(items):
        yield (",\n" if index else "\n") + json.dumps(item)
    yield "\n]}\n"


def _encoded(parts: Iterable[str]) -> Iterator[bytes]:
    return (part.encode() for part in parts)


def _download(name: str, mimetype: str, parts: Iterable[bytes]) -> Response:
    today = datetime.now(UTC).date().isoformat()
    stem, _, ending = name.partition(".")
    response = current_app.response_class(parts, mimetype=mimetype)
    return as_file(response, f"{stem}-{today}.{ending}")
