"""R5: Redis is down, and then frozen, for a minute; reveals are taken in all the same."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from tools.chaos.deck import stored
from tools.chaos.load import ACCEPTED, OK, Load
from tools.chaos.report import milliseconds, percentile
from tools.chaos.stage import WORKSPACES, Stage

PER_SECOND = 20
SECONDS = 60.0
SECONDS_SHORT = 10.0
P99, LONGEST = 0.5, 1.0
CLIENTS = 40


def redis_away(stage: Stage) -> None:
    """Measure both ways in which Redis can be away."""
    redis = stage.stack.redis
    _measure(stage, "down", redis.kill, redis.start)
    _measure(stage, "frozen", redis.freeze, redis.thaw)


def _measure(stage: Stage, way: str, leave: Callable[[], object], come_back: Callable[[], object]) -> None:
    seconds = SECONDS_SHORT if stage.short else SECONDS
    count = int(PER_SECOND * seconds)
    cast = stage.begin(contacts=count // WORKSPACES)
    load = Load(stage.stack.base_url, stored(cast), pace=PER_SECOND, target=count, clients=CLIENTS)
    leave()
    started = time.monotonic()
    try:
        load.start()
        stage.watch(load, Counter(), f"Redis is {way}")
        time.sleep(max(0.0, seconds - (time.monotonic() - started)))
    finally:
        come_back()
    book = load.book
    drained = stage.drain(cast, book)
    strange = {status: n for status, n in book.statuses.items() if status not in {OK, ACCEPTED}}
    seen = ", ".join(f"{n:,} x {status}" for status, n in sorted(book.statuses.items(), key=str))
    stage.promise(f"Redis {way} for {seconds:.0f} s: answers", seen, "100 % 202 (or 200)", holds=not strange)
    p99, longest = percentile(book.seconds, 0.99), max(book.seconds, default=0.0)
    p50 = milliseconds(percentile(book.seconds, 0.5))
    stage.promise("time to be taken in: p99", f"{milliseconds(p99)} (p50 {p50})", "500 ms", holds=p99 <= P99)
    stage.promise("time to be taken in: longest", milliseconds(longest), "1,000 ms", holds=longest <= LONGEST)
    stage.judge(cast, book, drained)
