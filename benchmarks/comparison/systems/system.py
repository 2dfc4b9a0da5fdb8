"""A system under test: how it is prepared, started, called and checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from benchmarks.comparison.servers import Servers
from tools.services.processes import ServiceError

READY_SECONDS = 90.0
LOAD = "benchmarks.comparison.load"


class Workload(StrEnum):
    """What a caller asks for."""

    REVEAL = "reveal"
    LOOKUP = "lookup"
    ROUND_TRIP = "round trip"


class Role(StrEnum):
    """Why a system is measured."""

    PRODUCT = "product"
    ALTERNATIVE = "alternative"
    FLOOR = "floor"


class Part(StrEnum):
    """Where processor time and memory are spent."""

    WEB = "web"
    WORKER = "worker"
    OTHER = "other"
    POSTGRES = "PostgreSQL"
    REDIS = "Redis"


@dataclass(frozen=True, slots=True)
class Scale:
    """How much data there is: each workspace reveals each person once at most."""

    workspaces: int
    people: int


@dataclass(frozen=True, slots=True)
class Running:
    """A running system: its port, the process ids of its parts, and the environment of its driver."""

    port: int
    pids: dict[Part, list[int]]
    env: dict[str, str]


class System(Protocol):
    """A system under test; `name` is also the name of its database.

    `workloads` are those it can do, and `max_callers` limits the callers at once. `driver` is the module that
    loads it; its protocol is that of `benchmarks.comparison.load`.
    """

    name: str
    title: str
    role: Role
    workloads: tuple[Workload, ...]
    max_callers: int
    driver: str

    def prepare(self, servers: Servers, scale: Scale) -> list[str]:
        """Create the database and its data; return the token of each workspace."""
        ...

    def start(self, servers: Servers) -> Iterator[Running]:
        """Start the processes; yield once they serve requests; stop them at the end."""
        ...


@contextmanager
def started(system: System, servers: Servers) -> Iterator[Running]:
    """Run a system as long as the block."""
    yield from system.start(servers)


def wait_until(ready: Callable[[], bool], what: str, advice: Callable[[], str]) -> None:
    """Return once `ready` returns True.

    Raises:
        ServiceError: it does not in time; the message ends with `advice`.

    """
    deadline = time.monotonic() + READY_SECONDS
    while not ready():
        if time.monotonic() > deadline:
            raise ServiceError(f"{what} is not ready after {READY_SECONDS:.0f} s.\n{advice()}")
        time.sleep(0.1)
