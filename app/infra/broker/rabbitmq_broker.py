"""Queues in RabbitMQ: quorum queues, to which messages are published with confirmation.

A connection of the client library must not be used by two threads at once, so a small pool holds them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import amqp
from amqp.exceptions import AMQPError
from kombu import Connection

from app.domain.kinds import Queue
from app.infra.broker.task_messages import CONTENT_ENCODING, CONTENT_TYPE, TaskMessage

CONNECTIONS = 8
CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 2.0
"""Longer than for Redis: a quorum queue confirms a message once it is on disk."""
IDLE_SECONDS = 25.0
"""A connection that was idle for longer is replaced: a firewall may have dropped it."""
QUORUM = {"x-queue-type": "quorum"}
_PERSISTENT = 2


@dataclass(slots=True)
class _Session:
    """An open connection with a channel in confirm mode."""

    connection: Any
    channel: Any
    used_at: float

    def close(self) -> None:
        """Close the socket without a handshake, for which a broken connection would wait."""
        with suppress(AMQPError, OSError):
            self.connection.collect()


class RabbitMqBroker:
    """Sends messages that RabbitMQ confirms, and counts those that wait."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: list[_Session] = []
        self._slots = threading.BoundedSemaphore(CONNECTIONS)

    def send(self, queue: Queue, messages: Sequence[TaskMessage]) -> None:
        """Append the messages to the queue; return once RabbitMQ has stored them.

        If RabbitMQ becomes unavailable meanwhile, some of the messages may have been sent.
        """
        with self._channel() as channel:
            for message in messages:
                channel.basic_publish_confirm(
                    channel.prepare_message(
                        message.body,
                        content_type=CONTENT_TYPE,
                        content_encoding=CONTENT_ENCODING,
                        headers=message.headers,
                        properties={"correlation_id": message.id, "delivery_mode": _PERSISTENT},
                    ),
                    routing_key=queue.value,
                    mandatory=True,  # RabbitMQ would confirm a message that it cannot route
                )

    def lengths(self, queues: Iterable[str]) -> list[int]:
        """Return how many messages wait in each of the queues; those that a worker has taken do not count."""
        with self._channel() as channel:
            return [channel.queue_declare(str(queue), passive=True).message_count for queue in queues]

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _channel(self) -> Iterator[Any]:
        """Yield a channel; after an error, close its connection."""
        if not self._slots.acquire(timeout=ANSWER_SECONDS):
            raise TimeoutError("all connections to RabbitMQ are in use")
        try:
            session = self._take()
            try:
                with session.connection.transport.having_timeout(ANSWER_SECONDS):
                    yield session.channel
            except AMQPError as error:
                session.close()
                raise ConnectionError(f"RabbitMQ: {type(error).__name__}") from error
            except BaseException:
                session.close()
                raise
            session.used_at = time.monotonic()
            self._idle.append(session)
        finally:
            self._slots.release()

    def _take(self) -> _Session:
        """Return the connection that was used last, or a new one."""
        with suppress(IndexError):
            session = self._idle.pop()
            if time.monotonic() - session.used_at <= IDLE_SECONDS:
                return session
            session.close()
        try:
            return _open(self._url)
        except AMQPError as error:
            raise ConnectionError(f"RabbitMQ: {type(error).__name__}") from error


def _open(url: str) -> _Session:
    """Connect, and declare the queues: a message may be sent before the first worker has started."""
    connection = connect(url)
    session = _Session(connection, None, time.monotonic())
    try:
        with connection.transport.having_timeout(ANSWER_SECONDS):
            session.channel = connection.channel()
            for queue in Queue:
                declare(session.channel, queue)
    except BaseException:
        session.close()
        raise
    return session


def connect(url: str) -> amqp.Connection:
    """Return a new connection.

    Raises:
        AMQPError, OSError: RabbitMQ refuses it, or cannot be reached.

    """
    return Connection(url, connect_timeout=CONNECT_SECONDS).transport.establish_connection()


def declare(channel: amqp.Channel, queue: Queue) -> None:
    """Create the queue unless it exists.

    Raises:
        AMQPError, OSError: it exists with another type, or RabbitMQ does not answer.

    """
    channel.queue_declare(queue.value, durable=True, auto_delete=False, arguments=QUORUM)
