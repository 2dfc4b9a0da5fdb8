"""Charts of the results, as SVG: throughput, latency, and processor time by part."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from benchmarks.comparison.rounds import Comparison
from benchmarks.comparison.summary import Summary, summarize
from benchmarks.comparison.systems.system import Part, Workload

WIDTH, LEFT, RIGHT = 940, 260, 150
ROW, BAR = 22, 14
PRODUCT_COLOUR, OTHER_COLOUR = "#1a6fdb", "#9aa5b1"
PART_COLOURS = {
    Part.WEB: "#1a6fdb",
    Part.WORKER: "#59a14f",
    Part.OTHER: "#b07aa1",
    Part.POSTGRES: "#f28e2b",
    Part.REDIS: "#e15759",
}
STYLE = "font-family:system-ui,sans-serif;font-size:12px;fill:#1f2933"


@dataclass(frozen=True, slots=True)
class Mark:
    """A piece of a row: a bar from `start` to `end`, both from 0 to 1."""

    start: float
    end: float
    colour: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a chart: a heading if it has no marks."""

    label: str
    marks: tuple[Mark, ...] = ()
    value: str = ""


def draw(comparison: Comparison) -> dict[str, str]:
    """Return each chart by the name of its file, without the ending."""
    summaries = summarize(comparison.cells)
    titles = {system.name: system.title for system in comparison.systems}
    drawings = {}
    for workload in (Workload.REVEAL, Workload.LOOKUP):
        groups = {
            callers: group for (measured, callers), group in sorted(summaries.items()) if measured is workload
        }
        if groups:
            drawings[f"{workload}-rate"] = svg(
                f"{workload.capitalize()}s: answers per second", list(_rates(titles, groups))
            )
            title = f"{workload.capitalize()}s: milliseconds from p50 to p99, logarithmic"
            drawings[f"{workload}-latency"] = svg(title, list(_latencies(titles, groups)))
            title = f"{workload.capitalize()}s: milliseconds of processor time per request"
            drawings[f"{workload}-cpu"] = svg(title, list(_cpu(titles, groups)), legend=PART_COLOURS)
    return drawings


def svg(title: str, rows: Sequence[Row], legend: dict[Part, str] | None = None) -> str:
    """Return a chart with these rows."""
    top = 60 if legend else 40
    height = top + ROW * len(rows) + 10
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" style="{STYLE}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="24" font-size="16" font-weight="600">{escape(title)}</text>',
        *_legend(legend or {}),
    ]
    for index, row in enumerate(rows):
        lines += _row(row, top + ROW * index)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _legend(colours: dict[Part, str]) -> Iterator[str]:
    for index, (part, colour) in enumerate(colours.items()):
        x = 10 + index * 110
        yield f'<rect x="{x}" y="36" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 17}" y="46">{escape(part)}</text>'


def _row(row: Row, y: int) -> Iterator[str]:
    scale = WIDTH - LEFT - RIGHT
    weight = "400" if row.marks else "600"
    yield f'<text x="10" y="{y + BAR}" font-weight="{weight}">{escape(row.label)}</text>'
    for mark in row.marks:
        x, width = LEFT + mark.start * scale, max((mark.end - mark.start) * scale, 1.0)
        yield f'<rect x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="{BAR}" fill="{mark.colour}"/>'
    if row.marks:
        end = LEFT + max(mark.end for mark in row.marks) * scale
        yield f'<text x="{end + 6:.1f}" y="{y + BAR}">{escape(row.value)}</text>'


def _rates(titles: dict[str, str], groups: dict[int, dict[str, Summary]]) -> Iterator[Row]:
    most = max(summary.rate for group in groups.values() for summary in group.values()) or 1.0
    for label, name, summary in _rows(titles, groups):
        if summary is None:
            yield Row(label)
        else:
            yield Row(label, (Mark(0.0, summary.rate / most, _colour(name)),), f"{summary.rate:,.0f}")


def _latencies(titles: dict[str, str], groups: dict[int, dict[str, Summary]]) -> Iterator[Row]:
    answered = [summary for group in groups.values() for summary in group.values() if summary.p50]
    low = math.log10(min((summary.p50 for summary in answered), default=1.0)) - 0.1
    span = math.log10(max((summary.p99 for summary in answered), default=1.0)) - low or 1.0
    for label, name, summary in _rows(titles, groups):
        if summary is None or not summary.p50:
            yield Row(label)
            continue
        start, end = ((math.log10(value) - low) / span for value in (summary.p50, summary.p99))
        value = f"{summary.p50 * 1000:,.1f} to {summary.p99 * 1000:,.1f}"
        yield Row(label, (Mark(start, end, _colour(name)),), value)


def _cpu(titles: dict[str, str], groups: dict[int, dict[str, Summary]]) -> Iterator[Row]:
    most = max(summary.cpu_sum for group in groups.values() for summary in group.values()) or 1.0
    for label, _name, summary in _rows(titles, groups):
        if summary is None:
            yield Row(label)
            continue
        marks, start = [], 0.0
        for part, colour in PART_COLOURS.items():
            end = start + summary.cpu.get(part, 0.0) / most
            marks.append(Mark(start, end, colour))
            start = end
        yield Row(label, tuple(marks), f"{summary.cpu_sum * 1000:.1f}")


def _rows(
    titles: dict[str, str], groups: dict[int, dict[str, Summary]]
) -> Iterator[tuple[str, str, Summary | None]]:
    """Yield the label, the system and its summary of each row; a heading has no summary."""
    for callers, group in groups.items():
        yield f"{callers:,} {'caller' if callers == 1 else 'callers'}", "", None
        for name, title in titles.items():
            if name in group:
                yield title, name, group[name]


def _colour(name: str) -> str:
    return PRODUCT_COLOUR if name == "product" else OTHER_COLOUR
