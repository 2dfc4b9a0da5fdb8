"""FastAPI + taskiq: the view sends a task through a Redis list, and polls for its result."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from taskiq import Context, TaskiqDepends, TaskiqEvents, TaskiqResultTimeoutError, TaskiqState
from taskiq_redis import ListQueueBroker, RedisAsyncResultBackend

from benchmarks.comparison.systems import async_workload
from benchmarks.comparison.systems.async_workload import SendAndWait

CHECK_SECONDS = 0.005  # the default, 0.2 s, is for tasks that take longer
RESULT_SECONDS = 300

broker = ListQueueBroker(os.environ["SYSTEM_REDIS"]).with_result_backend(
    RedisAsyncResultBackend(os.environ["SYSTEM_REDIS"], result_ex_time=RESULT_SECONDS)
)


@broker.on_event(TaskiqEvents.WORKER_STARTUP)
async def open_pool(state: TaskiqState) -> None:
    """Open the pool of a worker process."""
    state.pool = await async_workload.create_pool()


@broker.task
async def reveal(job_id: int, context: Annotated[Context, TaskiqDepends()]) -> None:
    """Resolve a job."""
    await async_workload.resolve(context.state.pool, job_id)


@asynccontextmanager
async def queue(_pool: Any) -> AsyncIterator[SendAndWait]:  # noqa: ANN401 - asyncpg has no types
    """Connect to the broker."""

    async def send_and_wait(job_id: int) -> None:
        task = await reveal.kiq(job_id)
        try:
            await task.wait_result(check_interval=CHECK_SECONDS, timeout=async_workload.WAIT_SECONDS)
        except TaskiqResultTimeoutError:
            return  # the answer is 202

    await broker.startup()
    yield send_and_wait
    await broker.shutdown()


app = async_workload.create_app(queue)
