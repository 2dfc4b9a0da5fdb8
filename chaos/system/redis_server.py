"""A Redis-protocol server without persistence that can be killed, frozen and started again on its port."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.services import embedded_redis, ports, processes
from tools.services.processes import Reaper, ServiceError

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

START_SECONDS = 20.0


@dataclass(slots=True)
class RedisServer:
    """A server that is empty after every start."""

    folder: Path
    reaper: Reaper
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and return once it responds.

        Raises:
            ServiceError: it does not start.

        """
        self.port = self.port or ports.any_free()
        command = [embedded_redis.binary(), "--bind", ports.LOOPBACK, "--port", str(self.port)]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self.folder)]
        log = self.folder / "redis.log"
        self.process = self.reaper.spawn(command, log)
        deadline = time.monotonic() + START_SECONDS
        while not self._responds():
            if time.monotonic() > deadline:
                raise ServiceError(f"The Redis server does not start:\n{processes.tail(log)}")
            time.sleep(0.02)

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.reaper.unwatch(self.process)
            self.process = None

    def freeze(self) -> None:
        """Suspend the server: its connections stay open, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume the server after `freeze`."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, number)

    def _responds(self) -> bool:
        address = (ports.LOOPBACK, self.port)
        with suppress(OSError), socket.create_connection(address, timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
        return False
