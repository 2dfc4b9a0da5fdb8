"""Waits for the servers that the environment names, with a message and for a bounded time."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tools.console import echo
from tools.services.processes import ServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PORTS = {
    "redis": 6379,
    "rediss": 6379,
    "postgresql": 5432,
    "postgres": 5432,
    "amqp": 5672,
    "amqps": 5671,
}
SETTINGS = ("REDIS_URL", "DATABASE_URL", "BROKER_URL")
WAIT_SECONDS = 15.0
CONNECT_SECONDS = 2.0
POLL_SECONDS = 0.5


def wait_for_servers(env: Mapping[str, str], seconds: float = WAIT_SECONDS) -> None:
    """Wait until each server of SETTINGS accepts a connection.

    Raises:
        ServiceError: one of them did not in time.

    """
    for name in SETTINGS:
        address = _address(env.get(name, ""))
        if address and not _accepts(address):
            host, port = address
            echo(f"Waiting for {name}: {host}:{port} does not accept connections.")
            deadline = time.monotonic() + seconds
            while not _accepts(address):
                if time.monotonic() > deadline:
                    raise ServiceError(
                        f"{host}:{port} did not accept a connection within {seconds:.0f} s."
                        f" Start the server, or correct {name}, or leave it out."
                    )
                time.sleep(POLL_SECONDS)


def _address(url: str) -> tuple[str, int] | None:
    """Return host and port; None for a file, a unix socket, or a URL of several hosts."""
    try:
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS.get(parts.scheme.partition("+")[0])
    except ValueError:
        return None
    is_single = parts.hostname and "," not in parts.netloc
    return (str(parts.hostname), port) if is_single and port else None


def _accepts(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, CONNECT_SECONDS).close()
    except OSError:
        return False
    return True
