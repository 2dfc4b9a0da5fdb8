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

from tools import processes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PAUSE = 0.5  # seconds between a death and the next life
ROUND = 0.1


@dataclass(slots=True)
class Member:
    """One process over all its lives; `ended` are the exit codes of lives that nobody here ended."""

    name: str
    command: str
    env: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    due: float = 0.0
    killed: bool = False
    ended: list[int] = field(default_factory=list)


class Crew:
    """Everybody who is on; a thread looks after them."""

    def __init__(self, logs: Path, keeper: processes.Keeper) -> None:
        self._logs = logs
        self._keeper = keeper
        self._members: dict[str, Member] = {}
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._tender = threading.Thread(target=self._tend, name="crew", daemon=True)
        self._tender.start()

    @property
    def names(self) -> list[str]:
        """Give the names of those who are on."""
        with self._lock:
            return list(self._members)

    def take_on(self, name: str, command: str, env: Mapping[str, str]) -> None:
        """Start a process and keep it running."""
        with self._lock:
            member = Member(name, command, env)
            self._members[name] = member
            self._start(member)

    def dismiss(self, names: Iterable[str], *, grace: float = processes.GRACE) -> dict[str, float]:
        """End processes with SIGTERM, and after `grace` seconds with SIGKILL; give how long each took."""
        with self._lock:
            leaving = [self._members.pop(name) for name in names if name in self._members]
        started = time.monotonic()
        took: dict[str, float] = {}
        running = {one.name: one.process for one in leaving if one.process is not None}
        for process in running.values():
            _signal(process, signal.SIGTERM)
        while len(took) < len(running) and time.monotonic() - started < grace:
            for name, process in running.items():
                if process.poll() is not None:
                    took.setdefault(name, time.monotonic() - started)
            time.sleep(0.02)
        processes.stop([one.pid for one in running.values()], running.values(), grace=0.0)
        for process in running.values():
            self._keeper.forget(process.pid)
        return {name: took.get(name, time.monotonic() - started) for name in running}

    def kill(self, name: str, *, older: float = 0.0) -> bool:
        """Kill a process and all its children with SIGKILL; False if it has not lived so many seconds."""
        with self._lock:
            member = self._members.get(name)
            if member is None or member.process is None or member.process.poll() is not None:
                return False
            if time.monotonic() - member.started < older:
                return False
            member.killed = True
            _signal(member.process, signal.SIGKILL)
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

    def kill_owner(self, name: str, port: int) -> bool:
        """Kill the one process, of this member or a child, whose connection has this port at its own end."""
        with self._lock:
            member = self._members.get(name)
            if member is None or member.process is None:
                return False
            with suppress(psutil.Error):
                leader = psutil.Process(member.process.pid)
                for one in (leader, *leader.children(recursive=True)):
                    if any(line.laddr and line.laddr.port == port for line in one.net_connections("tcp")):
                        member.killed = member.killed or one.pid == leader.pid
                        one.kill()
                        return True
        return False

    def ended(self) -> dict[str, list[int]]:
        """Give the exit codes of processes that ended without being told to."""
        with self._lock:
            return {name: list(one.ended) for name, one in self._members.items() if one.ended}

    def stop(self) -> None:
        """End everybody."""
        self._over.set()
        self._tender.join()
        self.dismiss(self.names)

    def _tend(self) -> None:
        while not self._over.wait(ROUND):
            with self._lock:
                for member in self._members.values():
                    self._look_at(member)

    def _look_at(self, member: Member) -> None:
        now = time.monotonic()
        if member.process is not None and member.process.poll() is not None:
            processes.stop([member.process.pid], grace=0.0)  # what its leader left behind
            self._keeper.forget(member.process.pid)
            if not member.killed:
                member.ended.append(member.process.returncode)
            member.process, member.killed, member.due = None, False, now + PAUSE
        if member.process is None and now >= member.due:
            self._start(member)

    def _start(self, member: Member) -> None:
        log = self._logs / f"{member.name}.log"
        member.process = processes.spawn(["/bin/sh", "-c", member.command], log, member.env)
        member.started = time.monotonic()
        self._keeper.watch(member.process.pid)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
