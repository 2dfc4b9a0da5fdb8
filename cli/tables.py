"""Tables for people, on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

UNLIMITED_WIDTH = 1000
"""Columns beyond which a line would be cut; the terminal wraps lines, and a program must find ids whole."""


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lay the rows out under the names of their columns; what is None stays empty."""
    laid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        laid.add_column(name, no_wrap=True)
    for row in rows:
        laid.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    console = Console(width=UNLIMITED_WIDTH)
    with console.capture() as capture:
        console.print(laid)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())
