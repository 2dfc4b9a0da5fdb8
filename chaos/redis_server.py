"""A Redis-protocol server that keeps nothing, and can be killed, frozen and started again on its port."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.services import embedded_redis, ports, processes
from tools.services.processes import ServiceError

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

START_SECONDS = 20.0


@dataclass(slots=True)
class RedisServer:
    """One server over all its lives; nothing outlives a life, as if it had no disk."""

    folder: Path
    reaper: processes.Reaper
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and return when it answers.

        Raises:
            ServiceError: it does not start.

        """
        self.port = self.port or ports.any_free()
        command = [embedded_redis.binary(), "--bind", ports.LOOPBACK, "--port", str(self.port)]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self.folder)]
        self.process = processes.spawn(command, self.folder / "redis.log")
        self.reaper.watch(self.process.pid)
        deadline = time.monotonic() + START_SECONDS
        while not self._responds():
            if time.monotonic() > deadline:
                raise ServiceError(
                    f"The Redis server does not start:\n{processes.tail(self.folder / 'redis.log')}"
                )
            time.sleep(0.02)

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.reaper.unwatch(self.process.pid)
            self.process = None

    def freeze(self) -> None:
        """Stop it without closing its sockets: whoever asks it hears nothing."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, number)

    def _responds(self) -> bool:
        with (
            suppress(OSError),
            socket.create_connection((ports.LOOPBACK, self.port), timeout=1) as connection,
        ):
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
        return False
