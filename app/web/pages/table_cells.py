"""The cells of a table with the title of their column, which a narrow screen shows beside each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from markupsafe import Markup, escape

_ROW = re.compile(r"<tr\b")
_CELL = re.compile(r"<(td|th)\b([^>]*)>(\s*(?:\N{EN DASH}\s*)?(?=</t[dh]>))?")


def label(rows: Markup, columns: Sequence[str | Sequence[str]]) -> Markup:
    """Return the rows with `data-label` on each cell, and `data-none` on those that are empty or a dash."""
    titles = [column if isinstance(column, str) else column[0] for column in columns]
    start, *parts = _ROW.split(rows)
    # As it came: the template has escaped what it shows.
    return Markup("<tr").join([Markup(start), *(_row(part, titles) for part in parts)])  # noqa: S704  # nosec B704


def _row(html: str, titles: Sequence[str]) -> Markup:
    """Return a row whose cells have their titles; a cell that spans columns is counted once."""
    number = count()

    def cell(found: re.Match[str]) -> str:
        place = next(number)
        tag, attributes, nothing = found.groups()
        title = titles[place] if place < len(titles) else ""
        shown = f' data-label="{escape(title)}"' if title and tag == "td" else ""
        none = "" if nothing is None else " data-none"
        return f"<{tag}{attributes}{shown}{none}>{nothing or ''}"

    return Markup(_CELL.sub(cell, html))  # noqa: S704  # nosec B704
