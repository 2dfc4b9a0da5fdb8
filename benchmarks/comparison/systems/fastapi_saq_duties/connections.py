"""What the web processes and the workers share: connections, the queue, the rate limit and the keys."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import asyncpg
from redis.asyncio import ConnectionPool, Redis
from saq.queue.redis import RedisQueue

from benchmarks.comparison.systems.fastapi_saq_duties.rate_limit import RATE_LIMIT, REQUESTS_PER_MINUTE
from benchmarks.comparison.systems.fastapi_saq_duties.sealing import Cipher

MAX_CONNECTIONS = 10
JOB_SECONDS = 30  # less than a lease


class Queue(RedisQueue):  # type: ignore[misc]  # SAQ is not installed where the types are checked
    """SAQ's queue without its own notifications, to which nothing listens."""

    async def notify(self, job: object) -> None:
        """Publish nothing."""


cipher = Cipher(bytes.fromhex(os.environ["SYSTEM_KEY"]))
redis = Redis(connection_pool=ConnectionPool.from_url(os.environ["SYSTEM_REDIS"], socket_timeout=None))
queue = Queue(redis, max_concurrent_ops=MAX_CONNECTIONS)
rate_limit = redis.register_script(RATE_LIMIT)
rate_limits_at_once = asyncio.Semaphore(MAX_CONNECTIONS)  # the pool raises an error instead of waiting


async def seconds_to_wait(token: bytes) -> int:
    """Count a request of a token; return 0, or when it may be repeated."""
    async with rate_limits_at_once:
        return int(await rate_limit(keys=[b"limit:" + token], args=[REQUESTS_PER_MINUTE]))


async def send(job_id: int) -> None:
    """Send the message of a job."""
    await queue.enqueue("reveal", job_id=job_id, timeout=JOB_SECONDS, ttl=-1)


async def _keep(_connection: object) -> None:
    """Leave a connection as it is; asyncpg's reset takes a round trip after each statement."""


def create_pool() -> Any:  # noqa: ANN401 - asyncpg's pool is awaitable and a context manager
    """Return a pool of connections, not yet opened."""
    url = os.environ["SYSTEM_DATABASE"]
    return asyncpg.create_pool(url, min_size=2, max_size=MAX_CONNECTIONS, reset=_keep)
