from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from polling import wait_until

import tools.services.supervisor
from tools.services import ports, processes
from tools.services.supervisor import Supervisor
from tools.state import State

pytestmark = pytest.mark.release

Supervise = Callable[[Mapping[str, str]], Supervisor]

OWNER = """
import os, sys
from pathlib import Path
from tools.services import processes
from tools.services.supervisor import Supervisor
logs = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(os.environ["DEV_DATA_DIR"])
logs.mkdir(parents=True, exist_ok=True)
reaper = processes.Reaper(grace=0.5)
with processes.interruptible():
    supervisor = Supervisor({"toy": %r}, dict(os.environ), logs, reaper, grace=0.5)
    supervisor.start()
    try:
        print(supervisor.children[0].process.pid, flush=True)
        import time
        while True:
            supervisor.restart_exited()
            time.sleep(0.02)
    except KeyboardInterrupt:
        supervisor.stop()
        reaper.close()
"""
FAMILY = "sleep 1000 & sleep 1000"
STUBBORN = "trap '' TERM; sleep 1000 & sleep 1000"


def group_of(leader: int) -> list[int]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


def test_a_process_that_exits_is_restarted(supervise: Supervise, state: State) -> None:
    supervisor = supervise({"toy": "echo started; exit 3"})

    def restarted() -> bool:
        supervisor.restart_exited()
        return (state.logs / "toy.log").read_text().count("started") >= 2

    wait_until(restarted)

    assert supervisor.children[0].exits >= 1


def test_a_process_that_keeps_exiting_is_reported_as_unstable(supervise: Supervise) -> None:
    supervisor = supervise({"steady": "sleep 1000", "flapping": "exit 1"})

    def named() -> bool:
        supervisor.restart_exited()
        return supervisor.find_unstable(2) == "flapping"

    wait_until(named)

    assert supervisor.find_unstable(1000) is None


def test_an_early_exit_delays_the_restart_and_a_later_one_does_not(
    supervise: Supervise, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervisor = supervise({"toy": "exit 1"})
    child = supervisor.children[0]

    def has_exited(times: int) -> bool:
        supervisor.restart_exited()
        return child.exits >= times

    wait_until(lambda: has_exited(2))
    early_exits = child.early_exits
    monkeypatch.setattr(tools.services.supervisor, "EARLY_EXIT_SECONDS", -1.0)
    wait_until(lambda: has_exited(3))

    assert (early_exits, child.early_exits) == (2, 0)
    assert child.process is not None


def test_processes_can_be_started_before_the_others(state: State) -> None:
    reaper = processes.Reaper(grace=0.5)
    supervisor = Supervisor(
        {"first": "sleep 1000", "second": "sleep 1000"}, {}, state.logs, reaper, grace=0.5
    )

    supervisor.start(["second"])
    early = [child.name for child in supervisor.children]
    supervisor.start()
    names = [child.name for child in supervisor.children]
    supervisor.stop()
    reaper.close()

    assert (early, names) == (["second"], ["second", "first"])


def test_the_rest_of_the_group_of_a_dead_process_is_stopped(supervise: Supervise) -> None:
    supervisor = supervise({"toy": "sleep 1000 & exec sleep 1000"})
    process = supervisor.children[0].process
    assert process
    wait_until(lambda: len(group_of(process.pid)) == 2)

    os.kill(process.pid, signal.SIGKILL)

    def is_group_gone() -> bool:
        supervisor.restart_exited()
        return group_of(process.pid) == []

    wait_until(is_group_gone)


@pytest.mark.parametrize("command", [FAMILY, STUBBORN])
def test_stopping_ends_the_whole_process_group(supervise: Supervise, command: str) -> None:
    supervisor = supervise({"toy": command})
    process = supervisor.children[0].process
    assert process
    wait_until(lambda: len(group_of(process.pid)) == 3)

    supervisor.stop()

    assert group_of(process.pid) == []


def test_the_port_of_a_stopped_server_is_free(supervise: Supervise) -> None:
    port = ports.any_free()
    supervisor = supervise({"web": f"exec {sys.executable} -m http.server --bind 127.0.0.1 {port}"})

    def listens() -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        return False

    wait_until(listens)
    assert not ports.is_free(port)

    supervisor.stop()

    assert ports.is_free(port)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("command", [FAMILY, STUBBORN])
def test_no_orphan_is_left_however_the_owner_ends(
    owner: Callable[[str], processes.subprocess.Popen[str]],
    number: signal.Signals,
    command: str,
) -> None:
    process = owner(OWNER % command)
    assert process.stdout
    leader = int(process.stdout.readline())
    wait_until(lambda: len(group_of(leader)) == 3)

    process.send_signal(number)
    process.wait(timeout=20)

    wait_until(lambda: group_of(leader) == [])


def test_the_end_of_a_log_is_quoted(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("one\ntwo\nthree\n")

    assert processes.tail(log, lines=2) == "  | two\n  | three"
    assert processes.tail(tmp_path / "none.log") == "  | (no output)"


def test_of_a_traceback_only_the_last_line_is_quoted(tmp_path: Path) -> None:
    log = tmp_path / "flower.log"
    program = "import socket\nsocket.socket().bind(('127.0.0.1', 70000))"
    with log.open("w") as output:
        output.write("it starts\n")
        output.flush()
        subprocess.run([sys.executable, "-c", program], stderr=output, check=False)

    assert processes.tail(log) == "  | it starts\n  | OverflowError: bind(): port must be 0-65535."
