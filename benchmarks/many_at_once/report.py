"""The report: a table of ratios, as Markdown and as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from benchmarks.comparison.report import table
from benchmarks.many_at_once.scenarios import Comparison

AIM = 2.0
LATENCIES = ["clicks", "quiet: p50 ms", "p99", "busy: p50 ms", "p99", "ratio of p50", "of p99"]
HEADER = [*LATENCIES, "busy: per second", "refused"]


def markdown(comparisons: Sequence[Comparison], minutes: float) -> str:
    """Return the table, and what was wrong."""
    wrong = [f"- wrong: {one.title}: {text}" for one in comparisons for text in one.wrong]
    clicks = sum(len(one.quiet.latencies) + len(one.busy.latencies) for one in comparisons)
    parts = [
        "# Many at once",
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {minutes:.1f} minutes, {os.cpu_count()} processors.",
        table(HEADER, [_row(one) for one in comparisons]),
        "\n".join(wrong) or f"All {clicks:,} clicks were answered, and every answer and balance was right.",
    ]
    return "\n\n".join(parts) + "\n"


def as_json(comparisons: Sequence[Comparison]) -> str:
    """Return the figures of each comparison."""
    return json.dumps([_figures(one) for one in comparisons], indent=1) + "\n"


def latencies(one: Comparison) -> list[str]:
    """Return the cells of `LATENCIES`."""
    times = [one.quiet.latency(0.5), one.quiet.latency(0.99), one.busy.latency(0.5), one.busy.latency(0.99)]
    return [
        one.title,
        *(f"{1000 * seconds:.1f}" for seconds in times),
        *(f"{one.ratio(share):.2f}" for share in (0.5, 0.99)),
    ]


def _row(one: Comparison) -> list[str]:
    return [
        *latencies(one),
        f"{one.busy_rate:,.0f}",
        ", ".join(f"{count:,} of status {status}" for status, count in sorted(one.refused.items())) or "0",
    ]


def _figures(one: Comparison) -> dict[str, Any]:
    return {
        "title": one.title,
        **{
            f"{state}_{name}_ms": round(1000 * observed.latency(share), 2)
            for state, observed in (("quiet", one.quiet), ("busy", one.busy))
            for name, share in (("p50", 0.5), ("p99", 0.99))
        },
        "clicks": [len(one.quiet.latencies), len(one.busy.latencies)],
        "ratio_p50": round(one.ratio(0.5), 3),
        "ratio_p99": round(one.ratio(0.99), 3),
        "busy_per_second": round(one.busy_rate, 1),
        "refused": one.refused,
        "wrong": one.wrong,
    }
