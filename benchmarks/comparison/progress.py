"""The progress of a run: a bar on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar


class Progress:
    """Shows how many cells of a run are done, and what is running."""

    def __init__(self, cells: int) -> None:
        self._console = Console(stderr=True)
        self._started = time.monotonic()
        self._text = ""
        self._bar = Bar(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=cells)

    def __enter__(self) -> Self:
        """Show the bar."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar: the report replaces it."""
        self._bar.stop()

    def show(self, text: str) -> None:
        """Show what is running."""
        self._text = text
        self._bar.update(self._task, description=text)

    def advance(self, result: str) -> None:
        """Count a cell, and print its result."""
        self._bar.advance(self._task)
        line = f"{time.monotonic() - self._started:6.0f} s  {self._text}: {result}"
        self._console.print(line, soft_wrap=True, highlight=False)
