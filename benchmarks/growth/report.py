"""The report of a growth measurement, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Growth:
    """The medians of each operation in milliseconds, and the bytes per row, by number of contacts.

    `pages` are those that PostgreSQL read from the disk, on average.
    """

    contacts: list[int]
    milliseconds: dict[str, list[float]] = field(default_factory=dict)
    pages: dict[str, list[float]] = field(default_factory=dict)
    bytes_per_row: list[dict[str, tuple[float, float]]] = field(default_factory=list)

    def ratios(self) -> dict[str, float]:
        """Return the time on the largest database divided by that on the smallest, by operation."""
        return {name: medians[-1] / medians[0] for name, medians in self.milliseconds.items()}


def markdown(growth: Growth) -> str:
    """Return the tables."""
    return "\n".join([*_times(growth), "", *_sizes(growth), ""])


def _times(growth: Growth) -> Iterator[str]:
    yield _row("ms, by contacts", *(f"{contacts:,}" for contacts in growth.contacts), "ratio", "pages read")
    yield _row("---", *("--:" for _ in growth.contacts), "--:", "--:")
    for name, medians in growth.milliseconds.items():
        ratio, pages = growth.ratios()[name], growth.pages[name][-1]
        yield _row(name, *(f"{median:.1f}" for median in medians), f"{ratio:.2f}", f"{pages:.1f}")


def _sizes(growth: Growth) -> Iterator[str]:
    yield _row("bytes per row: table + indexes", *(f"{contacts:,}" for contacts in growth.contacts))
    yield _row("---", *("--:" for _ in growth.contacts))
    for table in growth.bytes_per_row[-1]:
        sizes = (by_table[table] for by_table in growth.bytes_per_row)
        yield _row(table, *(f"{heap:.0f} + {indexes:.0f}" for heap, indexes in sizes))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
