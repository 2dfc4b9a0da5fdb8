"""Celery's consumer with a short delay between attempts to reconnect to Redis, and with rare task events.

Celery increases the delay by two seconds per attempt, up to half a minute, and accepted jobs would wait as
long. It publishes the events that Flower shows up to three times per task, which costs a third of a reveal.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from celery import bootsteps
from celery.worker.consumer import Consumer as CeleryConsumer

MAX_RECONNECT_SECONDS = 3.0
"""Longest delay between two attempts; shorter than the time after which supervision reports a stall."""
POLL_SECONDS = 3.0
"""After which an idle consumer asks Redis again for a message: by default, it does so every second."""
EVENT_SECONDS = 1.0
"""Between two publications of the task events that have been collected."""
MAX_EVENTS = 1000
"""As many collected events are published at once."""


class Consumer(CeleryConsumer):  # type: ignore[misc]  # Celery has no types
    """Celery's consumer with a short reconnect delay, which leaves task events to `TaskEvents`."""

    def on_send_event_buffered(self) -> None:
        """Do nothing, where Celery would publish the event in the next turn of its loop."""

    def ensure_connected(self, conn: Any) -> Any:  # noqa: ANN401 -- kombu's Connection
        """Connect to Redis, retrying until it succeeds."""
        conn.ensure_connection = partial(
            conn.ensure_connection, interval_start=1, interval_step=1, interval_max=MAX_RECONNECT_SECONDS
        )
        conn.transport.brpop_timeout = POLL_SECONDS  # which its channels read when they are created
        return super().ensure_connected(conn)


class TaskEvents(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
    """Publishes the collected task events once a second."""

    requires = ("celery.worker.consumer.events:Events",)

    def __init__(self, consumer: Any, **options: Any) -> None:  # noqa: ANN401 -- Celery's Consumer
        self._entry: Any = None
        super().__init__(consumer, **options)

    def start(self, consumer: Any) -> None:  # noqa: ANN401 -- Celery's Consumer
        """Publish from now on; called again after each reconnection, with a new dispatcher."""
        self.stop(consumer)
        dispatcher = consumer.event_dispatcher
        dispatcher.buffer_limit = MAX_EVENTS
        self._entry = consumer.timer.call_repeatedly(EVENT_SECONDS, dispatcher.flush)

    def stop(self, consumer: Any) -> None:  # noqa: ANN401 -- Celery's Consumer
        """Stop publishing; events of the last second are lost."""
        if self._entry is not None:
            consumer.timer.cancel(self._entry)
            self._entry = None
