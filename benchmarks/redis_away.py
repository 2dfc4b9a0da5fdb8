"""A reveal sent while Redis is stopped or frozen: how soon it is taken in, and how soon done afterwards.

    python3 dev.py run python benchmarks/redis_away.py

It starts a service of its own. The first request meets the failure cold, the next ones a blown fuse.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support"), str(ROOT / "tests" / "e2e")]
os.environ.setdefault("SECRET_KEY", "benchmark-key-of-more-than-32-characters")
os.environ.setdefault("SUPPRESSION_KEY", "benchmark-suppression-key-of-more-than-32-characters")

import signal  # noqa: E402 -- the paths come first
import statistics  # noqa: E402

from e2e_stack import Stack, running, until  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

REVEALS = 20
OVER = 200


def main() -> None:
    """Measure both ways that Redis can be away."""
    table = Table(
        "Redis", "reveals", "first, ms", "median, ms", "longest, ms", "all done after its return, s"
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), f"sqlite:///{folder}/b.sqlite3") as stack,
    ):
        for way, (leave, come_back) in _ways(stack).items():
            took, seconds = _measure(stack, leave, come_back)
            milliseconds = (took[0], statistics.median(took), max(took))
            table.add_row(way, str(REVEALS), *(f"{figure:.0f}" for figure in milliseconds), f"{seconds:.1f}")
    Console().print(table)


def _measure(
    stack: Stack, leave: Callable[[], object], come_back: Callable[[], object]
) -> tuple[list[float], float]:
    """Give the milliseconds of each reveal, and the seconds from the return until all were done."""
    _workspace, token = stack.workspace()
    people = stack.contacts(REVEALS)
    leave()
    took, places = [], []
    for person in people:
        body = {"subject": {"contact_id": person}}
        started = time.perf_counter()
        answer = stack.call(
            "POST", "/api/ext/reveal/email", body, Authorization=token, Prefer="respond-async"
        )
        took.append((time.perf_counter() - started) * 1000)
        places.append(answer.headers["Location"])
    come_back()
    started = time.perf_counter()
    until(lambda: all(stack.call("GET", place, Authorization=token).status == OVER for place in places), 60)
    return took, time.perf_counter() - started


def _ways(stack: Stack) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    return {
        "stopped": (stack.stop_redis, stack.start_redis),
        "frozen": (
            lambda: stack.redis.send_signal(signal.SIGSTOP),
            lambda: stack.redis.send_signal(signal.SIGCONT),
        ),
    }


if __name__ == "__main__":
    main()
