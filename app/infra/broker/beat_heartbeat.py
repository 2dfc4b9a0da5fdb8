"""The heartbeat of Celery beat: a key in Redis whose remaining lifetime shows when beat last ran."""

from __future__ import annotations

import math

from redis import Redis
from redis.exceptions import RedisError

from app.infra.broker import redis_client
from app.infra.circuit_breaker import CircuitOpen

KEY = "contact-lookup:beat"
LIFETIME_MILLISECONDS = 3_600_000


def record(url: str) -> None:
    """Set the key; do nothing if Redis is unavailable."""
    guarded = redis_client.guarded(url)
    try:
        with guarded.breaker:
            guarded.client.set(KEY, b"", px=LIFETIME_MILLISECONDS)
    except (RedisError, OSError, CircuitOpen):
        return


def age_seconds(client: Redis) -> float:
    """Return the seconds since beat last ran by Redis's clock; infinity if it has not for an hour."""
    remaining: int = client.pttl(KEY)
    return math.inf if remaining < 0 else (LIFETIME_MILLISECONDS - remaining) / 1000
