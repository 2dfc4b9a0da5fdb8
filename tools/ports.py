"""Find loopback ports that are free."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


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


def any_free() -> int:
    """Return a port that the system says is free."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port
