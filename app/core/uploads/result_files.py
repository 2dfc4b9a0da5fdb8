"""The result of an upload as a CSV file, in parts: a long list occupies neither memory nor locks."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence

from app.core.uploads import results
from app.core.uploads.upload_tables import Upload
from app.domain.lists.cells import escape_formula
from app.infra.db import Database

_BYTE_ORDER_MARK = codecs.BOM_UTF8  # without it, spreadsheet programs read UTF-8 as another encoding


def csv_parts(database: Database, upload: Upload) -> Iterator[bytes]:
    """Yield the file in parts: the columns and rows of the upload, in their order, and what was found."""
    width = len(upload.header)
    yield _BYTE_ORDER_MARK + _lines([[*upload.header, *results.COLUMNS]], upload.delimiter)
    first = 0
    while True:
        with database.reading() as session:
            rows = results.rows(session, upload, first=first, limit=results.BATCH)
        if not rows:
            return
        yield _lines([row.texts(width) for row in rows], upload.delimiter)
        first = rows[-1].number + 1


def _lines(rows: Sequence[Sequence[str]], delimiter: str) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter).writerows([escape_formula(text) for text in row] for row in rows)
    return file.getvalue().encode()
