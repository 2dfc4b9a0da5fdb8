"""Celery's consumer with a short delay between attempts to reconnect, and less work for each task.

Celery increases the delay by two seconds per attempt, up to half a minute, and accepted jobs would wait as
long. It publishes the events that Flower shows up to three times per task, which costs a third of a reveal.
For each task it also wakes its loop to acknowledge the message, which costs a worker a tenth of a reveal.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from celery import bootsteps
from celery.worker.consumer import Consumer as CeleryConsumer
from kombu.transport import virtual

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

    def __init__(self, *args: Any, **options: Any) -> None:
        self._acknowledging = threading.Lock()
        super().__init__(*args, **options)

    def call_soon_ack(self, p: Callable[..., object], *args: Any, **options: Any) -> object:
        """Acknowledge or reject a message in this thread, unless the broker must be told of it.

        Celery leaves it to its loop. If Redis is the broker, a message is only deleted from those that are
        counted as prefetched. When they were as many as the limit, the loop waits for no further messages,
        and is woken. The lock keeps two threads from each relying on the other to do so.
        """
        qos = getattr(self.task_consumer and self.task_consumer.channel, "qos", None)
        if qos is None or type(qos) is not virtual.QoS:  # the others tell the broker
            return super().call_soon_ack(p, *args, **options)
        with self._acknowledging:
            p(*args, **options)
            was_full = qos.can_consume_max_estimate() <= 1
        if was_full:
            self.hub.call_soon(_wake)
        return p

    def on_send_event_buffered(self) -> None:
        """Do nothing, where Celery would publish the event in the next turn of its loop."""

    def ensure_connected(self, conn: Any) -> Any:  # noqa: ANN401 -- kombu's Connection
        """Connect to the broker, retrying until it succeeds."""
        conn.ensure_connection = partial(
            conn.ensure_connection, interval_start=1, interval_step=1, interval_max=MAX_RECONNECT_SECONDS
        )
        conn.transport.brpop_timeout = POLL_SECONDS  # of Redis, which its channels read when they are created
        return super().ensure_connected(conn)


def _wake() -> None:
    """Do nothing: the loop of the consumer that is woken to call this asks for messages again."""


class TaskEvents(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
    """Publishes the collected task events at most once a second.

    It has no timer of its own, which would wake an idle worker; kombu's wakes the loop every second anyway.
    """

    requires = ("celery.worker.consumer.events:Events",)

    def __init__(self, consumer: Any, **options: Any) -> None:  # noqa: ANN401 -- Celery's Consumer
        self._dispatcher: Any = None
        self._published_at = 0.0
        super().__init__(consumer, **options)

    def start(self, consumer: Any) -> None:  # noqa: ANN401 -- Celery's Consumer
        """Publish from now on; called again after each reconnection, with a new dispatcher."""
        self._dispatcher = consumer.event_dispatcher
        self._dispatcher.buffer_limit = MAX_EVENTS
        consumer.hub.on_tick.add(self._publish)

    def stop(self, consumer: Any) -> None:  # noqa: ANN401 -- Celery's Consumer
        """Stop publishing; events of the last second are lost."""
        consumer.hub.on_tick.discard(self._publish)

    def _publish(self) -> None:
        now = time.monotonic()
        if now - self._published_at >= EVENT_SECONDS:
            self._published_at = now
            self._dispatcher.flush()
