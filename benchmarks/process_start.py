"""Measure the processor time and memory of starting each kind of process.

    python benchmarks/process_start.py [repetitions]

A process imports its entry point and exits. The floor of a kind imports only the frameworks that it uses. The
time is the shortest of the repetitions, user and system; the memory is the peak of resident memory.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
REPETITIONS = 7
ORM = "sqlalchemy.orm, sqlalchemy.dialects.postgresql"
COMMON = "redis, limits, structlog, environs, prometheus_client"
KINDS = {
    "API": ("app.factory", f"apiflask, gevent, {ORM}, {COMMON}"),
    "worker": ("workers.main", f"celery.bin.worker, httpx2, {ORM}, {COMMON}"),
    "beat": ("workers.application", f"celery.bin.beat, {COMMON}"),
    "Flower": ("workers.flower", f"celery.bin.worker, flower.app, {COMMON}"),
    "command": ("cli.application", f"apiflask, gevent, {ORM}, {COMMON}"),
}
"""The entry point of each kind of process, and the frameworks of its floor."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The seconds of processor time and the megabytes of memory of a process."""

    seconds: float
    megabytes: float


def main() -> None:
    """Print a table."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    table = Table()
    for column in ("process", "entry point", "CPU", "floor", "memory", "floor"):
        table.add_column(column, justify="left" if column in {"process", "entry point"} else "right")
    for name, (entry_point, frameworks) in KINDS.items():
        own, floor = cost(entry_point, repetitions), cost(frameworks, repetitions)
        seconds = (f"{own.seconds:.2f} s", f"{floor.seconds:.2f} s")
        table.add_row(name, entry_point, *seconds, f"{own.megabytes:.0f} MB", f"{floor.megabytes:.0f} MB")
    Console().print(table)


def cost(modules: str, repetitions: int) -> Cost:
    """Import the modules in new processes, and return the lowest cost."""
    costs = [_cost(modules) for _ in range(repetitions)]
    return Cost(min(cost.seconds for cost in costs), min(cost.megabytes for cost in costs))


def _cost(modules: str) -> Cost:
    settings = {
        "DATABASE_URL": "sqlite:///unused.sqlite3",
        "REDIS_URL": "redis://127.0.0.1:6379/0",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "SUPPRESSION_KEY": secrets.token_urlsafe(48),
    }
    process = subprocess.Popen(  # noqa: S603 -- our own modules
        [sys.executable, "-c", f"import {modules}"], cwd=ROOT, env=os.environ | settings
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{modules} cannot be imported.")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
