"""Writing of CSV: all files of the service have its quotes and its protection against formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from app.domain.lists.cells.cells import escape_formula


def csv_line(cells: Sequence[object], *, delimiter: str = ",", unchanged: int = 0) -> str:
    """Return a line of a CSV file with all cells quoted (RFC 4180), and formulas escaped."""
    return csv_lines([cells], delimiter=delimiter, unchanged=unchanged)


def csv_lines(rows: Iterable[Sequence[object]], *, delimiter: str = ",", unchanged: int = 0) -> str:
    """Return lines of a CSV file with all cells quoted (RFC 4180), and formulas escaped.

    The first `unchanged` cells of each row come from the reader's own file and are returned as they were.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    for row in rows:
        writer.writerow([*row[:unchanged], *(escape_formula(str(cell)) for cell in row[unchanged:])])
    return out.getvalue()
