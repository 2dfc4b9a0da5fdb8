"""Connections to Redis: every one with its timeouts set on purpose, and none that retries by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from redis import BlockingConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from app.infra.circuit_breaker import CircuitBreaker

CONNECT_SECONDS = 0.3
ANSWER_SECONDS = 0.3
CONNECTIONS = 50


def connect(url: str, *, answer_seconds: float = ANSWER_SECONDS) -> Redis:
    """Make a client whose calls end soon, one way or the other; callers share its connections in turn."""
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=CONNECTIONS,
        timeout=answer_seconds,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=answer_seconds,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=25,
    )
    return Redis(connection_pool=pool)


@dataclass(frozen=True, slots=True)
class GuardedRedis:
    """A client, and the fuse that all of its callers share: one of them finds out for the others."""

    client: Redis
    fuse: CircuitBreaker


@cache
def guarded(url: str) -> GuardedRedis:
    """Give this process's line to the server: while it is away, only one call in a while waits for it."""
    return GuardedRedis(connect(url), CircuitBreaker(RedisError, OSError))
