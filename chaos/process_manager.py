"""The crew: the service's processes, each in its own group, started again when they die and nobody meant it.

Unlike the supervisor of `dev.py up` it prints nothing, pauses the same short time before every new life, and
can be told to kill, to send home and to take on one process while the others go on.
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

RESTART_DELAY = 0.5  # seconds between a death and the next life
POLL_SECONDS = 0.1


@dataclass(slots=True)
class ManagedProcess:
    """One process over all its lives; `ended` are the exit codes of lives that nobody here ended."""

    name: str
    command: str
    env: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    restart_at: float = 0.0
    was_killed: bool = False
    unexpected_exits: list[int] = field(default_factory=list)


class ProcessManager:
    """Everybody who is on; a thread looks after them."""

    def __init__(self, logs: Path, reaper: processes.Reaper) -> None:
        self._logs = logs
        self._reaper = reaper
        self._members: dict[str, ManagedProcess] = {}
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._tender = threading.Thread(target=self._supervise, name="crew", daemon=True)
        self._tender.start()

    @property
    def names(self) -> list[str]:
        """Give the names of those who are on."""
        with self._lock:
            return list(self._members)

    def start(self, name: str, command: str, env: Mapping[str, str]) -> None:
        """Start a process and keep it running."""
        with self._lock:
            member = ManagedProcess(name, command, env)
            self._members[name] = member
            self._spawn(member)

    def stop_processes(
        self, names: Iterable[str], *, grace: float = processes.GRACE_SECONDS
    ) -> dict[str, float]:
        """End processes with SIGTERM, and after `grace` seconds with SIGKILL; give how long each took."""
        with self._lock:
            leaving = [self._members.pop(name) for name in names if name in self._members]
        started = time.monotonic()
        took: dict[str, float] = {}
        running = {one.name: one.process for one in leaving if one.process is not None}
        for process in running.values():
            _signal_group(process, signal.SIGTERM)
        while len(took) < len(running) and time.monotonic() - started < grace:
            for name, process in running.items():
                if process.poll() is not None:
                    took.setdefault(name, time.monotonic() - started)
            time.sleep(0.02)
        processes.stop([one.pid for one in running.values()], running.values(), grace=0.0)
        for process in running.values():
            self._reaper.unwatch(process.pid)
        return {name: took.get(name, time.monotonic() - started) for name in running}

    def kill(self, name: str, *, older: float = 0.0) -> bool:
        """Kill a process and all its children with SIGKILL; False if it has not lived so many seconds."""
        with self._lock:
            member = self._members.get(name)
            if member is None or member.process is None or member.process.poll() is not None:
                return False
            if time.monotonic() - member.started < older:
                return False
            member.was_killed = True
            _signal_group(member.process, signal.SIGKILL)
            return True

    def kill_child(self, name: str, *, which: int = 0, older: float = 0.0) -> bool:
        """Kill one child of a process with SIGKILL; False if it has none that lived so many seconds."""
        with self._lock:
            member = self._members.get(name)
            pid = member.process.pid if member is not None and member.process is not None else None
        if pid is None:
            return False
        with suppress(psutil.Error):
            children = [
                one for one in psutil.Process(pid).children() if time.time() - one.create_time() >= older
            ]
            if children:
                children[which % len(children)].kill()
                return True
        return False

    def kill_connection_owner(self, name: str, port: int) -> bool:
        """Kill the one process, of this member or a child, whose connection has this port at its own end."""
        with self._lock:
            member = self._members.get(name)
            if member is None or member.process is None:
                return False
            with suppress(psutil.Error):
                leader = psutil.Process(member.process.pid)
                for one in (leader, *leader.children(recursive=True)):
                    if any(line.laddr and line.laddr.port == port for line in one.net_connections("tcp")):
                        member.was_killed = member.was_killed or one.pid == leader.pid
                        one.kill()
                        return True
        return False

    def unexpected_exits(self) -> dict[str, list[int]]:
        """Give the exit codes of processes that ended without being told to."""
        with self._lock:
            return {
                name: list(one.unexpected_exits)
                for name, one in self._members.items()
                if one.unexpected_exits
            }

    def stop(self) -> None:
        """End everybody."""
        self._over.set()
        self._tender.join()
        self.stop_processes(self.names)

    def _supervise(self) -> None:
        while not self._over.wait(POLL_SECONDS):
            with self._lock:
                for member in self._members.values():
                    self._check(member)

    def _check(self, member: ManagedProcess) -> None:
        now = time.monotonic()
        if member.process is not None and member.process.poll() is not None:
            processes.stop([member.process.pid], grace=0.0)  # what its leader left behind
            self._reaper.unwatch(member.process.pid)
            if not member.was_killed:
                member.unexpected_exits.append(member.process.returncode)
            member.process, member.was_killed, member.restart_at = None, False, now + RESTART_DELAY
        if member.process is None and now >= member.restart_at:
            self._spawn(member)

    def _spawn(self, member: ManagedProcess) -> None:
        log = self._logs / f"{member.name}.log"
        member.process = processes.spawn(["/bin/sh", "-c", member.command], log, member.env)
        member.started = time.monotonic()
        self._reaper.watch(member.process.pid)


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
