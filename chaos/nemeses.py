"""The nemeses: faults that are injected into the running service at intervals, until the load has finished.

Killing a process that is still starting shows nothing, and killing all of them at once leaves nothing to
test. So a process is killed only once it has run as long as the service took to start, and on a slow or busy
machine all intervals are longer.
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

from chaos.system.proxy import Mode
from chaos.system.service import INTERACTIVE, PREFORK_WORKER, WEB, ServiceUnderTest

Fault: TypeAlias = Callable[[], str | None]
"""Injects a fault; returns its name, or None if there was nothing to break at the time."""


@dataclass(frozen=True, slots=True)
class Nemesis:
    """A fault, and the seconds between two injections."""

    fault: Fault
    interval: float


def workers(service: ServiceUnderTest) -> list[Nemesis]:
    """Kill a whole worker every three seconds, in turn, and a child of the prefork worker every second."""
    names = itertools.cycle(INTERACTIVE)

    def worker() -> str | None:
        killed = service.processes.kill(next(names), min_age=service.boot_seconds)
        return "worker" if killed else None

    def child() -> str | None:
        return "pool child" if service.processes.kill_child(PREFORK_WORKER) else None

    return [Nemesis(worker, 3.0), Nemesis(child, 1.0)]


def redis(service: ServiceUnderTest) -> list[Nemesis]:
    """Kill Redis every five seconds; it restarts empty."""

    def crash() -> str:
        service.redis.kill()
        time.sleep(0.3)
        service.redis.start()
        return "Redis"

    return [Nemesis(crash, 5.0)]


def postgres(service: ServiceUnderTest) -> list[Nemesis]:
    """Crash PostgreSQL every eight seconds; it replays its write-ahead log."""
    database = service.database
    if database is None:
        return []

    def crash() -> str:
        database.crash()
        database.start()
        return "PostgreSQL"

    return [Nemesis(crash, 8.0)]


def web(service: ServiceUnderTest) -> list[Nemesis]:
    """Kill an API process every eight seconds, and all of them with their arbiter every thirty."""
    indexes = itertools.count()

    def child() -> str | None:
        killed = service.processes.kill_child(WEB, index=next(indexes), min_age=service.boot_seconds)
        return "API process" if killed else None

    def arbiter() -> str | None:
        return "API" if service.processes.kill(WEB, min_age=service.boot_seconds) else None

    return [Nemesis(child, 8.0), Nemesis(arbiter, 30.0)]


def network(service: ServiceUnderTest, seed: int) -> list[Nemesis]:
    """Delay, reset or block connections to a server for up to four seconds, every seven seconds."""
    rng = random.Random(seed)  # noqa: S311 - so that a run can be repeated

    def disturb() -> str:
        proxy = rng.choice(service.proxies)
        mode = rng.choice((Mode.LATENCY, Mode.RESET, Mode.BLACKHOLE))
        proxy.set(mode, latency=0.2)
        time.sleep(1.0 if mode is Mode.RESET else rng.uniform(2.0, 4.0))
        proxy.set(Mode.PASS)
        return f"network {mode.value}"

    return [Nemesis(disturb, 7.0)]


@contextmanager
def running(nemeses: Sequence[Nemesis], *, slowness: float) -> Iterator[Counter[str]]:
    """Inject the faults while the block runs; yield a counter of the faults injected so far, by name."""
    injected: Counter[str] = Counter()
    stopped = threading.Event()
    threads = [
        threading.Thread(
            target=_run, args=(nemesis.fault, nemesis.interval * slowness, stopped, injected), daemon=True
        )
        for nemesis in nemeses
    ]
    for thread in threads:
        thread.start()
    try:
        yield injected
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def _run(fault: Fault, interval: float, stopped: threading.Event, injected: Counter[str]) -> None:
    started = time.monotonic()
    for number in itertools.count(1):
        if stopped.wait(max(0.0, started + number * interval - time.monotonic())):
            return
        name = fault()
        if name is not None:
            injected[name] += 1
