"""R5: Redis is down, and then frozen, for a minute; reveals are taken in all the same."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from chaos.context import WORKSPACES, ScenarioContext
from chaos.generator import one_reveal_per_contact
from chaos.load import ACCEPTED, OK, Load
from chaos.report import milliseconds, percentile

PER_SECOND = 20
SECONDS = 60.0
SECONDS_SHORT = 10.0
P99, LONGEST = 0.5, 1.0
CLIENTS = 40


def redis_away(stage: ScenarioContext) -> None:
    """Measure both ways in which Redis can be away."""
    redis = stage.service.redis
    _measure(stage, "down", redis.kill, redis.start)
    _measure(stage, "frozen", redis.freeze, redis.resume)


def _measure(
    stage: ScenarioContext, way: str, leave: Callable[[], object], come_back: Callable[[], object]
) -> None:
    seconds = SECONDS_SHORT if stage.short else SECONDS
    count = int(PER_SECOND * seconds)
    cast = stage.start(contacts=count // WORKSPACES)
    load = Load(
        stage.service.base_url, one_reveal_per_contact(cast), pace=PER_SECOND, target=count, clients=CLIENTS
    )
    leave()
    started = time.monotonic()
    try:
        load.start()
        stage.run_load(load, Counter(), f"Redis is {way}")
        time.sleep(max(0.0, seconds - (time.monotonic() - started)))
    finally:
        come_back()
    book = load.book
    drained = stage.drain(cast, book)
    strange = {status: n for status, n in book.statuses.items() if status not in {OK, ACCEPTED}}
    seen = ", ".join(f"{n:,} x {status}" for status, n in sorted(book.statuses.items(), key=str))
    stage.expect(f"Redis {way} for {seconds:.0f} s: answers", seen, "100 % 202 (or 200)", holds=not strange)
    p99, longest = percentile(book.latencies, 0.99), max(book.latencies, default=0.0)
    p50 = milliseconds(percentile(book.latencies, 0.5))
    stage.expect("time to be taken in: p99", f"{milliseconds(p99)} (p50 {p50})", "500 ms", holds=p99 <= P99)
    stage.expect("time to be taken in: longest", milliseconds(longest), "1,000 ms", holds=longest <= LONGEST)
    stage.check(cast, book, drained)
