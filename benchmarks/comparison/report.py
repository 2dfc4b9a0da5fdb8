"""The report of a run, as Markdown and as JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from benchmarks.comparison.cells import Cell
from benchmarks.comparison.rounds import Comparison
from benchmarks.comparison.summary import Key, Summary, summarize
from benchmarks.comparison.systems.system import Part, Workload

PACKAGES = ("flask", "celery", "fastapi", "taskiq", "saq", "pgqueuer", "rq", "redis", "psycopg", "asyncpg")
MIB = 1024 * 1024
HEADER = [
    *("system", "p50 ms", "p99 ms", "per second", "product's p50 ÷ this", "product's rate ÷ this"),
    *("CPU ms per request: web", "worker", "other", "PostgreSQL", "Redis", "sum", "callers", "not answered"),
]
PARTS = (Part.WEB, Part.WORKER, Part.OTHER, Part.POSTGRES, Part.REDIS)


def facts(comparison: Comparison, minutes: float) -> dict[str, Any]:
    """Return the circumstances of a run."""
    schedule, cells = comparison.schedule, comparison.cells
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "minutes": round(minutes, 1),
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "rounds": schedule.rounds,
        "seconds_per_cell": schedule.seconds,
        "people": schedule.scale.people,
        "workspaces": schedule.scale.workspaces,
        "elsewhere": statistics.median(cell.elsewhere for cell in cells),
        "elsewhere_max": max(cell.elsewhere for cell in cells),
        "packages": {name: version(name) for name in PACKAGES},
    }


def as_json(comparison: Comparison, circumstances: dict[str, Any]) -> str:
    """Return everything that was measured."""
    cells = [asdict(cell) for cell in comparison.cells]
    content = {**circumstances, "wrong": comparison.wrong, "cells": cells}
    return json.dumps(content, indent=1) + "\n"


def markdown(comparison: Comparison, circumstances: dict[str, Any]) -> str:
    """Return the tables."""
    cells, wrong = comparison.cells, comparison.wrong
    titles = {system.name: system.title for system in comparison.systems}
    parts = ["# The product beside what a team would otherwise build", _circumstances(circumstances)]
    summaries = summarize(cells)
    for key in sorted(summaries, key=lambda key: (list(Workload).index(key[0]), key[1])):
        parts += [_heading(key), _cell_table(titles, summaries[key])]
    parts += ["## Memory and connections", _footprint_table(titles, cells)]
    parts += ["## Checks", "\n".join(f"- wrong: {text}" for text in wrong) or _all_right(cells)]
    return "\n\n".join(parts) + "\n"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose columns are aligned."""
    widths = [max(len(row[index]) for row in [header, *rows]) for index in range(len(header))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in [header, ["-" * width for width in widths], *rows]
    ]
    return "\n".join(lines)


def _circumstances(run: dict[str, Any]) -> str:
    packages = ", ".join(f"{name} {number}" for name, number in run["packages"].items())
    return (
        f"{run['date']}, {run['minutes']} minutes, {run['processors']} processors,"
        f" {run['system']}.\n{packages}.\n"
        f"Medians of {run['rounds']} interleaved rounds of {run['seconds_per_cell']:g} s per cell, with"
        f" {run['people']:,} people and {run['workspaces']} workspaces. Other programs and the host took"
        f" {run['elsewhere']:.0%} of the machine in the median cell, {run['elsewhere_max']:.0%} in the worst."
    )


def _heading(key: Key) -> str:
    workload, callers = key
    name = {Workload.REVEAL: "Reveal of a stored contact", Workload.LOOKUP: "Lookup by profile"}.get(
        workload, "Round trips without a web server"
    )
    return f"## {name}, {callers:,} {'caller' if callers == 1 else 'callers'}"


def _cell_table(titles: dict[str, str], summaries: dict[str, Summary]) -> str:
    rows = []
    for name, title in titles.items():
        if name not in summaries:
            continue
        summary = summaries[name]
        failed = ", ".join(f"{count} of status {status}" for status, count in sorted(summary.failed.items()))
        rows.append(
            [
                *(title, _ms(summary.p50), _ms(summary.p99), f"{summary.rate:,.0f}"),
                *(_ratio(summary.p50_ratio), _ratio(summary.rate_ratio)),
                *(_ms(summary.cpu[part]) if part in summary.cpu else "" for part in PARTS),
                *(_ms(summary.cpu_sum), _ms(summary.cpu_callers), failed or "0"),
            ]
        )
    return table(HEADER, rows)


def _footprint_table(titles: dict[str, str], cells: Sequence[Cell]) -> str:
    header = ["system", "callers", "MiB: web", "worker", "other", "sum", "PostgreSQL connections", "Redis"]
    rows = []
    for name, title in titles.items():
        for callers in sorted({cell.callers for cell in cells if cell.system == name}):
            own = [cell for cell in cells if cell.system == name and cell.callers == callers]
            memory = {part: max(cell.memory.get(part, 0) for cell in own) for part in PARTS[:3]}
            rows.append(
                [
                    *(title, f"{callers:,}", *(f"{size / MIB:.0f}" for size in memory.values())),
                    f"{sum(memory.values()) / MIB:.0f}",
                    str(max(cell.connections.postgres for cell in own)),
                    str(max(cell.connections.redis for cell in own)),
                ]
            )
    return table(header, rows)


def _all_right(cells: Sequence[Cell]) -> str:
    answered = sum(cell.answered for cell in cells)
    return f"All {answered:,} answers were right, and so was every balance and charge in the databases."


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f}" if seconds < 0.01 else f"{seconds * 1000:,.1f}"  # noqa: PLR2004 - 10 ms


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
