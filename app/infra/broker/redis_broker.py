"""Queues in Redis or Valkey: lists, in the layout of kombu's virtual transport."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence

from redis import Redis

from app.domain.kinds import Queue
from app.infra.broker.task_messages import CONTENT_ENCODING, CONTENT_TYPE, TaskMessage


class RedisBroker:
    """Sends all messages of a call, or counts the messages of all queues, in one round trip."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    def send(self, queue: Queue, messages: Sequence[TaskMessage]) -> None:
        """Append the messages to the queue."""
        self._client.lpush(queue.value, *(envelope(message, queue.value) for message in messages))

    def lengths(self, queues: Iterable[str]) -> list[int]:
        """Return how many messages wait in each of the queues."""
        with self._client.pipeline(transaction=False) as pipeline:
            for queue in queues:
                pipeline.llen(str(queue))
            lengths: list[int] = pipeline.execute()
        return lengths


def envelope(message: TaskMessage, queue: str) -> str:
    """Return the message as kombu stores it in the list of the queue."""
    return json.dumps(
        {
            "body": base64.b64encode(message.body.encode()).decode(),
            "content-encoding": CONTENT_ENCODING,
            "content-type": CONTENT_TYPE,
            "headers": message.headers,
            "properties": {
                "correlation_id": message.id,
                "delivery_mode": 1,
                "delivery_info": {"exchange": "", "routing_key": queue},
                "priority": 0,
                "body_encoding": "base64",
                "delivery_tag": message.id,
            },
        }
    )
