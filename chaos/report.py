"""The report of a run: what was measured in each scenario, and whether its target was met."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

MAX_EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A measurement; `holds` is whether its target was met, None if it has none."""

    title: str
    measured: str
    target: str = "-"
    holds: bool | None = None
    examples: tuple[str, ...] = ()


@dataclass(slots=True)
class ScenarioResult:
    """The measurements of a scenario."""

    id: str
    title: str
    lines: list[ReportLine] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether every target was met."""
        return all(line.holds is not False for line in self.lines)


def print_report(results: Sequence[ScenarioResult], console: Console) -> None:
    """Print the report, with examples of what missed its target."""
    table = Table("", "measurement", "target", "measured", "verdict", title="Guarantees under failure")
    for result in results:
        table.add_section()
        table.add_row(f"[bold]{result.id}", f"[bold]{result.title}", "", f"in {result.seconds:.0f} s", "")
        for line in result.lines:
            table.add_row("", line.title, line.target, line.measured, _verdict(line.holds))
    console.print(table)
    for result in results:
        for line in result.lines:
            if line.holds is False:
                console.print(f"[red]{result.id}: {line.title}: {line.measured}, not {line.target}[/]")
                for example in line.examples[:MAX_EXAMPLES]:
                    console.print(f"    {example}", highlight=False, markup=False)


def write_json(results: Sequence[ScenarioResult], file: Path, **facts: object) -> None:
    """Write the report as JSON."""
    content = {**facts, "scenarios": [asdict(result) | {"holds": result.holds} for result in results]}
    file.write_text(json.dumps(content, indent=2) + "\n")


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lie, or 0 if there are none."""
    if not values:
        return 0.0
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=1000, method="inclusive")[min(998, round(share * 1000) - 1)]


def milliseconds(seconds: float) -> str:
    """Format seconds as milliseconds."""
    return f"{seconds * 1000:,.0f} ms"


def _verdict(holds: bool | None) -> str:  # noqa: FBT001 - the value to format
    return {True: "[green]ok[/]", False: "[red]FAILED[/]", None: ""}[holds]
