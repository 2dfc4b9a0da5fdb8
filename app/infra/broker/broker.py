"""The broker that holds the queues: Redis or Valkey, or RabbitMQ."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from redis.exceptions import RedisError

from app.domain.kinds import Queue
from app.infra.broker import redis_client
from app.infra.broker.rabbitmq_broker import RabbitMqBroker
from app.infra.broker.redis_broker import RedisBroker
from app.infra.broker.task_messages import TaskMessage
from app.infra.circuit_breaker import CircuitBreaker, CircuitOpen

ERRORS = (RedisError, OSError)
"""What a broker raises if it is unavailable."""
UNAVAILABLE = (*ERRORS, CircuitOpen)
"""What a guarded call raises if the broker is unavailable."""


class Broker(Protocol):
    """Sends messages to queues and counts those that wait. Both methods raise one of `ERRORS`."""

    def send(self, queue: Queue, messages: Sequence[TaskMessage]) -> None:
        """Append the messages to the queue."""

    def lengths(self, queues: Iterable[str]) -> list[int]:
        """Return how many messages wait in each of the queues."""


@dataclass(frozen=True, slots=True)
class GuardedBroker:
    """A broker, and the circuit breaker that all of its callers share."""

    broker: Broker
    breaker: CircuitBreaker


def is_rabbitmq(url: str) -> bool:
    """Return whether the URL names RabbitMQ."""
    return url.startswith(("amqp://", "amqps://"))


def connect(url: str) -> Broker:
    """Return the broker of this URL, with connections of its own that it opens when they are needed."""
    return RabbitMqBroker(url) if is_rabbitmq(url) else RedisBroker(redis_client.connect(url))


def guarded(url: str) -> GuardedBroker:
    """Return the shared broker of this process; during an outage only one trial call at a time waits."""
    if is_rabbitmq(url):
        return _guarded_rabbitmq(url, os.getpid())
    redis = redis_client.guarded(url)
    return GuardedBroker(RedisBroker(redis.client), redis.breaker)


@cache
def _guarded_rabbitmq(url: str, _process: int) -> GuardedBroker:
    """Return the broker of one process: connections must not be shared across a fork."""
    return GuardedBroker(RabbitMqBroker(url), CircuitBreaker(*ERRORS))
