"""Plain-text tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

UNLIMITED_WIDTH = 1000
"""Width in characters at which rich does not wrap: a program that reads the output finds ids whole."""


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the rows as an aligned table; None is an empty cell."""
    layout = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        layout.add_column(name, no_wrap=True)
    for row in rows:
        layout.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    console = Console(width=UNLIMITED_WIDTH)
    with console.capture() as capture:
        console.print(layout)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())
