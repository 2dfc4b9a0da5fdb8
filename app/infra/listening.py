"""Whether a server can listen on an address, and the sentence with which a process ends if it cannot."""

from __future__ import annotations

import errno
import socket
import time

RETRY_SECONDS = 0.25


def fault(host: str, port: int) -> OSError | None:
    """Return why no server can listen on this address; None if one can."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None


def is_in_use(found: OSError | None) -> bool:
    """Return whether another process listens on the address that has this fault."""
    return found is not None and found.errno == errno.EADDRINUSE


def require_free(host: str, port: int, *, setting: str, seconds: float = 0) -> None:
    """Wait up to so many seconds while the address is in use: a predecessor may be shutting down.

    Raises:
        SystemExit: it is still in use; the message says what to do.

    """
    deadline = time.monotonic() + seconds
    while is_in_use(fault(host, port)):
        if time.monotonic() >= deadline:
            message = (
                f"{host}:{port} is in use. Stop what listens there (`flask doctor` names it), or set another"
            )
            raise SystemExit(f"{message} {setting}.")
        time.sleep(RETRY_SECONDS)
