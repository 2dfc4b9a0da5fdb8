from __future__ import annotations

import os
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from polling import wait_until

from chaos.__main__ import _choose
from chaos.nemeses import Nemesis, running
from chaos.scenarios.registry import SCENARIOS
from chaos.system.process_manager import ProcessManager
from tools.services import ports
from tools.services.processes import Reaper


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[ProcessManager]:
    reaper = Reaper(grace=0.5)
    manager = ProcessManager(tmp_path, reaper)
    yield manager
    manager.close()
    reaper.close()


def test_a_killed_process_is_restarted_and_its_exit_is_not_unexpected(
    manager: ProcessManager, tmp_path: Path
) -> None:
    manager.start("toy", "echo started; exec sleep 1000", dict(os.environ))
    log = tmp_path / "toy.log"
    wait_until(lambda: "started" in log.read_text())

    assert manager.kill("toy")

    wait_until(lambda: log.read_text().count("started") == 2)
    assert manager.unexpected_exits() == {}


def test_an_unexpected_exit_is_recorded_with_its_code(manager: ProcessManager) -> None:
    manager.start("toy", "exit 3", dict(os.environ))

    wait_until(lambda: 3 in manager.unexpected_exits().get("toy", []))


def test_a_process_younger_than_min_age_is_not_killed(manager: ProcessManager) -> None:
    manager.start("toy", "exec sleep 1000", dict(os.environ))

    assert not manager.kill("toy", min_age=60.0)


def test_a_stopped_process_is_not_restarted(manager: ProcessManager) -> None:
    manager.start("toy", "exec sleep 1000", dict(os.environ))

    took = manager.stop(["toy"])

    assert list(took) == ["toy"]
    assert manager.names == []


def test_the_owner_of_a_connection_is_found_and_killed(manager: ProcessManager, tmp_path: Path) -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as listener:
        port = listener.getsockname()[1]
        code = f"import socket, time; s = socket.create_connection(('127.0.0.1', {port})); time.sleep(1000)"
        manager.start("toy", f'exec {sys.executable} -c "{code}"', dict(os.environ))
        connection, (_host, own_port) = listener.accept()

        killed = manager.kill_connection_owner("toy", own_port)

        assert killed
        with connection:
            assert connection.recv(1) == b""


def test_faults_are_injected_at_their_interval_and_counted() -> None:
    injected: Counter[str]

    with running([Nemesis(lambda: "it", 0.01), Nemesis(lambda: None, 0.01)], slowness=1.0) as injected:
        wait_until(lambda: injected["it"] >= 3)

    assert set(injected) == {"it"}


def test_every_scenario_has_its_own_id() -> None:
    names = [scenario.id for scenario in SCENARIOS]

    assert len(set(names)) == len(names)


def test_scenarios_are_chosen_by_id_by_length_and_by_database() -> None:
    assert [scenario.id for scenario in _choose("r1, R13", short=False, sqlite=False)] == ["R1", "R13"]
    assert all(scenario.short for scenario in _choose("", short=True, sqlite=False))
    assert "R3" not in [scenario.id for scenario in _choose("", short=False, sqlite=True)]
    with pytest.raises(SystemExit, match="R99"):
        _choose("R99", short=False, sqlite=False)
