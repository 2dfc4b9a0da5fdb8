"""The measurements: clicks beside an enrichment, and the clicks of many workspaces beside one that floods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from benchmarks.comparison.progress import Progress
from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.system import Running, Workload
from benchmarks.many_at_once import enrichment
from benchmarks.many_at_once.groups import Group, Observed, flooding, send

CLICKERS = (1, 4)
FLOODING_CALLERS = 100
FLOODS: dict[str, FloodOptions] = {
    "reveals": {},
    "reveals without waiting": {"wait": 0},
    "lookups": {"workload": Workload.LOOKUP},
}
WARM_UP_SECONDS = 1.0
CLICK_PAUSE = 2.0
"""Seconds between the clicks of a workspace beside the flood."""
DATABASE = "product"
MAX_EXAMPLES = 5


class FloodOptions(TypedDict, total=False):
    """How a flood differs from clicks."""

    workload: Workload
    wait: int


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: seconds and repetitions of each cell, and the items of the enrichment."""

    seconds: float
    rounds: int
    items: int
    workspaces: int
    people: int


@dataclass(slots=True)
class Comparison:
    """The same clicks while the product is quiet and while it is busy.

    `busy_rate` is the items or requests per second of those who keep it busy, `refused` their other answers.
    """

    title: str
    quiet: Observed = field(default_factory=Observed)
    busy: Observed = field(default_factory=Observed)
    busy_rate: float = 0.0
    refused: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def ratio(self, share: float) -> float:
        """Return the latency while busy, divided by that while quiet, for this share of the answers."""
        quiet = self.quiet.latency(share)
        return self.busy.latency(share) / quiet if quiet else 0.0

    def add(self, answers: Observed, *, quiet: bool) -> str:
        """Add the answers to clicks; return them as text."""
        (self.quiet if quiet else self.busy).add(answers)
        self.wrong += answers.wrong
        self.wrong += [f"{count} clicks were answered {status}" for status, count in answers.refused.items()]
        p50, p99 = (1000 * answers.latency(share) for share in (0.5, 0.99))
        return f"{'quiet' if quiet else 'busy'}: p50 {p50:.1f} ms, p99 {p99:.1f} ms"


def beside_enrichment(
    servers: Servers, running: Running, tokens: Sequence[str], size: Size, progress: Progress
) -> list[Comparison]:
    """Measure clicks of other workspaces, before and while an enrichment of the first runs."""
    groups = [
        Group([token], size.people, callers) for callers, token in zip(CLICKERS, tokens[1:], strict=True)
    ]
    found = [Comparison(f"beside an enrichment: clicks of {callers}") for callers in CLICKERS]
    for comparison, group in zip(found, groups, strict=True):
        progress.show(comparison.title)
        send(running, group, WARM_UP_SECONDS)
        servers.collect_statistics(DATABASE)
        answers = send(running, group, size.rounds * size.seconds)
        progress.advance(comparison.add(answers, quiet=True))
    progress.show(f"request the enrichment of {size.items:,} people")
    jobs = enrichment.request(running.port, tokens[0], size.items)
    for comparison, group in size.rounds * list(zip(found, groups, strict=True)):
        progress.show(comparison.title)
        progress.advance(comparison.add(send(running, group, size.seconds), quiet=False))
        if enrichment.count_done(servers, DATABASE) == size.items:
            comparison.wrong.append("the enrichment ended before the clicks: request more --items")
    progress.show("the rest of the enrichment")
    enrichment.wait(servers, DATABASE, size.items)
    for comparison in found:
        comparison.busy_rate = size.items / enrichment.seconds(servers, DATABASE)
    found[0].wrong += enrichment.wrong_items(running.port, tokens[0], jobs)[:MAX_EXAMPLES]
    return found


def beside_flood(
    servers: Servers, running: Running, tokens: Sequence[str], size: Size, *, kind: str, progress: Progress
) -> Comparison:
    """Measure the clicks of every workspace but the first, with and without a flood of the first."""
    others = Group(list(tokens[1:]), size.people, callers=len(tokens) - 1, pause=CLICK_PAUSE)
    flood, flooded = Group([tokens[0]], size.people, FLOODING_CALLERS, **FLOODS[kind]), Observed()
    comparison = Comparison(f"beside a flood of {kind}: clicks of {others.callers}")
    progress.show(comparison.title)
    send(running, others, 2 * CLICK_PAUSE)
    servers.collect_statistics(DATABASE)
    for _ in range(size.rounds):
        progress.advance(comparison.add(send(running, others, size.seconds), quiet=True))
        with flooding(running, flood, size.seconds) as answers:
            clicks = send(running, others, size.seconds)
        progress.advance(comparison.add(clicks, quiet=False))
        flooded.add(answers)
    comparison.busy_rate, comparison.refused = flooded.rate, dict(flooded.refused)
    comparison.wrong += flooded.wrong
    if flood.next_number == size.people and flood.workload is Workload.REVEAL:
        comparison.wrong.append("the flood revealed everybody before the end: create more --people")
    return comparison
