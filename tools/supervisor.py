"""Run the processes of a Procfile: start them, start again what dies, stop them all."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools import processes
from tools.console import say
from tools.redis_server import ServiceError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from pathlib import Path

    from tools.state import State

FIRST_PAUSE = 0.5  # seconds before a process that died at once is started again; doubled each time
LONGEST_PAUSE = 30.0
HEALTHY_AFTER = 30.0  # seconds that make up for earlier deaths
STARTED_AFTER = (
    5.0  # seconds after which it had started: if it dies then, the next life begins without a pause
)
LARGEST_LOG = 5_000_000  # bytes that a log may have at the start


@dataclass(slots=True)
class Child:
    """One process of the Procfile, over all its lives."""

    name: str
    command: str
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    due: float = 0.0
    deaths: int = 0
    false_starts: int = 0


@dataclass(slots=True)
class Supervisor:
    """Keep `commands` running, each in its own group, with its output in `<logs>/<name>.log`.

    `inherited` are open files by the name of the process that is given them.
    """

    commands: Mapping[str, str]
    env: Mapping[str, str]
    logs: Path
    keeper: processes.Keeper
    grace: float = processes.GRACE
    inherited: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    children: list[Child] = field(default_factory=list)

    def start(self) -> None:
        """Start every process once."""
        for name, command in self.commands.items():
            _turn(self.logs / f"{name}.log")
            child = Child(name, command)
            self.children.append(child)
            self._spawn(child)

    def tend(self) -> None:
        """Do one round: notice who died, start again whose pause is over."""
        now = time.monotonic()
        for child in self.children:
            if child.process and child.process.poll() is not None:
                self._mourn(child, now)
            if child.process is None and now >= child.due:
                self._spawn(child)

    def unstable(self, limit: int) -> str | None:
        """Return the name of a process that has died at least `limit` times lately."""
        return next((child.name for child in self.children if child.deaths >= limit), None)

    def is_dead(self, name: str) -> bool:
        """Tell whether this process has ended and waits for its next life."""
        return any(child.name == name and child.process is None for child in self.children)

    def stop(self) -> None:
        """Stop every group, and return when all are gone."""
        running = [child.process for child in self.children if child.process]
        groups = [process.pid for process in running]
        processes.stop(groups, running, self.grace)
        for group in groups:
            self.keeper.forget(group)
        self.children.clear()

    def _spawn(self, child: Child) -> None:
        child.process = processes.spawn(
            ["/bin/sh", "-c", child.command],
            self.logs / f"{child.name}.log",
            self.env,
            pass_fds=self.inherited.get(child.name, ()),
        )
        child.started = time.monotonic()
        self.keeper.watch(child.process.pid)

    def _mourn(self, child: Child, now: float) -> None:
        """Clear away the rest of the group, and set the time of the next life."""
        if child.process is None:
            return
        group, code = child.process.pid, child.process.returncode
        processes.stop([group], grace=1.0)
        self.keeper.forget(group)
        child.deaths = 1 if now - child.started > HEALTHY_AFTER else child.deaths + 1
        child.false_starts = 0 if now - child.started > STARTED_AFTER else child.false_starts + 1
        pause = min(FIRST_PAUSE * 2 ** (child.false_starts - 1), LONGEST_PAUSE) if child.false_starts else 0
        child.process, child.due = None, now + pause
        log = self.logs / f"{child.name}.log"
        say(f"{child.name} ended with {code}; starting it again {_in(pause)}. The end of {log}:")
        say(processes.tail(log, lines=5))


def run_to_end(command: str, state: State, env: Mapping[str, str], name: str) -> None:
    """Run one shell command with its output in `<name>.log`.

    Raises:
        ServiceError: it ended with anything but 0.

    """
    log = state.logs / f"{name}.log"
    log.unlink(missing_ok=True)
    process = processes.spawn(["/bin/sh", "-c", command], log, env)
    try:
        code = process.wait()
    finally:
        processes.stop([process.pid], [process])
    if code:
        raise ServiceError(f"{name} ended with {code}. The end of {log}:\n{processes.tail(log)}")


def _in(pause: float) -> str:
    return f"in {pause:g} s" if pause else "at once"


def _turn(log: Path) -> None:
    """Put a log aside that has grown large."""
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        log.replace(log.with_suffix(".log.1"))
