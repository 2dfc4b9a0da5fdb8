"""A worker that is stopped while it starts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tools.state import ROOT

STOPPED_AT_START = """
import os, signal, sys
from celery.__main__ import main
from workers.main import BackgroundStep

start = BackgroundStep.start

def stopped_before(step, worker):
    os.kill(os.getpid(), signal.SIGTERM)
    start(step, worker)

BackgroundStep.start = stopped_before
sys.argv = ["celery", "-q", "-A", "workers.main", "worker", *sys.argv[1:]]
main()
"""


@pytest.mark.slow
def test_a_worker_that_is_stopped_while_it_starts_shuts_down_as_any_other(
    database_url: str, redis_url: str
) -> None:
    options = ["-Q", "interactive", "-P", "threads", "-c", "2", "--without-gossip", "--without-mingle"]

    # Celery's own shutdown would wait for its threads for up to nine seconds.
    worker = subprocess.run(
        [sys.executable, "-c", STOPPED_AT_START, *options],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "LOG_LEVEL": "info"},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert worker.returncode == 0, worker.stderr
    assert "worker stopped" in worker.stdout + worker.stderr
