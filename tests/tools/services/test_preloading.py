"""The Celery processes of `dev.py up`, which are forked from a process that has imported the workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from polling import wait_until

from tools.services import preloading, processes
from tools.services.supervisor import procfile_commands
from tools.state import ROOT

needs_linux = pytest.mark.skipif(not preloading.IS_SUPPORTED, reason="elsewhere no process is forked")

OWNER = """
import json, os, signal, sys, time
from pathlib import Path
from tools.services import preloading, processes
from tools.services.supervisor import Supervisor

def describe(arguments):
    seen = {
        "arguments": arguments,
        "leads": os.getpid() == os.getsid(0) == os.getpgid(0),
        "files": sorted(os.listdir("/proc/self/fd"))[:-1],
        "environment": dict(os.environ),
        "terminates": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL,
        "name": Path("/proc/self/comm").read_text().strip(),
    }
    print(json.dumps(seen))
    time.sleep(1000)

preloading._run_celery = describe
logs = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(os.environ["DEV_DATA_DIR"])
logs.mkdir(parents=True, exist_ok=True)
reaper = processes.Reaper(grace=0.5)
with processes.interruptible():
    commands, forked = {"toy": "echo executed; sleep 1000"}, {"toy": ["worker"]}
    supervisor = Supervisor(commands, {"COLOUR": "green"}, logs, reaper, forked=forked)
    supervisor.start()
    print(supervisor.children[0].process.pid, flush=True)
    while True:
        supervisor.restart_exited()
        time.sleep(0.02)
"""


def test_the_arguments_of_celery_are_those_that_a_shell_passes() -> None:
    commands = procfile_commands()
    env = os.environ | {"INTERACTIVE_CONCURRENCY": "7", "FLOWER_BASIC_AUTH": "name:password"}

    worker = preloading.celery_arguments(commands["worker_interactive"], env)
    flower = preloading.celery_arguments(commands["flower"], env)

    assert worker
    assert worker[:6] == ["-q", "-A", "workers.main", "worker", "-Q", "interactive"]
    assert worker[worker.index("-c") + 1] == "7"
    assert flower == ["-q", "-A", "workers.flower", "flower", "--address=127.0.0.1", "--port=5555"]


@pytest.mark.parametrize("name", ["web", "flower"])
def test_a_command_without_celery_or_whose_check_fails_is_not_forked(name: str) -> None:
    without_login = {name: value for name, value in os.environ.items() if name != "FLOWER_BASIC_AUTH"}

    assert preloading.celery_arguments(procfile_commands()[name], without_login) is None


@pytest.mark.slow
def test_an_invalid_setting_is_left_to_the_processes_to_report(bare: dict[str, str]) -> None:
    source = (
        "from tools.services import preloading; print(preloading.import_workers({'SECRET_KEY': 'short'}))"
    )

    done = subprocess.run(
        [sys.executable, "-c", source], env=bare, cwd=ROOT, check=True, capture_output=True, text=True
    )

    assert done.stdout == "False\n"


@needs_linux
@pytest.mark.slow
def test_a_forked_process_is_like_an_executed_one(
    owner: Callable[[str], processes.subprocess.Popen[str]], bare: dict[str, str]
) -> None:
    process = owner(OWNER)
    assert process.stdout
    process.stdout.readline()
    log = Path(bare["DEV_DATA_DIR"]) / "toy.log"
    seen = json.loads(wait_until(lambda: log.exists() and log.read_text()))

    assert seen == {
        "arguments": ["worker"],
        "leads": True,
        "files": ["0", "1", "2"],
        "environment": {"COLOUR": "green"},
        "terminates": True,
        "name": "toy",
    }


@needs_linux
@pytest.mark.slow
def test_a_forked_process_that_ends_is_restarted_by_its_command(
    owner: Callable[[str], processes.subprocess.Popen[str]], bare: dict[str, str]
) -> None:
    process = owner(OWNER)
    assert process.stdout
    child = int(process.stdout.readline())
    log = Path(bare["DEV_DATA_DIR"]) / "toy.log"

    os.kill(child, signal.SIGKILL)

    wait_until(lambda: log.exists() and "executed" in log.read_text())


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_forked_process_outlives_its_owner(
    owner: Callable[[str], processes.subprocess.Popen[str]], number: signal.Signals
) -> None:
    process = owner(OWNER)
    assert process.stdout
    child = int(process.stdout.readline())

    process.send_signal(number)
    process.wait(timeout=20)

    wait_until(lambda: not psutil.pid_exists(child))


def test_the_exit_code_of_a_fork_is_known_once_it_has_ended() -> None:
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", "raise SystemExit(3)"], os.environ)
    process = preloading.ForkedProcess(pid)

    assert wait_until(process.poll) == process.returncode == 3
