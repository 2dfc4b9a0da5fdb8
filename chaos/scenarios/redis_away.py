"""R5: Redis is down, and then frozen, for a minute each; reveals are accepted all the same."""

from __future__ import annotations

import time
from collections.abc import Callable

from chaos.context import WORKSPACES, ScenarioContext
from chaos.report import milliseconds, percentile
from chaos.workload.generator import one_reveal_per_contact
from chaos.workload.history import ACCEPTED, OK
from chaos.workload.load import Load

PER_SECOND = 20
SECONDS = 60.0
SHORT_SECONDS = 10.0
MAX_P99, MAX_LATENCY = 0.5, 1.0  # seconds
CLIENTS = 40


def redis_away(context: ScenarioContext) -> None:
    """Measure both ways in which Redis can be unavailable."""
    redis = context.service.redis
    _measure(context, "down", redis.kill, redis.start)
    _measure(context, "frozen", redis.freeze, redis.resume)


def _measure(
    context: ScenarioContext, state: str, take_away: Callable[[], object], bring_back: Callable[[], object]
) -> None:
    seconds = SHORT_SECONDS if context.short else SECONDS
    count = int(PER_SECOND * seconds)
    data = context.start(contacts=count // WORKSPACES)
    operations = one_reveal_per_contact(data)
    load = Load(context.service.base_url, operations, pace=PER_SECOND, target=count, clients=CLIENTS)
    take_away()
    started = time.monotonic()
    try:
        load.start()
        context.wait_for(load, {}, f"Redis is {state}")
        time.sleep(max(0.0, seconds - (time.monotonic() - started)))
    finally:
        bring_back()
    history = load.history
    drained = context.drain(data, history)
    unexpected = history.statuses.keys() - {OK, ACCEPTED}
    observed = ", ".join(f"{n:,} x {status}" for status, n in sorted(history.statuses.items(), key=str))
    title = f"responses with Redis {state} for {seconds:.0f} s"
    context.expect(title, observed, "100 % 202 (or 200)", holds=not unexpected)
    p50, p99 = (percentile(history.latencies, share) for share in (0.5, 0.99))
    longest = max(history.latencies, default=0.0)
    measured = f"{milliseconds(p99)} (p50 {milliseconds(p50)})"
    context.expect("time until accepted: p99", measured, "500 ms", holds=p99 <= MAX_P99)
    measured = milliseconds(longest)
    context.expect("time until accepted: longest", measured, "1,000 ms", holds=longest <= MAX_LATENCY)
    context.check(data, history, drained)
