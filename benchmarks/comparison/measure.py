"""What a system uses: processor time, memory and connections of its parts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import psutil
from redis import Redis

from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.system import Part, Running

CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"


@dataclass(frozen=True, slots=True)
class Connections:
    """Open connections to the servers."""

    postgres: int
    redis: int


def cpu_seconds(servers: Servers, running: Running) -> dict[Part, float]:
    """Return the processor time that each part has used so far, children included."""
    roots = running.pids | {Part.POSTGRES: [servers.postgres_pid], Part.REDIS: [servers.redis_pid]}
    return {part: sum(map(_cpu_of, found)) for part, found in _by_part(roots).items()}


def memory_bytes(running: Running) -> dict[Part, int]:
    """Return the memory of each part, in which shared pages are divided among those that share them."""
    return {part: sum(map(_memory_of, found)) for part, found in _by_part(running.pids).items()}


def connections(servers: Servers, database: str) -> Connections:
    """Return the connections of a system; those of this process do not count."""
    with servers.connect() as connection:
        row = connection.execute(CONNECTIONS, [database]).fetchone()
    with Redis.from_url(servers.redis_url) as redis:
        clients = int(redis.info("clients")["connected_clients"]) - 1
    return Connections(int(str(row[0])) if row else 0, clients)


def machine_busy_seconds() -> float:
    """Return the processor time that all programs of the machine have used, and that the host has taken."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


def _by_part(roots: Mapping[Part, Iterable[int]]) -> dict[Part, list[psutil.Process]]:
    """Return the processes of each part, descendants included; the first part that has one counts it."""
    found: dict[Part, list[psutil.Process]] = {}
    seen: set[int] = set()
    for part, pids in roots.items():
        found[part] = [process for pid in pids for process in _tree(pid) if process.pid not in seen]
        seen |= {process.pid for process in found[part]}
    return found


def _tree(pid: int) -> list[psutil.Process]:
    """Return a process and its descendants; none if it has ended."""
    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    return []


def _cpu_of(process: psutil.Process) -> float:
    """Return the processor time of a process and of its children that have ended, in seconds."""
    with suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        ended = float(times.children_user + times.children_system)
        # The clock of a process (see clock_getcpuclockid) counts nanoseconds; /proc counts hundredths.
        with suppress(OSError):
            return time.clock_gettime((~process.pid << 3) | 2) + ended
        return float(times.user + times.system) + ended
    return 0.0


def _memory_of(process: psutil.Process) -> int:
    with suppress(psutil.NoSuchProcess):
        memory = process.memory_full_info()
        return int(getattr(memory, "pss", memory.uss))
    return 0
