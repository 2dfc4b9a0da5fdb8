"""One stack for all walks: the API on its production server, a worker, a database, Redis."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from support import empty_database, free_port, start_redis
from walks_support import ROOT, Stack, is_ready, kill, spawn, until

from app.infra.db import Database


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """One stack for all walks; each makes a workspace of its own in it."""
    folder = tmp_path_factory.mktemp("walks")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"walks_{worker_id}"))
        yield from _run(folder, url, stop)


def _run(folder: Path, url: str, stop: ExitStack) -> Iterator[Stack]:
    redis_port, web_port = free_port(), free_port()
    environment = os.environ | {
        "DATABASE_URL": url,
        "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
        "LOG_LEVEL": "info",
        "REPUBLISH_SECONDS": "2",
        "LIMIT_SPEND": "100000/minute",
        "LIMIT_LOGIN_ADDRESS": "100000/minute",
        "LIMIT_LOGIN_ACCOUNT": "100000/minute",
    }
    subprocess.run(
        [sys.executable, "-m", "flask", "--app", "app.factory:create_app", "database", "upgrade"],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
    )
    redis = start_redis(redis_port, folder)
    web = spawn(
        *("gunicorn", "-c", "gunicorn.conf.py", "-b", f"127.0.0.1:{web_port}", "app.factory:create_app()"),
        log=folder / "web.log",
        environment=environment,
    )
    stop.callback(kill, web)
    stack = Stack(f"http://127.0.0.1:{web_port}", Database(url), redis_port, folder, redis, dict(environment))
    stop.callback(stack.stop_redis)
    stop.callback(lambda: [kill(worker) for worker in stack.workers])
    stack.start_worker()
    until(lambda: is_ready(stack), 60)
    yield stack
    stack.database.engine.dispose()
