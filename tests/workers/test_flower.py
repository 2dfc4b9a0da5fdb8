"""Tests of a real Flower process, with and without its login."""

from __future__ import annotations

import base64
import importlib
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from flower.options import options
from flower.urls import handlers
from local_servers import free_port
from polling import wait_until

pytestmark = pytest.mark.slow

LOGIN = "admin:a-long-password"
OPEN = {"/static/(.*)", "/login/?", "/logout", ".*"}
"""Static files, login and logout, and unknown paths."""


@pytest.fixture(scope="module")
def flower(redis_url: str) -> Iterator[str]:
    """Start Flower as the Procfile does; return where it listens."""
    port = free_port()
    env = os.environ | {"REDIS_URL": redis_url, "FLOWER_BASIC_AUTH": LOGIN}
    command = [sys.executable, "-m", "celery", "-A", "workers.flower", "flower"]
    with subprocess.Popen(
        [*command, "--address=127.0.0.1", f"--port={port}"],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: status(f"{url}/"), seconds=60)
        yield url
        process.terminate()


def status(url: str, login: str = "") -> int:
    """Return the response's status; 0 if nothing listens."""
    credentials = base64.b64encode(login.encode()).decode()
    request = urllib.request.Request(url, headers={"Authorization": f"Basic {credentials}"} if login else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            found: int = answer.status
            return found
    except urllib.error.HTTPError as error:
        return error.code
    except urllib.error.URLError:
        return 0


@pytest.mark.parametrize("path", ["/", "/metrics", "/healthcheck", "/workers", "/api/workers"])
def test_flower_requires_a_login(flower: str, path: str) -> None:
    statuses = [status(flower + path, login) for login in ("", "admin:wrong", f"{LOGIN}x")]

    assert statuses == [401, 401, 401]


@pytest.mark.parametrize("path", ["/", "/metrics", "/healthcheck"])
def test_flower_accepts_its_login(flower: str, path: str) -> None:
    assert status(flower + path, LOGIN) == 200


def test_no_page_of_flower_is_public(flower: str) -> None:
    patterns = {handler.regex.pattern if hasattr(handler, "regex") else handler[0] for handler in handlers}
    paths = {page.removesuffix("$").replace("(.+)", "x").replace("(.*)", "x") for page in patterns - OPEN}

    open_to_all = {path for path in paths if 200 <= status(flower + path) < 400}

    assert len(paths) > 20
    assert open_to_all - {"/static/x", "/login/?", "/logout"} == set()


def test_flower_does_not_ask_the_workers_for_events_that_they_publish_anyway() -> None:
    assert importlib.import_module("workers.flower").app.conf.worker_send_task_events
    assert options.enable_events is False
