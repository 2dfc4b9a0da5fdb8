"""Find free loopback ports, and listen on one before its server starts, so that no other program takes it."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress

LOOPBACK = "127.0.0.1"
BACKLOG = 2048
ATTEMPTS = 100  # consecutive ports to try
PORTS_END = 65536
SERVER_PORTS = range(10_000, 32_768)


def is_free(port: int) -> bool:
    """Return whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def next_free(first: int) -> int:
    """Return the first free port at or above `first`, or any free port if the next hundred are taken."""
    candidates = range(first, min(first + ATTEMPTS, PORTS_END))
    return next((port for port in candidates if is_free(port)), 0) or any_free()


def listen(first: int, attempts: int = ATTEMPTS) -> socket.socket | None:
    """Return a socket that listens on the first free port at or above `first`, or None if all are taken.

    A server that inherits the socket also serves the connections that were made before it started.
    """
    for port in range(first, min(first + attempts, PORTS_END)):
        with suppress(OSError):
            return socket.create_server((LOOPBACK, port), backlog=BACKLOG)
    return None


def any_free() -> int:
    """Return a port on which nothing listens, below those that Linux gives to outgoing connections.

    A port of that range may be lost before its server starts, even to a program that polls for it: one in
    20,000 connections or so to a free port gets that port as its source, and connects to itself.
    """
    while not is_free(port := secrets.choice(SERVER_PORTS)):
        pass
    return port
