"""Celery's consumer with a short delay between attempts to reconnect, and with rare task events.

Celery increases the delay by two seconds per attempt, up to half a minute, and accepted jobs would wait as
long. It publishes the events that Flower shows up to three times per task, which costs a third of a reveal.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from celery import bootsteps
from celery.worker.consumer import Consumer as CeleryConsumer
from kombu import Connection

MAX_RECONNECT_SECONDS = 3.0
"""Longest delay between two attempts; shorter than the time after which supervision reports a stall."""
POLL_SECONDS = 3.0
"""Interval at which an idle consumer polls Redis for a message; the default is a second."""
EVENT_SECONDS = 1.0
"""Shortest time between two publications of the collected task events."""
MAX_EVENTS = 1000
"""Number of collected events that are published at once."""


class Consumer(CeleryConsumer):  # type: ignore[misc]  # Celery has no types
    """Celery's consumer with a short reconnect delay, which leaves task events to `TaskEvents`."""

    class Blueprint(CeleryConsumer.Blueprint):  # type: ignore[misc]  # Celery has no types
        """Celery's steps, without the one that declares 28 queues for tasks with an ETA: there are none."""

        default_steps = [  # noqa: RUF012 -- as Celery's
            step for step in CeleryConsumer.Blueprint.default_steps if not step.endswith(":DelayedDelivery")
        ]

    def on_send_event_buffered(self) -> None:
        """Do nothing, where Celery would publish the event in the next turn of its loop."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._connected_at = -MAX_RECONNECT_SECONDS

    def ensure_connected(self, conn: Connection) -> object:
        """Connect to the broker, retrying until it succeeds.

        A Redis server that refuses writes accepts connections, so that the next read fails at once.
        """
        time.sleep(max(0.0, self._connected_at + MAX_RECONNECT_SECONDS - time.monotonic()))
        conn.ensure_connection = partial(
            conn.ensure_connection, interval_start=1, interval_step=1, interval_max=MAX_RECONNECT_SECONDS
        )
        conn.transport.brpop_timeout = POLL_SECONDS  # of Redis, which its channels read when they are created
        connected = super().ensure_connected(conn)
        self._connected_at = time.monotonic()
        return connected


class TaskEvents(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
    """Publishes the collected task events at most once a second.

    It has no timer of its own, which would wake an idle worker; kombu's wakes the loop every second anyway.
    """

    requires = ("celery.worker.consumer.events:Events",)

    def __init__(self, consumer: CeleryConsumer, **options: Any) -> None:
        self._dispatcher: Any = None
        self._published_at = 0.0
        super().__init__(consumer, **options)

    def start(self, consumer: CeleryConsumer) -> None:
        """Publish from now on; called again after each reconnection, with a new dispatcher."""
        self._dispatcher = consumer.event_dispatcher
        self._dispatcher.buffer_limit = MAX_EVENTS
        consumer.hub.on_tick.add(self._publish)

    def stop(self, consumer: CeleryConsumer) -> None:
        """Stop publishing; events of the last second are lost."""
        consumer.hub.on_tick.discard(self._publish)

    def _publish(self) -> None:
        now = time.monotonic()
        if now - self._published_at >= EVENT_SECONDS:
            self._published_at = now
            self._dispatcher.flush()
