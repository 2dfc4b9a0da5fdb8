"""A process whose port is taken ends with one sentence that says what to do."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from app.infra import listening
from tools.state import ROOT

GUNICORN = ["gunicorn", "--bind", "127.0.0.1:{port}", "app.factory:create_app()"]
FLOWER = ["celery", "-q", "-A", "workers.flower", "flower", "--address=127.0.0.1", "--port={port}"]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """The required settings, with servers that do not exist: the port is checked before they are used."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "DATABASE_URL": f"sqlite:///{tmp_path}/app.sqlite3",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "SUPPRESSION_KEY": secrets.token_urlsafe(48),
        "FLOWER_BASIC_AUTH": f"admin:{secrets.token_urlsafe(24)}",
    }


@pytest.mark.slow
@pytest.mark.parametrize(("command", "setting"), [(GUNICORN, "WEB_BIND"), (FLOWER, "FLOWER_PORT")])
def test_a_taken_port_is_said_in_one_sentence(
    listener: socket.socket, environment: Mapping[str, str], command: list[str], setting: str
) -> None:
    port = listener.getsockname()[1]

    ended = subprocess.run(
        [sys.executable, "-m", *(word.format(port=port) for word in command)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    said = [line for line in ended.stderr.splitlines() if "Starting gunicorn" not in line]
    assert ended.returncode == 1
    stop_it = "Stop what listens there (`flask doctor` names it), or set another"
    assert said == [f"127.0.0.1:{port} is in use. {stop_it} {setting}."]


def test_a_predecessor_that_stops_is_waited_for(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    closing = threading.Timer(listening.RETRY_SECONDS, listener.close)
    closing.start()

    listening.require_free("127.0.0.1", port, setting="WEB_BIND", seconds=10)

    closing.join()
    assert listening.fault("127.0.0.1", port) is None


def test_an_address_of_another_machine_is_not_in_use() -> None:
    found = listening.fault("192.0.2.1", 8000)

    assert found is not None
    assert not listening.is_in_use(found)
    listening.require_free("192.0.2.1", 8000, setting="WEB_BIND")
