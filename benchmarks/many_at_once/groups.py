"""Groups of callers that send requests at the same time, each group from a process of its own."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from benchmarks.comparison import cells
from benchmarks.comparison.plan import NO_LIMIT, Plan
from benchmarks.comparison.systems.system import LOAD, Running, Workload
from chaos.report import percentile

OK = "200"
LEAD_SECONDS = 1.0
"""The time that a flood runs before and after what is measured beside it."""


@dataclass(slots=True)
class Group:
    """Callers that ask about `people`, each once for each workspace; `tokens` has one for each workspace."""

    tokens: list[str]
    people: int
    callers: int = 1
    pause: float = 0.0
    next_number: int = 0
    workload: Workload = Workload.REVEAL
    wait: int = 25


@dataclass(slots=True)
class Observed:
    """The answers to a group: latencies in seconds, other answers by status, and examples of wrong ones."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Observed) -> None:
        """Add the answers of another run of the same group."""
        self.latencies += other.latencies
        self.seconds += other.seconds
        self.refused += other.refused
        self.wrong += other.wrong

    @property
    def rate(self) -> float:
        """The answers per second."""
        return len(self.latencies) / self.seconds if self.seconds else 0.0

    def latency(self, share: float) -> float:
        """Return the time within which this share of the answers arrived, in seconds."""
        return percentile(self.latencies, share) if self.latencies else 0.0


def send(running: Running, group: Group, seconds: float) -> Observed:
    """Send a group's requests for this many seconds, and check every answer."""
    plan = Plan(
        running.port,
        group.workload.value,
        group.callers,
        seconds,
        group.tokens,
        group.people,
        first=group.next_number,
        limit=min(NO_LIMIT, group.people * len(group.tokens)),
        pause=group.pause,
        wait=group.wait,
    )
    with cells.driver(LOAD, running.env, asdict(plan)) as process:
        result = json.loads(cells.exchange(process, "go"))
    group.next_number = result["next"]
    refused = Counter({status: count for status, count in result["statuses"].items() if status != OK})
    return Observed(result["latencies"], seconds, refused, result["examples"])


@contextmanager
def flooding(running: Running, group: Group, seconds: float) -> Iterator[Observed]:
    """Send a group's requests beside the block, which takes `seconds`; the answers are known after it."""
    flood = Observed()
    with ThreadPoolExecutor(1) as pool:
        answers = pool.submit(send, running, group, seconds + 2 * LEAD_SECONDS)
        time.sleep(LEAD_SECONDS)
        yield flood
        flood.add(answers.result())
