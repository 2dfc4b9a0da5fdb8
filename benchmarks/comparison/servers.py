"""The servers that all systems share: a throw-away PostgreSQL server and a Redis-protocol server."""

from __future__ import annotations

import socket
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql
from redis import Redis

from tools.services import embedded_redis, postgres
from tools.services.processes import Reaper, ServiceError
from tools.state import State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=500", "shared_buffers=256MB")
"""A commit waits for the write-ahead log, as in production, but not for the disk, which only adds noise."""


@dataclass(frozen=True, slots=True)
class Servers:
    """The running servers; `folder` holds the logs and data of the systems."""

    folder: Path
    reaper: Reaper
    postgres_address: str
    postgres_pid: int
    redis_url: str
    redis_pid: int

    def create_database(self, name: str) -> str:
        """Create an empty database; return its URL as libpq reads it."""
        with self.connect() as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.database_url(name)

    def database_url(self, name: str) -> str:
        """Return the URL of a database as libpq reads it."""
        return f"postgresql://{self.postgres_address.rpartition('/')[0]}/{name}"

    def connect(self, name: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        """Return a connection to a database, in autocommit mode."""
        return psycopg.connect(self.database_url(name), autocommit=True)

    def collect_statistics(self, name: str) -> None:
        """Run ANALYZE in a database, if it exists, as autovacuum does a minute after its first rows."""
        with self.connect() as connection:
            exists = connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount
        if exists:
            with self.connect(name) as connection:
                connection.execute("ANALYZE")

    def redis_database(self, number: int) -> str:
        """Return the URL of a numbered Redis database, so that no system sees the keys of another."""
        return f"{self.redis_url.rpartition('/')[0]}/{number}"


@contextmanager
def running(folder: Path) -> Iterator[Servers]:
    """Start both servers; stop them at the end of the block.

    Raises:
        ServiceError: one does not start.

    """
    with ExitStack() as stop:
        reaper = Reaper()
        stop.callback(reaper.close)
        database = stop.enter_context(postgres.server(SETTINGS))
        redis_url = stop.enter_context(embedded_redis.running(State.open(folder), {}))
        redis = Redis.from_url(redis_url)
        redis_pid = int(redis.info("server")["process_id"])
        redis.close()
        if database.process is None:
            raise ServiceError("PostgreSQL has stopped.")
        yield Servers(folder, reaper, database.address, database.process.pid, redis_url, redis_pid)


def is_listening(port: int) -> bool:
    """Return whether a server accepts connections on this loopback port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
