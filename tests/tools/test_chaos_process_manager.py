from __future__ import annotations

import os
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaos.__main__ import _choose
from chaos.nemeses import Nemesis, running
from chaos.process_manager import ProcessManager
from chaos.scenarios.registry import SCENARIOS
from tools.services import ports
from tools.services.processes import Reaper

Eventually = Callable[[Callable[[], object]], None]


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[ProcessManager]:
    reaper = Reaper(grace=0.5)
    crew = ProcessManager(tmp_path, reaper)
    yield crew
    crew.stop()
    reaper.close()


def test_a_process_that_was_killed_comes_again_and_is_nobodys_fault(
    crew: ProcessManager, eventually: Eventually, tmp_path: Path
) -> None:
    crew.start("toy", "echo life; exec sleep 1000", dict(os.environ))
    log = tmp_path / "toy.log"
    eventually(lambda: "life" in log.read_text())

    assert crew.kill("toy")

    eventually(lambda: log.read_text().count("life") == 2)
    assert crew.unexpected_exits() == {}


def test_a_process_that_ends_by_itself_is_remembered_with_its_code(
    crew: ProcessManager, eventually: Eventually
) -> None:
    crew.start("toy", "exit 3", dict(os.environ))

    eventually(lambda: 3 in crew.unexpected_exits().get("toy", []))


def test_a_process_is_spared_while_it_is_young(crew: ProcessManager) -> None:
    crew.start("toy", "exec sleep 1000", dict(os.environ))

    assert not crew.kill("toy", older=60.0)


def test_who_is_dismissed_does_not_come_again(crew: ProcessManager) -> None:
    crew.start("toy", "exec sleep 1000", dict(os.environ))

    took = crew.stop_processes(["toy"])

    assert list(took) == ["toy"]
    assert crew.names == []


def test_the_owner_of_a_connection_is_found_and_killed(
    crew: ProcessManager, eventually: Eventually, tmp_path: Path
) -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as listener:
        port = listener.getsockname()[1]
        code = f"import socket, time; s = socket.create_connection(('127.0.0.1', {port})); time.sleep(1000)"
        crew.start("toy", f'exec {sys.executable} -c "{code}"', dict(os.environ))
        connection, (_host, own_port) = listener.accept()

        killed = crew.kill_connection_owner("toy", own_port)

        assert killed
        with connection:
            assert connection.recv(1) == b""


def test_nemeses_strike_at_their_pace_and_are_counted(eventually: Eventually) -> None:
    tally: Counter[str]

    with running([Nemesis(lambda: "it", 0.01), Nemesis(lambda: None, 0.01)], slowness=1.0) as tally:
        eventually(lambda: tally["it"] >= 3)

    assert set(tally) == {"it"}


def test_every_scenario_has_a_name_of_its_own() -> None:
    names = [one.id for one in SCENARIOS]

    assert len(set(names)) == len(names)


def test_scenarios_are_chosen_by_name_by_length_and_by_database() -> None:
    assert [one.id for one in _choose("r1, R13", short=False, sqlite=False)] == ["R1", "R13"]
    assert all(one.short for one in _choose("", short=True, sqlite=False))
    assert "R3" not in [one.id for one in _choose("", short=False, sqlite=True)]
    with pytest.raises(SystemExit, match="R99"):
        _choose("R99", short=False, sqlite=False)
