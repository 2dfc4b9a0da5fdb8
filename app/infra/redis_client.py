"""Redis clients with explicit timeouts and without automatic retries."""

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
    """Return a client with short timeouts and a pool of connections."""
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=CONNECTIONS,
        timeout=answer_seconds,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=answer_seconds,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=25,
    )
    return Redis.from_pool(pool)  # closing the client closes its connections


@dataclass(frozen=True, slots=True)
class GuardedRedis:
    """A client and the circuit breaker that all of its callers share."""

    client: Redis
    breaker: CircuitBreaker


@cache
def guarded(url: str) -> GuardedRedis:
    """Return the shared client of this process; during an outage only one trial call at a time waits."""
    return GuardedRedis(connect(url), CircuitBreaker(RedisError, OSError))
