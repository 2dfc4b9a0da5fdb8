"""What people see: a live table while it runs, and the report with a verdict per line at the end."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One line of the report; `holds` is None for a figure that promises nothing."""

    title: str
    measured: str
    target: str = "-"
    holds: bool | None = None
    examples: tuple[str, ...] = ()


@dataclass(slots=True)
class ScenarioResult:
    """What came of one scenario."""

    id: str
    title: str
    lines: list[ReportLine] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        """Tell whether every promise was kept."""
        return all(claim.holds is not False for claim in self.lines)


class LiveTable:
    """The live table: a line for each scenario, the figures of the one that runs changing as it goes.

    Where nobody watches, it prints a line when a scenario begins something new.
    """

    def __init__(self, scenarios: Sequence[tuple[str, str]]) -> None:
        self._lines = {name: [title, "waiting", ""] for name, title in scenarios}
        self._console = Console(stderr=True)
        self._current = ""
        self._figures: Callable[[], str] = str
        self._started = time.monotonic()
        self._live = Live(
            get_renderable=self._table, console=self._console, refresh_per_second=2, transient=True
        )

    def __enter__(self) -> Self:
        """Show it, if somebody watches."""
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take it away; the report comes instead."""
        self._live.stop()

    def update(self, name: str, state: str, figures: Callable[[], str] = str) -> None:
        """Say what a scenario does now; `figures` is called whenever the table is drawn."""
        if self._current in self._lines:
            self._lines[self._current][2] = self._figures()
        self._current, self._figures = name, figures
        self._lines[name][1] = state
        if not self._console.is_terminal:
            line = f"{time.monotonic() - self._started:6.1f} s  {name:<4} {state}  {figures()}"
            self._console.print(line, soft_wrap=True)

    def _table(self) -> Table:
        table = Table("", "scenario", "state", "figures", title="dev.py chaos", title_justify="left")
        for name, (title, state, figures) in self._lines.items():
            table.add_row(name, title, state, self._figures() if name == self._current else figures)
        return table


def print_report(results: Sequence[ScenarioResult], console: Console) -> None:
    """Print the report."""
    table = Table("", "what was measured", "target", "measured", "verdict", title="Promises under failure")
    for result in results:
        table.add_section()
        table.add_row(f"[bold]{result.id}", f"[bold]{result.title}", "", f"in {result.seconds:.0f} s", "")
        for claim in result.lines:
            table.add_row("", claim.title, claim.target, claim.measured, _verdict(claim.holds))
    console.print(table)
    for result in results:
        for claim in result.lines:
            if claim.holds is False:
                console.print(f"[red]{result.id}: {claim.title}: {claim.measured}, not {claim.target}[/]")
                for example in claim.examples[:10]:
                    console.print(f"    {example}", highlight=False, markup=False)


def write_json(results: Sequence[ScenarioResult], file: Path, **facts: object) -> None:
    """Write the report as JSON."""
    content = {**facts, "scenarios": [asdict(result) | {"holds": result.holds} for result in results]}
    file.write_text(json.dumps(content, indent=2) + "\n")


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value below which this share of all lie; 0 of none."""
    if not values:
        return 0.0
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=1000, method="inclusive")[min(998, round(share * 1000) - 1)]


def milliseconds(seconds: float) -> str:
    """Write seconds as milliseconds."""
    return f"{seconds * 1000:,.0f} ms"


def _verdict(holds: bool | None) -> str:  # noqa: FBT001 - a verdict
    return {True: "[green]kept[/]", False: "[red]BROKEN[/]", None: ""}[holds]
