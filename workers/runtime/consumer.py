"""Celery's consumer with a short delay between attempts to reconnect to Redis.

Celery increases the delay by two seconds per attempt, up to half a minute, and accepted jobs would wait as
long.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from celery.worker.consumer import Consumer as CeleryConsumer

MAX_RECONNECT_SECONDS = 3.0
"""Longest delay between two attempts; shorter than the time after which supervision reports a stall."""


class Consumer(CeleryConsumer):  # type: ignore[misc]  # Celery has no types
    """Celery's consumer with a short reconnect delay."""

    def ensure_connected(self, conn: Any) -> Any:  # noqa: ANN401 -- kombu's Connection
        """Connect to Redis, retrying until it succeeds."""
        conn.ensure_connection = partial(
            conn.ensure_connection, interval_start=1, interval_step=1, interval_max=MAX_RECONNECT_SECONDS
        )
        return super().ensure_connected(conn)
