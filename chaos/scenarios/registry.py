"""All scenarios, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chaos.context import ScenarioContext
from chaos.scenarios import deploy, destroyed, expiry, kills, poison, provider_faults, redis_away, uploads


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario; `short` if it is part of the short run, `sqlite` if it also runs on SQLite."""

    id: str
    title: str
    run: Callable[[ScenarioContext], None]
    short: bool = False
    sqlite: bool = True


SCENARIOS = (
    Scenario("R1", "workers killed every 3 s, pool children every 1 s", kills.workers_killed),
    Scenario("R2", "Redis killed every 5 s, without persistence", kills.redis_killed),
    Scenario("R3", "PostgreSQL crashed every 8 s", kills.postgres_killed, sqlite=False),
    Scenario("R4", "all of these, the API killed, the network failing", kills.all_together, short=True),
    Scenario("R5", "Redis down, then frozen, 20 reveals a second", redis_away.redis_away),
    Scenario("R9", "a reveal that kills every worker that queries its provider", poison.poison),
    Scenario("R10", "a provider that fails, hangs, refuses, then is down", provider_faults.provider_faults),
    Scenario("R12", "deploy under load: SIGTERM to every process", deploy.deploy, short=True),
    Scenario("R13", "expiry: a deadline of 2 s, no worker", expiry.expiry, short=True),
    Scenario("R14", "a list of 10,000 rows, the API and its workers killed", uploads.uploads, short=True),
    Scenario("R15", "machine destroyed, WAL shipped", destroyed.asynchronous, short=True, sqlite=False),
    Scenario("R16", "machine destroyed, commits wait for the WAL", destroyed.synchronous, sqlite=False),
)
