"""The nemeses: what is done to the running service, each at its own pace, until the load is through.

A process that is killed while it starts proves nothing, and if all are, nothing runs. So a process lives at
least as long as the start took, and on a slow or busy machine all strike less often.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from chaos.proxy import Mode
from chaos.service import INTERACTIVE, PREFORK_WORKER, WEB, ServiceUnderTest

Fault: TypeAlias = Callable[[], str | None]
"""Strikes once; says what was struck, None if there was nothing to strike just then."""


@dataclass(frozen=True, slots=True)
class Nemesis:
    """A blow and the seconds from one to the next."""

    fault: Fault
    interval: float


def workers(stack: ServiceUnderTest) -> list[Nemesis]:
    """Kill a whole worker every three seconds, in turn, and a child of the forking one every second."""
    turns = itertools.cycle(INTERACTIVE)

    def tree() -> str | None:
        return "worker" if stack.processes.kill(next(turns), older=stack.boot_seconds) else None

    def child() -> str | None:
        return "pool child" if stack.processes.kill_child(PREFORK_WORKER) else None

    return [Nemesis(tree, 3.0), Nemesis(child, 1.0)]


def redis(stack: ServiceUnderTest) -> list[Nemesis]:
    """Kill Redis every five seconds; it comes back empty."""

    def crash() -> str:
        stack.redis.kill()
        time.sleep(0.3)
        stack.redis.start()
        return "Redis"

    return [Nemesis(crash, 5.0)]


def postgres(stack: ServiceUnderTest) -> list[Nemesis]:
    """Crash PostgreSQL every eight seconds; it replays its log and goes on."""
    database = stack.database
    if database is None:
        return []

    def crash() -> str:
        database.crash()
        database.start()
        return "PostgreSQL"

    return [Nemesis(crash, 8.0)]


def web(stack: ServiceUnderTest) -> list[Nemesis]:
    """Kill a process of the API every eight seconds, and all of them, with their arbiter, every thirty."""
    turns = itertools.count()

    def child() -> str | None:
        return (
            "API process"
            if stack.processes.kill_child(WEB, which=next(turns), older=stack.boot_seconds)
            else None
        )

    def arbiter() -> str | None:
        return "API" if stack.processes.kill(WEB, older=stack.boot_seconds) else None

    return [Nemesis(child, 8.0), Nemesis(arbiter, 30.0)]


def network(stack: ServiceUnderTest, seed: int) -> list[Nemesis]:
    """Make the network to one of the servers slow, deaf or broken for up to four seconds."""
    dice = random.Random(seed)  # noqa: S311 - a run can be repeated

    def disturb() -> str:
        proxy = dice.choice(stack.proxies)
        mode = dice.choice((Mode.LATENCY, Mode.RESET, Mode.BLACKHOLE))
        proxy.set(mode, seconds=0.2)
        time.sleep(1.0 if mode is Mode.RESET else dice.uniform(2.0, 4.0))
        proxy.set(Mode.PASS)
        return f"network {mode.value}"

    return [Nemesis(disturb, 7.0)]


@contextmanager
def running(nemeses: Sequence[Nemesis], *, slowness: float) -> Iterator[Counter[str]]:
    """Let the nemeses strike while the block runs; the counter says what was struck, how often."""
    tally: Counter[str] = Counter()
    over = threading.Event()
    threads = [
        threading.Thread(target=_run, args=(one.fault, one.interval * slowness, over, tally), daemon=True)
        for one in nemeses
    ]
    for thread in threads:
        thread.start()
    try:
        yield tally
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _run(blow: Fault, every: float, over: threading.Event, tally: Counter[str]) -> None:
    started = time.monotonic()
    for turn in itertools.count(1):
        if over.wait(max(0.0, started + turn * every - time.monotonic())):
            return
        struck = blow()
        if struck is not None:
            tally[struck] += 1
