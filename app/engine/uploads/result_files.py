"""The result of an upload as a CSV file, in parts: a long list occupies neither memory nor locks."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import partial

from app.domain.lists.files.csv_lines import csv_lines
from app.engine.uploads import results
from app.engine.uploads.upload_tables import Upload
from app.infra.database.db import Database

_BYTE_ORDER_MARK = codecs.BOM_UTF8  # without it, spreadsheet programs read UTF-8 as another encoding


def csv_parts(database: Database, upload: Upload) -> Iterator[bytes]:
    """Yield the file in parts: the columns and rows of the upload, in their order, and what was found.

    The cells of the upload come back as they were. In what was found, formulas are escaped.
    """
    width = len(upload.header)
    lines = partial(csv_lines, delimiter=upload.delimiter, unchanged=width)
    yield _BYTE_ORDER_MARK + lines([[*upload.header, *results.COLUMNS]]).encode()
    first = 0
    while True:
        with database.reading() as session:
            rows = results.rows(session, upload, first=first, limit=results.BATCH)
        if not rows:
            return
        yield lines([row.texts(width) for row in rows]).encode()
        first = rows[-1].number + 1
