"""Flask + Celery, the usual build: the view sends a task and waits with `get()`."""

from __future__ import annotations

import os

from celery import Celery
from celery.exceptions import TimeoutError as CeleryTimeoutError

from benchmarks.comparison.systems import sync_workload

RESULT_SECONDS = 300

celery = Celery("flask_celery", broker=os.environ["SYSTEM_REDIS"], backend=os.environ["SYSTEM_REDIS"])
celery.conf.update(
    result_expires=RESULT_SECONDS,
    worker_prefetch_multiplier=4,
    broker_pool_limit=40,
    worker_hijack_root_logger=False,
)


@celery.task
def reveal(job_id: int) -> None:
    """Resolve a job."""
    sync_workload.resolve(job_id)


def send_and_wait(job_id: int) -> None:
    """Send the task, and wait for its result."""
    try:
        reveal.delay(job_id).get(timeout=sync_workload.WAIT_SECONDS)
    except CeleryTimeoutError:
        return  # the answer is 202


app = sync_workload.create_app(send_and_wait)
