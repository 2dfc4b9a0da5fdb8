"""The log of the API's processes: the server's own lines have the format of the application's."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from local_servers import free_port

from app.server.server_log import ServerLog
from tools.state import ROOT

LINES_OF_THE_START = 4


@pytest.mark.release
def test_the_lines_of_the_server_have_the_format_of_the_setting() -> None:
    bind = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "gunicorn", "--bind", bind, "app.factory:create_app()"]
    environment = os.environ | {"LOG_FORMAT": "json", "WEB_CONCURRENCY": "1"}
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    lines = [process.stdout.readline() for _ in range(LINES_OF_THE_START)]
    process.terminate()
    rest, _ = process.communicate(timeout=30)

    events = [json.loads(line)["event"] for line in [*lines, *rest.splitlines()]]
    assert events[0].startswith("Starting gunicorn ")
    assert events[-1] == "Shutting down: Master"


def test_requests_are_not_even_formatted(capfd: pytest.CaptureFixture[str]) -> None:
    log = ServerLog.__new__(ServerLog)  # without the handlers, which would stay for other tests

    log.access(resp=None, req=None, environ=None, request_time=None)

    assert capfd.readouterr() == ("", "")
