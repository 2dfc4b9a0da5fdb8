"""A cell of the comparison: one system under one workload from a number of callers, measured once."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.comparison import measure
from benchmarks.comparison.measure import Connections
from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.system import Part, Running, Scale, System, Workload
from chaos.report import percentile
from tools.services.processes import ServiceError
from tools.state import ROOT

OK = "200"
COUNTED = 0.95
"""The share of the answers whose rate counts: a single late answer does not hide the rate of the others."""


@dataclass(slots=True)
class Session:
    """A prepared system: its tokens, and how many requests it has had."""

    system: System
    tokens: list[str]
    scale: Scale
    next_reveal: int = 0
    answered_reveals: int = 0


@dataclass(slots=True)
class Cell:
    """What was measured. Times are in seconds, `cpu` is per answered request, memory in bytes.

    `failed` has the number of other answers by status, 0 for none. `elsewhere` is the share of the machine
    that other programs and the host have taken meanwhile.
    """

    system: str
    workload: Workload
    callers: int
    round: int = 0
    answered: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    wrong: int = 0
    examples: list[str] = field(default_factory=list)
    p50: float = 0.0
    p99: float = 0.0
    rate: float = 0.0
    cpu: dict[Part, float] = field(default_factory=dict)
    cpu_callers: float = 0.0
    elsewhere: float = 0.0
    memory: dict[Part, int] = field(default_factory=dict)
    connections: Connections = field(default_factory=lambda: Connections(0, 0))


def run_cell(servers: Servers, running: Running, session: Session, cell: Cell, seconds: float) -> None:
    """Send requests for this time, and fill the cell with what was measured."""
    with driver(session.system.driver, running.env, _plan(running, session, cell, seconds)) as process:
        before, busy, started = _usage(servers, running)
        result = json.loads(exchange(process, "go"))
        after, busy_after, ended = _usage(servers, running)
        cell.connections = measure.connections(servers, session.system.name)
        cell.memory = measure.memory_bytes(running)
    cell.answered = int(result["statuses"].pop(OK, 0))
    cell.failed, cell.wrong, cell.examples = result["statuses"], result["wrong"], result["examples"]
    cell.p50, cell.p99 = (percentile(result["latencies"], share) for share in (0.5, 0.99))
    cell.rate = rate(result["answered_at"])
    used = {part: after[part] - before[part] for part in after}
    cell.cpu = {part: seconds / max(cell.answered, 1) for part, seconds in used.items()}
    cell.cpu_callers = result["cpu"] / max(cell.answered, 1)
    others = busy_after - busy - sum(used.values()) - result["cpu"]
    cell.elsewhere = max(0.0, others / ((ended - started) * (os.cpu_count() or 1)))
    if cell.workload is not Workload.LOOKUP:
        session.next_reveal = result["next"]
        session.answered_reveals += cell.answered


def rate(answered_at: list[float]) -> float:
    """Return the answers per second until most had arrived; the times are seconds since the start."""
    if not answered_at:
        return 0.0
    counted = math.ceil(len(answered_at) * COUNTED)
    return counted / max(sorted(answered_at)[counted - 1], 1e-9)


def _plan(running: Running, session: Session, cell: Cell, seconds: float) -> dict[str, Any]:
    """Return the plan of the callers; a reveal is requested once for each workspace and person."""
    plan = {
        "port": running.port,
        "workload": cell.workload.value,
        "callers": cell.callers,
        "seconds": seconds,
        "tokens": session.tokens,
        "people": session.scale.people,
    }
    if cell.workload is Workload.LOOKUP:
        return plan
    return plan | {"first": session.next_reveal, "limit": session.scale.people * session.scale.workspaces}


def _usage(servers: Servers, running: Running) -> tuple[dict[Part, float], float, float]:
    """Return the processor time of each part, that of the whole machine, and the time."""
    return measure.cpu_seconds(servers, running), measure.machine_busy_seconds(), time.monotonic()


@contextmanager
def driver(module: str, env: dict[str, str], plan: dict[str, Any]) -> Iterator[subprocess.Popen[str]]:
    """Start the callers, and yield once they are connected; disconnect them at the end."""
    process = subprocess.Popen(  # noqa: S603 - a module of this package
        [sys.executable, "-m", module],
        cwd=ROOT,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        exchange(process, json.dumps(plan))
        yield process
        process.communicate()
    finally:
        process.kill()
        process.wait()


def exchange(process: subprocess.Popen[str], line: str) -> str:
    """Write a line to the process, and return the line that it answers.

    Raises:
        ServiceError: it has ended instead.

    """
    if process.stdin is None or process.stdout is None:
        raise ServiceError("The callers have no pipes.")
    process.stdin.write(line + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise ServiceError("The callers have ended early; their error is above.")
    return answer
