from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.comparison.cells import Cell, Session, run_cell
from benchmarks.comparison.measure import Connections
from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.registry import SYSTEMS
from benchmarks.comparison.systems.system import Part, Scale, Workload, started
from tools.services import embedded_redis
from tools.services.processes import Reaper
from tools.state import State


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    """A Redis-protocol server; this process stands for the database server, which the floor does not use."""
    reaper = Reaper()
    with embedded_redis.running(State.open(tmp_path), {}) as url:
        yield Servers(tmp_path, reaper, "nobody@127.0.0.1:1/postgres", os.getpid(), url, os.getpid())
    reaper.close()


def test_the_floor_of_redis_is_measured_from_end_to_end(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.comparison.measure.connections", lambda *_servers: Connections(0, 2))
    floor = next(system for system in SYSTEMS if system.name == "redis-ping-pong")
    session, cell = Session(floor, ["token"], Scale(1, 1_000_000)), Cell(floor.name, Workload.ROUND_TRIP, 1)

    with started(floor, servers) as running:
        run_cell(servers, running, session, cell, seconds=0.1)

    assert cell.answered == session.next_reveal > 0
    assert (cell.wrong, cell.failed) == (0, {})
    assert 0 < cell.p50 <= cell.p99
    assert cell.cpu[Part.WORKER] > 0
    assert cell.memory[Part.WORKER] > 0
