"""Presence: which workers said lately that they live."""

from __future__ import annotations

from redis import Redis

from app.infra import clock

WORKERS_KEY = "workers.alive"
SECONDS = 15


def alive(client: Redis) -> int:
    """Give how many workers said within the last seconds that they live; forget the others.

    Raises:
        RedisError, OSError: Redis cannot be reached.

    """
    since = clock.now().timestamp() - SECONDS
    client.zremrangebyscore(WORKERS_KEY, "-inf", since)
    count: int = client.zcard(WORKERS_KEY)
    return count


def say_alive(client: Redis, name: str) -> None:
    """Say that this worker lives.

    Raises:
        RedisError, OSError: Redis cannot be reached.

    """
    client.zadd(WORKERS_KEY, {name: clock.now().timestamp()})
