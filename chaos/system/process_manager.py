"""The processes of the service under test, each in its own process group and restarted when it dies.

Unlike the supervisor of `dev.py up` it prints nothing, restarts after the same short delay every time, and
can kill, stop and start one process while the others keep running.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psutil

from tools.services import processes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tools.services.processes import Reaper

RESTART_DELAY = 0.5  # seconds
POLL_SECONDS = 0.1


@dataclass(slots=True)
class ManagedProcess:
    """A process across its restarts; `unexpected_exits` are the exit codes when nothing here ended it."""

    name: str
    command: str
    env: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    restart_at: float = 0.0
    was_killed: bool = False
    unexpected_exits: list[int] = field(default_factory=list)


class ProcessManager:
    """Runs processes by name; a thread restarts those that exit."""

    def __init__(self, logs: Path, reaper: Reaper) -> None:
        self._logs = logs
        self._reaper = reaper
        self._managed: dict[str, ManagedProcess] = {}
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._restart_exited, name="process manager", daemon=True)
        self._thread.start()

    @property
    def names(self) -> list[str]:
        """The names of all processes."""
        with self._lock:
            return list(self._managed)

    def start(self, name: str, command: str, env: Mapping[str, str]) -> None:
        """Start a process, and restart it whenever it exits."""
        with self._lock:
            self._managed[name] = ManagedProcess(name, command, env)
            self._spawn(self._managed[name])

    def stop(self, names: Iterable[str], *, grace: float = processes.GRACE_SECONDS) -> dict[str, float]:
        """Stop processes with SIGTERM, after `grace` seconds with SIGKILL; return how long each took."""
        with self._lock:
            removed = [self._managed.pop(name) for name in names if name in self._managed]
        started = time.monotonic()
        took: dict[str, float] = {}
        running = {managed.name: managed.process for managed in removed if managed.process is not None}
        for process in running.values():
            _signal_group(process, signal.SIGTERM)
        while len(took) < len(running) and time.monotonic() - started < grace:
            for name, process in running.items():
                if process.poll() is not None:
                    took.setdefault(name, time.monotonic() - started)
            time.sleep(0.02)
        self._reaper.stop(running.values(), grace=0.0)
        return {name: took.get(name, time.monotonic() - started) for name in running}

    def kill(self, name: str, *, min_age: float = 0.0) -> bool:
        """Kill a process group with SIGKILL if it has run for `min_age` seconds; return whether it has."""
        with self._lock:
            managed = self._managed.get(name)
            if managed is None or managed.process is None or managed.process.poll() is not None:
                return False
            if time.monotonic() - managed.started < min_age:
                return False
            managed.was_killed = True
            _signal_group(managed.process, signal.SIGKILL)
            return True

    def kill_child(self, name: str, *, index: int = 0, min_age: float = 0.0) -> bool:
        """Kill a child of a process that has run for `min_age` seconds; return whether there is one."""
        with suppress(psutil.Error):
            now = time.time()
            children = [child for child in self._children(name) if now - child.create_time() >= min_age]
            if children:
                children[index % len(children)].kill()
                return True
        return False

    def freeze_child(self, name: str) -> None:
        """Stop the first child of a process with SIGSTOP; it is killed in the end, or by its parent."""
        self._children(name)[0].suspend()

    def _children(self, name: str) -> list[psutil.Process]:
        with self._lock:
            managed = self._managed.get(name)
            pid = managed.process.pid if managed is not None and managed.process is not None else None
        return psutil.Process(pid).children() if pid is not None else []

    def kill_connection_owner(self, name: str, port: int) -> bool:
        """Kill the process, or its descendant, that has a connection with this local port; return whether."""
        with self._lock:
            managed = self._managed.get(name)
            if managed is None or managed.process is None:
                return False
            with suppress(psutil.Error):
                leader = psutil.Process(managed.process.pid)
                for process in (leader, *leader.children(recursive=True)):
                    connections = process.net_connections("tcp")
                    if any(connection.laddr and connection.laddr.port == port for connection in connections):
                        managed.was_killed = managed.was_killed or process.pid == leader.pid
                        process.kill()
                        return True
        return False

    def unexpected_exits(self) -> dict[str, list[int]]:
        """Return the exit codes of processes that exited without being stopped or killed here."""
        with self._lock:
            return {
                name: list(managed.unexpected_exits)
                for name, managed in self._managed.items()
                if managed.unexpected_exits
            }

    def close(self) -> None:
        """Stop every process, and the thread."""
        self._stopping.set()
        self._thread.join()
        self.stop(self.names)

    def _restart_exited(self) -> None:
        while not self._stopping.wait(POLL_SECONDS):
            with self._lock:
                for managed in self._managed.values():
                    self._check(managed)

    def _check(self, managed: ManagedProcess) -> None:
        now = time.monotonic()
        if managed.process is not None and managed.process.poll() is not None:
            self._reaper.stop([managed.process], grace=0.0)  # what remains of its group
            if not managed.was_killed:
                managed.unexpected_exits.append(managed.process.returncode)
            managed.process, managed.was_killed, managed.restart_at = None, False, now + RESTART_DELAY
        if managed.process is None and now >= managed.restart_at:
            self._spawn(managed)

    def _spawn(self, managed: ManagedProcess) -> None:
        log = self._logs / f"{managed.name}.log"
        managed.process = self._reaper.spawn(["/bin/sh", "-c", managed.command], log, managed.env)
        managed.started = time.monotonic()


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
