"""The row of a table that is its header, or that it has none."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.domain.lists.files.csv_records import LONG_ROW, Row
from app.domain.lists.files.delimiters import CountKnown

INVISIBLE = "\ufeff\0 \r\n\t\u00a0"
HEADER_WITHIN = 50  # rows; some exports have notes before the header
_SURE = 3  # cells
_DATA = re.compile(
    r"[^@\s]{1,64}@[^@\s]{1,200}\.[^@\s.]{2,24}|(?:https?://|www\.)\S{1,500}|[+(]?\d[\d\s()./+-]{6,30}"
)
"""An e-mail address, a link, a phone number or a date: what no header is."""
_ADDRESS = re.compile(r"[^@\s<>]{1,64}@[^@\s<>]{1,200}\.[^@\s.<>]{2,24}")
"""An address in a cell, which no header has either: `Ada <ada@acme.com>`, or a bullet before one."""


def header_index(rows: Sequence[Row], count_known: CountKnown, *, has_header: bool | None) -> int | None:
    """Return the index of the header in the first rows of a table; None if it has none.

    The header is the row with the most known headers; else the first with several cells, unless its cells are
    data. `has_header` says whether there is one, if that is known.
    """
    if has_header is False or not rows:
        return None
    counts = [_known(row, count_known) for row in rows]
    if best := max(counts, default=0):
        index = counts.index(best)
        return index if has_header or not _follows_data(rows, index, best) else None
    wide = (index for index, row in enumerate(rows) if _filled(row) > 1)
    index = next(wide, next((index for index, row in enumerate(rows) if _filled(row)), 0))
    return index if has_header or not _data_cells(rows[index]) else None


def column_names(rows: Sequence[Row], index: int | None, count_known: CountKnown) -> list[str]:
    """Return the names of the columns: `Column 1` and so on if there is no header.

    A cell of the row above that stands for several columns, as merged cells do, is put before their names if
    that is a known header (`Company`, `Name`), or if another column has the same name.
    """
    if index is None:
        width = max((len(row.cells) for row in rows if row.fault is None), default=1)
        return [f"Column {number}" for number in range(1, width + 1)]
    names = stripped(rows[index].cells)
    groups = _groups(rows[index - 1], names) if index else None
    if groups is None:
        return names
    grouped = [
        f"{group} {name}" if group and name else name for group, name in zip(groups, names, strict=True)
    ]
    return [
        together if names.count(name) > 1 or count_known([together]) else name
        for together, name in zip(grouped, names, strict=True)
    ]


def stripped(cells: Sequence[str]) -> list[str]:
    """Return the texts of a header without the empty columns at its end."""
    names = [cell.strip(INVISIBLE) for cell in cells]
    while len(names) > 1 and not names[-1]:
        names.pop()
    return names


def _groups(above: Row, names: Sequence[str]) -> list[str] | None:
    """Return the group of each column; None if the row above the header has no groups of columns."""
    if not 1 < _filled(above) < len(names) or _data_cells(above):
        return None
    cells = [cell.strip(INVISIBLE) for cell in above.cells[: len(names)]]
    cells += [""] * (len(names) - len(cells))
    groups: list[str] = []
    for cell in cells:
        groups.append(cell or (groups[-1] if groups else ""))
    return groups


def _known(row: Row, count_known: CountKnown) -> int:
    """Return how many known headers a row has; none if more of its cells are data."""
    if row.fault not in {None, LONG_ROW} or _is_comment(row):
        return 0
    known = count_known(row.cells)
    return known if known > _data_cells(row) else 0


def _is_comment(row: Row) -> bool:
    """Return whether a row is a remark above the list: `# opt-outs of May`."""
    return _filled(row) == 1 and row.cells[0].lstrip(INVISIBLE).startswith("#")


def _follows_data(rows: Sequence[Row], index: int, known: int) -> bool:
    """Return whether a row above has data in as many cells: then a word of a person looks like a header.

    It is one if all of several cells are known headers.
    """
    if _filled(rows[index]) == known >= _SURE:
        return False
    return any(_data_cells(row) and _filled(row) >= _filled(rows[index]) for row in rows[:index])


def _data_cells(row: Row) -> int:
    return sum(
        1 for cell in row.cells if _DATA.fullmatch(cell.strip()) or ("@" in cell and _ADDRESS.search(cell))
    )


def _filled(row: Row) -> int:
    return sum(1 for cell in row.cells if cell.strip())
