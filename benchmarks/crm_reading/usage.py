"""The processor time of the parts of the product, and of the CRMs that are played on the same machine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from benchmarks.comparison import measure, report
from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.system import Running
from benchmarks.crm_reading.crms import FakeCrm


class Usage:
    """The processors that each part uses on average, by what happens meanwhile."""

    def __init__(self, servers: Servers, running: Running, crms: Sequence[FakeCrm]) -> None:
        self._servers = servers
        self._running = running
        self._crms = crms
        self._rows: list[list[str]] = []

    @contextmanager
    def measured(self, title: str) -> Iterator[None]:
        """Measure what the block uses, as a row of the table."""
        before, began = self._seconds(), time.monotonic()
        yield
        seconds = time.monotonic() - began
        self._rows.append(
            [title, *(f"{(used - before[part]) / seconds:.3f}" for part, used in self._seconds().items())]
        )

    def table(self) -> str:
        """Return the rows as a table."""
        return report.table(["processors used", *self._seconds()], self._rows)

    def _seconds(self) -> dict[str, float]:
        """Return the processor time that each part has used so far."""
        used = measure.cpu_seconds(self._servers, self._running)
        played = sum(crm.cpu_seconds for crm in self._crms)
        return {part.value: seconds for part, seconds in used.items()} | {"the played CRMs": played}
