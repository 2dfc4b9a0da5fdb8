"""The results of a run: the median of each figure over the rounds, and the ratio to the product's."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.comparison.cells import Cell
from benchmarks.comparison.systems.system import Part, Workload

PRODUCT = "product"
Key = tuple[Workload, int]
"""A workload and a number of callers."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The medians of a system's cells with the same workload and number of callers.

    The ratios are the product's figure divided by this system's, in the same round; None without the product.
    """

    p50: float
    p99: float
    rate: float
    cpu: dict[Part, float]
    cpu_callers: float
    answered: int
    failed: dict[str, int]
    p50_ratio: float | None
    rate_ratio: float | None

    @property
    def cpu_sum(self) -> float:
        """The processor time of a request in all parts, without the callers."""
        return sum(self.cpu.values())


def summarize(cells: Sequence[Cell]) -> dict[Key, dict[str, Summary]]:
    """Return the summary of each system by workload and callers."""
    groups: defaultdict[Key, defaultdict[str, list[Cell]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells:
        groups[cell.workload, cell.callers][cell.system].append(cell)
    return {
        key: {name: _summary(group, systems.get(PRODUCT, [])) for name, group in systems.items()}
        for key, systems in groups.items()
    }


def _summary(cells: Sequence[Cell], product: Sequence[Cell]) -> Summary:
    failed: Counter[str] = Counter()
    for cell in cells:
        failed.update(cell.failed)
    by_round = {cell.round: cell for cell in product}
    pairs = [(by_round[cell.round], cell) for cell in cells if cell.round in by_round and cell.answered]
    pairs = [(ours, theirs) for ours, theirs in pairs if ours.answered]
    parts = {part for cell in cells for part in cell.cpu}
    return Summary(
        p50=statistics.median(cell.p50 for cell in cells),
        p99=statistics.median(cell.p99 for cell in cells),
        rate=statistics.median(cell.rate for cell in cells),
        cpu={part: statistics.median(cell.cpu.get(part, 0.0) for cell in cells) for part in parts},
        cpu_callers=statistics.median(cell.cpu_callers for cell in cells),
        answered=sum(cell.answered for cell in cells),
        failed=dict(failed),
        p50_ratio=_median(ours.p50 / theirs.p50 for ours, theirs in pairs),
        rate_ratio=_median(ours.rate / theirs.rate for ours, theirs in pairs),
    )


def _median(values: Iterable[float]) -> float | None:
    collected = list(values)
    return statistics.median(collected) if collected else None
