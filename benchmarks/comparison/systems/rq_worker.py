"""`python -m …`: an RQ worker that does not fork for each job, which would take ten times as long."""

from __future__ import annotations

import os

from redis import Redis
from rq import SimpleWorker

from benchmarks.comparison.systems.sync_workload import pool

if __name__ == "__main__":
    pool()
    worker = SimpleWorker(["default"], connection=Redis.from_url(os.environ["SYSTEM_REDIS"]))
    worker.log_job_description = False
    worker.work(logging_level="WARNING")
