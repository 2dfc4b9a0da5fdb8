"""`python -m …`: a PgQueuer consumer, which `pgq run` would run in the same way."""

from __future__ import annotations

import asyncio
import os

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job

from benchmarks.comparison.systems import async_workload

ENTRYPOINT = "reveal"
DONE = "bench_done"  # the notification channel of finished jobs


async def main() -> None:
    """Resolve jobs until the process is stopped."""
    consumer = PgQueuer(AsyncpgDriver(await asyncpg.connect(os.environ["SYSTEM_DATABASE"])))
    pool = await async_workload.create_pool()

    @consumer.entrypoint(ENTRYPOINT)
    async def reveal(job: Job) -> None:
        job_id = (job.payload or b"").decode()
        await async_workload.resolve(pool, int(job_id))
        await pool.execute("SELECT pg_notify($1, $2)", DONE, job_id)

    await consumer.run()


if __name__ == "__main__":
    asyncio.run(main())
