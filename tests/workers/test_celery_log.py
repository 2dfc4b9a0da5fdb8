from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from polling import wait_until
from redis import Redis

from tools.state import ROOT

CELERYS = "Connected to redis://"  # a record of celery.worker.consumer.connection at level info
OWN = 'event="worker stopped"'  # a record of workers.runtime.shutdown at level info


@pytest.fixture
def log_of_worker(database_url: str, redis_url: str, tmp_path: Path) -> Iterator[Callable[[str, str], str]]:
    """Start a real worker with these levels, wait until it consumes, end it, and return its log."""
    environment = os.environ | {"DATABASE_URL": database_url, "REDIS_URL": redis_url}
    started: list[subprocess.Popen[bytes]] = []

    def run(own: str, celery: str) -> str:
        path = tmp_path / "worker.log"
        words = ["-Q", "upkeep", "-P", "threads", "-c", "1", "-l", celery, "--without-gossip"]
        with path.open("wb") as file:
            worker = subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", "workers.main", "worker", *words, "--without-mingle"],
                cwd=ROOT,
                env=environment | {"LOG_LEVEL": own},
                stdout=file,
                stderr=file,
            )
        started.append(worker)
        with Redis.from_url(redis_url) as client:
            wait_until(lambda: any(each["cmd"] == "brpop" for each in client.client_list()), seconds=30)
        worker.terminate()
        worker.wait(20)
        return path.read_text()

    yield run
    for worker in started:
        worker.kill()
        worker.wait()


@pytest.mark.release
def test_celery_logs_at_its_own_level_and_the_service_at_log_level(
    log_of_worker: Callable[[str, str], str],
) -> None:
    quiet_celery, quiet_service = log_of_worker("info", "warning"), log_of_worker("warning", "info")

    assert (CELERYS in quiet_celery, OWN in quiet_celery) == (False, True)
    assert (CELERYS in quiet_service, OWN in quiet_service) == (True, False)
