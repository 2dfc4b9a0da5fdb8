"""Flask + RQ: the view enqueues a job and waits for its result, which RQ writes to a Redis stream."""

from __future__ import annotations

import os

from redis import BlockingConnectionPool, Redis
from rq import Queue

from benchmarks.comparison.systems import sync_workload

RESULT_SECONDS = 300
MAX_CONNECTIONS = 100

connections = BlockingConnectionPool.from_url(
    os.environ["SYSTEM_REDIS"],
    max_connections=MAX_CONNECTIONS,
    socket_timeout=sync_workload.WAIT_SECONDS + 5,
)
queue = Queue(connection=Redis(connection_pool=connections))


def send_and_wait(job_id: int) -> None:
    """Enqueue the job, and wait for its result."""
    job = queue.enqueue(sync_workload.resolve, job_id, result_ttl=RESULT_SECONDS)
    job.latest_result(timeout=sync_workload.WAIT_SECONDS)


app = sync_workload.create_app(send_and_wait)
