"""FastAPI + SAQ: the view enqueues a job, and polls for its result with `apply`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from saq.queue.redis import RedisQueue

from benchmarks.comparison.systems import async_workload
from benchmarks.comparison.systems.async_workload import SendAndWait

POLL_SECONDS = 0.005  # the default, 0.5 s, is for jobs that take longer
CONCURRENCY = 10
MAX_CONNECTIONS = 100

connections = BlockingConnectionPool.from_url(os.environ["SYSTEM_REDIS"], max_connections=MAX_CONNECTIONS)
jobs = RedisQueue(Redis(connection_pool=connections))


async def reveal(context: dict[str, Any], *, job_id: int) -> None:
    """Resolve a job."""
    await async_workload.resolve(context["pool"], job_id)


async def open_pool(context: dict[str, Any]) -> None:
    """Open the pool of a worker process."""
    context["pool"] = await async_workload.create_pool()


@asynccontextmanager
async def queue(_pool: Any) -> AsyncIterator[SendAndWait]:  # noqa: ANN401 - asyncpg has no types
    """Connect to Redis."""

    async def send_and_wait(job_id: int) -> None:
        try:
            await jobs.apply(
                "reveal", timeout=async_workload.WAIT_SECONDS, poll_interval=POLL_SECONDS, job_id=job_id
            )
        except TimeoutError:
            return  # the answer is 202

    await jobs.connect()
    yield send_and_wait
    await jobs.disconnect()


app = async_workload.create_app(queue)
worker = {"queue": jobs, "functions": [reveal], "concurrency": CONCURRENCY, "startup": open_pool}
