"""gunicorn with a socket that systemd holds: a restart refuses no connection (deploy/systemd)."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
APP = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""
CONF = 'worker_class = "app.server.web_worker.TimeoutGeventWorker"'
AS_SYSTEMD = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
os.execv(sys.argv[2], sys.argv[2:])
"""
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def start(folder: Path, listener: socket.socket) -> subprocess.Popen[bytes]:
    """Start gunicorn as the unit does, with the listening socket as descriptor 3."""
    (folder / "tiny.py").write_text(APP)
    (folder / "conf.py").write_text(CONF)
    gunicorn = [sys.executable, "-m", "gunicorn", "-c", "conf.py", "--bind", "127.0.0.1:1", "tiny:app"]
    return subprocess.Popen(
        [sys.executable, "-c", AS_SYSTEMD, str(listener.fileno()), *gunicorn],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"},
        pass_fds=[listener.fileno()],
    )


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(20)


def answer(connection: socket.socket) -> bytes:
    connection.settimeout(30)
    return b"".join(iter(lambda: connection.recv(4096), b""))


def request(listener: socket.socket) -> socket.socket:
    connection = socket.create_connection(listener.getsockname())
    connection.sendall(REQUEST)
    return connection


def test_a_request_during_a_restart_waits_for_the_new_process(
    tmp_path: Path, listener: socket.socket
) -> None:
    first = start(tmp_path, listener)
    with request(listener) as before:
        assert answer(before).endswith(b"ok")
    stop(first)

    with request(listener) as meanwhile:
        second = start(tmp_path, listener)
        received = answer(meanwhile)
    stop(second)

    assert received.startswith(b"HTTP/1.1 200")
