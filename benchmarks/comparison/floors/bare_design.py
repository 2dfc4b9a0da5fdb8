"""The product's design with the alternatives' statements: what its checks and records cost is the difference.

Web processes with gevent push the message of a job to Redis, and have one subscription each for the jobs that
have ended. The product's own code is used for both.
"""

from __future__ import annotations

import os

from celery import Celery
from redis import Redis

from app.infra.broker import task_messages
from app.infra.broker.celery_app import REDIS
from app.infra.broker.job_notifications import JobListener, JobNotifier
from app.infra.broker.redis_broker import envelope
from benchmarks.comparison.systems import sync_workload

URL = os.environ["SYSTEM_REDIS"]
QUEUE, TASK = "celery", "reveal"

celery = Celery("bare_design", broker=URL)
celery.conf.update(
    REDIS, task_ignore_result=True, worker_prefetch_multiplier=1, worker_hijack_root_logger=False
)
_redis, _listener, _notifier = Redis.from_url(URL), JobListener(URL), JobNotifier(URL)


@celery.task(name=TASK)
def reveal(job_id: str) -> None:
    """Resolve a job, and notify the web processes."""
    sync_workload.resolve(int(job_id))
    _notifier.notify([job_id])


def send_and_wait(job_id: int) -> None:
    """Push the message, and wait for the notification."""
    with _listener.subscribe(str(job_id)) as finished:
        _redis.lpush(QUEUE, envelope(task_messages.build(TASK, str(job_id)), QUEUE))
        finished.wait(sync_workload.WAIT_SECONDS)


app = sync_workload.create_app(send_and_wait)
