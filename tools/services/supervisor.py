"""Run the processes of a Procfile: start them, start again what dies, stop them all."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.console import echo
from tools.services import processes
from tools.services.processes import ServiceError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from pathlib import Path

    from tools.state import State

FIRST_RESTART_DELAY = 0.5  # seconds before a process that died at once is started again; doubled each time
MAX_RESTART_DELAY = 30.0
HEALTHY_SECONDS = 30.0  # seconds that make up for earlier deaths
EARLY_EXIT_SECONDS = (
    5.0  # seconds after which it had started: if it dies then, the next life begins without a pause
)
MAX_LOG_BYTES = 5_000_000  # bytes that a log may have at the start


@dataclass(slots=True)
class Child:
    """One process of the Procfile, over all its lives."""

    name: str
    command: str
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    restart_at: float = 0.0
    exits: int = 0
    early_exits: int = 0


@dataclass(slots=True)
class Supervisor:
    """Keep `commands` running, each in its own group, with its output in `<logs>/<name>.log`.

    `inherited` are open files by the name of the process that is given them.
    """

    commands: Mapping[str, str]
    env: Mapping[str, str]
    logs: Path
    reaper: processes.Reaper
    grace: float = processes.GRACE_SECONDS
    inherited: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    children: list[Child] = field(default_factory=list)

    def start(self) -> None:
        """Start every process once."""
        for name, command in self.commands.items():
            _rotate(self.logs / f"{name}.log")
            child = Child(name, command)
            self.children.append(child)
            self._start_child(child)

    def restart_exited(self) -> None:
        """Do one round: notice who died, start again whose pause is over."""
        now = time.monotonic()
        for child in self.children:
            if child.process and child.process.poll() is not None:
                self._schedule_restart(child, now)
            if child.process is None and now >= child.restart_at:
                self._start_child(child)

    def find_unstable(self, limit: int) -> str | None:
        """Return the name of a process that has died at least `limit` times lately."""
        return next((child.name for child in self.children if child.exits >= limit), None)

    def is_down(self, name: str) -> bool:
        """Tell whether this process has ended and waits for its next life."""
        return any(child.name == name and child.process is None for child in self.children)

    def stop(self) -> None:
        """Stop every group, and return when all are gone."""
        running = [child.process for child in self.children if child.process]
        groups = [process.pid for process in running]
        processes.stop(groups, running, self.grace)
        for group in groups:
            self.reaper.unwatch(group)
        self.children.clear()

    def _start_child(self, child: Child) -> None:
        child.process = processes.spawn(
            ["/bin/sh", "-c", child.command],
            self.logs / f"{child.name}.log",
            self.env,
            pass_fds=self.inherited.get(child.name, ()),
        )
        child.started = time.monotonic()
        self.reaper.watch(child.process.pid)

    def _schedule_restart(self, child: Child, now: float) -> None:
        """Clear away the rest of the group, and set the time of the next life."""
        if child.process is None:
            return
        group, code = child.process.pid, child.process.returncode
        processes.stop([group], grace=1.0)
        self.reaper.unwatch(group)
        child.exits = 1 if now - child.started > HEALTHY_SECONDS else child.exits + 1
        child.early_exits = 0 if now - child.started > EARLY_EXIT_SECONDS else child.early_exits + 1
        pause = (
            min(FIRST_RESTART_DELAY * 2 ** (child.early_exits - 1), MAX_RESTART_DELAY)
            if child.early_exits
            else 0
        )
        child.process, child.restart_at = None, now + pause
        log = self.logs / f"{child.name}.log"
        echo(f"{child.name} ended with {code}; starting it again {_delay_text(pause)}. The end of {log}:")
        echo(processes.tail(log, lines=5))


def run_to_completion(command: str, state: State, env: Mapping[str, str], name: str) -> None:
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


def _delay_text(pause: float) -> str:
    return f"in {pause:g} s" if pause else "at once"


def _rotate(log: Path) -> None:
    """Put a log aside that has grown large."""
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
