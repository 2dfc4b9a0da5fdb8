"""Find loopback ports that are free, and hold one, so that nobody takes it before its server starts."""

from __future__ import annotations

import socket
from contextlib import suppress

LOOPBACK = "127.0.0.1"
BACKLOG = 2048


def is_free(port: int) -> bool:
    """Tell whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def next_free(first: int, attempts: int = 100) -> int:
    """Return the first free port from `first` on."""
    for port in range(first, min(first + attempts, 65536)):
        if is_free(port):
            return port
    return any_free()


def listen(first: int, attempts: int = 100) -> socket.socket | None:
    """Listen on the first port from `first` on that nobody has; None if all are taken.

    From then on the port is ours: a server that is given the socket takes over what has connected meanwhile.
    """
    for port in range(first, min(first + attempts, 65536)):
        with suppress(OSError):
            return socket.create_server((LOOPBACK, port), backlog=BACKLOG)
    return None


def any_free() -> int:
    """Return a port that the system says is free."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port
