"""The consumer: Celery's, but back at the queue seconds after Redis is, however long it was away.

Celery waits two seconds longer after each attempt, up to half a minute; every accepted job would wait too.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from celery.worker.consumer import Consumer as CeleryConsumer

MAX_RECONNECT_SECONDS = 3.0
"""Seconds between two attempts to reach Redis; supervision waits longer than that before it judges."""


class Consumer(CeleryConsumer):  # type: ignore[misc]  # Celery has no types
    """Celery's consumer with a short pause between its attempts to connect."""

    def ensure_connected(self, conn: Any) -> Any:  # noqa: ANN401 -- kombu's Connection
        """Connect, trying again soon as often as it takes."""
        conn.ensure_connection = partial(
            conn.ensure_connection, interval_start=1, interval_step=1, interval_max=MAX_RECONNECT_SECONDS
        )
        return super().ensure_connected(conn)
