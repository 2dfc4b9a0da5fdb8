"""Links from jobs to the traces of the requests that submitted them, stored in Redis.

They are not part of the messages, because a worker may run another job than the one that its message names.
"""

from __future__ import annotations

from redis.exceptions import RedisError

from app.infra.broker import redis_client
from app.infra.circuit_breaker import CircuitOpen
from app.infra.telemetry import tracing

LIFETIME_SECONDS = 7200
"""Longer than a job may take with the default JOB_DEADLINE_SECONDS; a later run starts a trace of its own."""


def remember(url: str, job_id: str) -> None:
    """Store the current span as the parent of the job's spans; do nothing without a span or without Redis."""
    parent = tracing.traceparent()
    if parent is None:
        return
    guarded = redis_client.guarded(url)
    try:
        with guarded.breaker:
            guarded.client.set(_key(job_id), parent, ex=LIFETIME_SECONDS)
    except (RedisError, OSError, CircuitOpen):
        return


def parent_of(url: str, job_id: str) -> str | None:
    """Return the traceparent of the request that submitted the job; None if it is unknown."""
    if not tracing.is_on():
        return None
    guarded = redis_client.guarded(url)
    try:
        with guarded.breaker:
            stored = guarded.client.get(_key(job_id))
    except (RedisError, OSError, CircuitOpen):
        return None
    return stored.decode() if isinstance(stored, bytes) else stored


def _key(job_id: str) -> str:
    return f"trace.{job_id}"
