from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tools.services.processes import Reaper
from tools.services.supervisor import Supervisor
from tools.state import ROOT, State


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State.open(tmp_path / "data")


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment without the URL of any service, with a data directory of its own."""
    inherited = {name: value for name, value in os.environ.items() if not name.endswith(("_URL", "_KEY"))}
    return inherited | {"DEV_DATA_DIR": str(tmp_path / "data"), "PYTHONPATH": str(ROOT)}


@pytest.fixture
def supervise(state: State) -> Iterator[Callable[..., Supervisor]]:
    """Start a supervisor with these commands; it is stopped after the test."""
    supervisors: list[Supervisor] = []

    def start(commands: Mapping[str, str], env: Mapping[str, str] | None = None) -> Supervisor:
        supervisor = Supervisor(commands, env or dict(os.environ), state.logs, Reaper(grace=0.5), grace=0.5)
        supervisors.append(supervisor)
        supervisor.start()
        return supervisor

    yield start
    for supervisor in supervisors:
        supervisor.stop()
        supervisor.reaper.close()


@pytest.fixture
def owner(bare: dict[str, str]) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Run Python source in a separate process, which is killed after the test."""
    processes: list[subprocess.Popen[str]] = []

    def start(source: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", source], env=bare, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        if process.stdout:
            process.stdout.close()
