"""One caller that measures round trips in its own process, with the protocol of the load generator."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

OK = "200"

RoundTrip = Callable[[int], bool]
"""Does a round trip with this number; returns whether the answer is right."""


def measure(prepare: Callable[[dict[str, Any]], RoundTrip]) -> None:
    """Read a plan, repeat the round trip for its time, and print the result."""
    plan = json.loads(sys.stdin.readline())
    round_trip = prepare(plan)
    _print("ready")
    sys.stdin.readline()
    latencies: list[float] = []
    answered_at: list[float] = []
    wrong, number, started, cpu = 0, plan["first"], time.perf_counter(), time.process_time()
    now = started
    while now < started + plan["seconds"]:
        wrong += not round_trip(number)
        number += 1
        after = time.perf_counter()
        latencies.append(after - now)
        answered_at.append(after - started)
        now = after
    result = {
        "latencies": latencies,
        "answered_at": answered_at,
        "statuses": {OK: len(latencies)},
        "wrong": wrong,
        "examples": [],
        "next": number,
        "cpu": time.process_time() - cpu,
    }
    _print(json.dumps(result))
    sys.stdin.read()


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
