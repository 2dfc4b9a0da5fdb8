"""An alternative: what a team would build instead of the product, with another queue and minimal features."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psycopg

from benchmarks.comparison.people import PER_COMPANY, person
from benchmarks.comparison.servers import Servers, is_listening
from benchmarks.comparison.systems import sql
from benchmarks.comparison.systems.system import LOAD, Part, Role, Running, Scale, Workload, wait_until
from tools.services import ports, processes
from tools.services.processes import ServiceError
from tools.state import ROOT

UNLIMITED_CALLERS = 1_000_000
NO_REDIS = 15  # a Redis database that no system uses
KEY = secrets.token_hex(32)  # of encrypted values, for as long as the throw-away servers


Rows = dict[str, Iterator[tuple[object, ...]]]
"""The rows of each table, by the table and its columns as COPY reads them."""


def fill(connection: psycopg.Connection[tuple[object, ...]], scale: Scale, tokens: list[str]) -> None:
    """Create the tables of `sql` and their data."""
    create(connection, sql.TABLES, rows(scale, tokens))


def rows(scale: Scale, tokens: list[str]) -> Rows:
    """Return the rows of the tables of `sql`."""
    workspaces = range(scale.workspaces)
    return {
        "workspaces (id, available)": ((number, sql.CREDITS) for number in workspaces),
        "tokens (digest, workspace_id)": (
            (hashlib.sha256(tokens[number].encode()).digest(), number) for number in workspaces
        ),
        "companies": (
            (number // PER_COMPANY, person(number).company, person(number).domain)
            for number in range(0, scale.people, PER_COMPANY)
        ),
        "contacts": (
            (one.number, one.profile, one.name, one.title, one.number // PER_COMPANY)
            for one in map(person, range(scale.people))
        ),
        "emails": ((one.number, one.address, "valid") for one in map(person, range(scale.people))),
        "ledger (workspace_id, kind, available, held, spent)": (
            (number, "grant", sql.CREDITS, 0, 0) for number in workspaces
        ),
    }


def create(connection: psycopg.Connection[tuple[object, ...]], tables: str, stored: Rows) -> None:
    """Create tables with their rows."""
    connection.execute(tables)
    with connection.cursor() as cursor:
        for table, values in stored.items():
            with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                for row in values:
                    copy.write_row(row)
    connection.execute("ANALYZE")


@dataclass(slots=True)
class Alternative:
    """A system whose processes are these commands, after `python -m`; `{port}` is the port of its API.

    `fill` creates the tables and their data, and `setup` the tables of the queue. A floor without `web` has a
    driver that needs no API.
    """

    name: str
    title: str
    web: str = ""
    workers: tuple[str, ...] = ()
    fill: Callable[[psycopg.Connection[tuple[object, ...]], Scale, list[str]], None] = fill
    setup: str = ""
    role: Role = Role.ALTERNATIVE
    workloads: tuple[Workload, ...] = (Workload.REVEAL, Workload.LOOKUP)
    max_callers: int = UNLIMITED_CALLERS
    driver: str = LOAD
    redis_database: int = NO_REDIS

    def prepare(self, servers: Servers, scale: Scale) -> list[str]:
        """Create the tables, the people, and a token for each workspace."""
        tokens = [secrets.token_urlsafe(24) for _ in range(scale.workspaces)]
        servers.create_database(self.name)
        with servers.connect(self.name) as connection:
            self.fill(connection, scale, tokens)
        if self.setup:
            self._set_up(servers)
        return tokens

    def start(self, servers: Servers) -> Iterator[Running]:
        """Start the web server and the workers, and yield once the port answers."""
        port = ports.any_free()
        log = servers.folder / f"{self.name}.log"
        env = system_env(servers, self.name, self.redis_database)
        web = [servers.reaper.spawn(_command(self.web, port), log, env)] if self.web else []
        workers = [servers.reaper.spawn(_command(worker, port), log, env) for worker in self.workers]
        try:
            if web:
                wait_until(lambda: is_listening(port), self.title, lambda: processes.tail(log))
            pids = {
                Part.WEB: [process.pid for process in web],
                Part.WORKER: [process.pid for process in workers],
            }
            yield Running(port, pids, env)
            if any(process.poll() is not None for process in (*web, *workers)):
                raise ServiceError(f"A process of {self.title} has exited:\n{processes.tail(log)}")
        finally:
            servers.reaper.stop([*web, *workers], grace=5.0)

    def _set_up(self, servers: Servers) -> None:
        log = servers.folder / f"{self.name}.log"
        process = processes.spawn(
            _command(self.setup, 0), log, system_env(servers, self.name, self.redis_database)
        )
        if process.wait():
            raise ServiceError(f"{self.setup} failed:\n{processes.tail(log)}")


def system_env(servers: Servers, database: str, redis_database: int) -> dict[str, str]:
    """Return the environment of an alternative's processes, and of the floors'."""
    return {
        **{name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ},
        "PYTHONPATH": str(ROOT),
        "SYSTEM_DATABASE": servers.database_url(database),
        "PGDSN": servers.database_url(database),  # as PgQueuer reads it
        "SYSTEM_KEY": KEY,
        "SYSTEM_REDIS": servers.redis_database(redis_database),
    }


def _command(template: str, port: int) -> list[str]:
    return [sys.executable, "-m", *template.format(port=port).split()]
