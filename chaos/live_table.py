"""The progress of a run: a table on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table


class LiveTable:
    """A table with a row for each scenario, redrawn twice a second, with figures of the one that runs.

    If stderr is not a terminal, a line is printed instead whenever a scenario changes its state.
    """

    def __init__(self, scenarios: Sequence[tuple[str, str]]) -> None:
        self._rows = {name: [title, "waiting", ""] for name, title in scenarios}
        self._console = Console(stderr=True)
        self._current = ""
        self._figures: Callable[[], str] = str
        self._started = time.monotonic()
        self._live = Live(
            get_renderable=self._table, console=self._console, refresh_per_second=2, transient=True
        )

    def __enter__(self) -> Self:
        """Show the table, on a terminal."""
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the table: the report replaces it."""
        self._live.stop()

    def update(self, name: str, state: str, figures: Callable[[], str] = str) -> None:
        """Set the state of a scenario; `figures` is called whenever the table is drawn."""
        if self._current in self._rows:
            self._rows[self._current][2] = self._figures()
        self._current, self._figures = name, figures
        self._rows[name][1] = state
        if not self._console.is_terminal:
            line = f"{time.monotonic() - self._started:6.1f} s  {name:<4} {state}  {figures()}"
            self._console.print(line, soft_wrap=True)

    def _table(self) -> Table:
        table = Table("", "scenario", "state", "figures", title="dev.py chaos", title_justify="left")
        for name, (title, state, figures) in self._rows.items():
            table.add_row(name, title, state, self._figures() if name == self._current else figures)
        return table
