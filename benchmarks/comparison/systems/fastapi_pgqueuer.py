"""FastAPI + PgQueuer: PostgreSQL without Redis; one notification wakes the worker, another the view."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from pgqueuer.db import AsyncpgPoolDriver
from pgqueuer.queries import Queries

from benchmarks.comparison.systems import async_workload
from benchmarks.comparison.systems.async_workload import SendAndWait
from benchmarks.comparison.systems.pgqueuer_worker import DONE, ENTRYPOINT


@asynccontextmanager
async def queue(pool: Any) -> AsyncIterator[SendAndWait]:  # noqa: ANN401 - asyncpg has no types
    """Listen for finished jobs, on one connection per process."""
    waiting: dict[str, asyncio.Event] = {}
    queries = Queries(AsyncpgPoolDriver(pool))

    def wake(_connection: object, _pid: int, _channel: str, job_id: object) -> None:
        if str(job_id) in waiting:
            waiting[str(job_id)].set()

    async def send_and_wait(job_id: int) -> None:
        finished = waiting[str(job_id)] = asyncio.Event()
        try:
            await queries.enqueue(ENTRYPOINT, str(job_id).encode())
            await asyncio.wait_for(finished.wait(), async_workload.WAIT_SECONDS)
        except TimeoutError:
            return  # the answer is 202
        finally:
            del waiting[str(job_id)]

    listener = await asyncpg.connect(os.environ["SYSTEM_DATABASE"])
    await listener.add_listener(DONE, wake)
    yield send_and_wait
    await listener.close()


app = async_workload.create_app(queue)
