"""Run the processes of a Procfile: start them, restart those that exit, stop them all."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from honcho.environ import parse_procfile

from tools.console import echo
from tools.services import preloading, process_groups, processes
from tools.services.processes import ServiceError
from tools.state import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tools.state import State

RELEASE = "release"  # the entry of a Procfile that runs once, before the others start
FIRST_RESTART_DELAY = 0.5  # seconds before a process that exits early is restarted; doubled each time
MAX_RESTART_DELAY = 30.0
HEALTHY_SECONDS = 30.0  # of uptime, after which earlier exits no longer count
EARLY_EXIT_SECONDS = 5.0  # a process that exits after more than this is restarted without delay
MAX_LOG_BYTES = 5_000_000  # a larger log is rotated at the start


@dataclass(slots=True)
class Child:
    """A process of a Procfile, across its restarts."""

    name: str
    command: str
    process: process_groups.Process | None = None
    started: float = 0.0
    restart_at: float = 0.0
    exits: int = 0
    early_exits: int = 0


@dataclass(slots=True)
class Supervisor:
    """Keeps `commands` running, each in its own process group, with its output in `<logs>/<name>.log`.

    `inherited` has the file descriptors that a process inherits, by the name of the process. `forked` has the
    arguments of the Celery processes whose first start is a fork of this process.
    """

    commands: Mapping[str, str]
    env: Mapping[str, str]
    logs: Path
    reaper: processes.Reaper
    grace: float = processes.GRACE_SECONDS
    inherited: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    forked: Mapping[str, list[str]] = field(default_factory=dict)
    children: list[Child] = field(default_factory=list)

    def start(self, names: Iterable[str] = ()) -> None:
        """Start these processes, or all that have not been started."""
        started = {child.name for child in self.children}
        for name in names or [name for name in self.commands if name not in started]:
            _rotate(self.logs / f"{name}.log")
            child = Child(name, self.commands[name])
            self.children.append(child)
            if name in self.forked:
                self._fork_child(child)
            else:
                self._start_child(child)

    def restart_exited(self) -> None:
        """Note which processes have exited, and restart those whose delay is over."""
        now = time.monotonic()
        for child in self.children:
            if child.process and child.process.poll() is not None:
                self._schedule_restart(child, child.process, now)
            if child.process is None and now >= child.restart_at:
                self._start_child(child)

    def find_unstable(self, limit: int) -> str | None:
        """Return the name of a process that has recently exited at least `limit` times, or None."""
        return next((child.name for child in self.children if child.exits >= limit), None)

    def is_down(self, name: str) -> bool:
        """Return whether this process has exited and waits to be restarted."""
        return any(child.name == name and child.process is None for child in self.children)

    def stop(self) -> None:
        """Stop every process group, and return when all are gone."""
        self.reaper.stop([child.process for child in self.children if child.process], self.grace)
        self.children.clear()

    def _start_child(self, child: Child) -> None:
        log, inherited = self.logs / f"{child.name}.log", self.inherited.get(child.name, ())
        child.process = self.reaper.spawn(["/bin/sh", "-c", child.command], log, self.env, pass_fds=inherited)
        child.started = time.monotonic()

    def _fork_child(self, child: Child) -> None:
        log = self.logs / f"{child.name}.log"
        child.process = preloading.fork_celery(child.name, self.forked[child.name], log, self.env)
        child.started = time.monotonic()
        self.reaper.watch(child.process)

    def _schedule_restart(self, child: Child, process: process_groups.Process, now: float) -> None:
        """Stop what remains of the group, and set the time of the restart."""
        self.reaper.stop([process], grace=1.0)
        child.exits = 1 if now - child.started > HEALTHY_SECONDS else child.exits + 1
        child.early_exits = 0 if now - child.started > EARLY_EXIT_SECONDS else child.early_exits + 1
        delay = 0.0
        if child.early_exits:
            delay = min(FIRST_RESTART_DELAY * 2 ** (child.early_exits - 1), MAX_RESTART_DELAY)
        child.process, child.restart_at = None, now + delay
        log = self.logs / f"{child.name}.log"
        when = f"in {delay:g} s" if delay else "now"
        echo(f"{child.name} exited with code {process.returncode}; restarting {when}. The end of {log}:")
        echo(processes.tail(log, lines=5))


def procfile_commands(name: str = "Procfile") -> dict[str, str]:
    """Return the shell command of each process in the Procfile of this name, in the order of the file."""
    return dict(parse_procfile((ROOT / name).read_text()).processes)


def run_to_completion(command: str, state: State, env: Mapping[str, str], name: str) -> None:
    """Run a shell command with its output in `<name>.log`.

    Raises:
        ServiceError: its exit code is not 0.

    """
    log = state.logs / f"{name}.log"
    log.unlink(missing_ok=True)
    process = processes.spawn(["/bin/sh", "-c", command], log, env)
    try:
        code = process.wait()
    finally:
        processes.stop([process])
    if code:
        raise ServiceError(f"{name} exited with code {code}. The end of {log}:\n{processes.tail(log)}")


def _rotate(log: Path) -> None:
    """Rename a large log, so that a new one begins."""
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
