"""The publisher of the messages in the queues.

A message carries only the ids of jobs and may be lost. The jobs' rows are authoritative, and the sweeper
publishes lost messages again. Therefore no call here waits long for the broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from redis.exceptions import RedisError

from app.domain.kinds import KINDS, Queue
from app.infra.broker import broker, redis_client, task_messages
from app.infra.circuit_breaker import CircuitOpen
from app.infra.telemetry import metrics

MAX_NAMED = 16
"""The most jobs that a message names."""


class JobPublisher:
    """Publishes job ids to the queues in Celery's message protocol 2.

    The queues are in Redis, unless `broker_url` names another broker. Locks are always in Redis.
    """

    def __init__(self, redis_url: str, broker_url: str = "") -> None:
        self._redis = redis_client.guarded(redis_url)
        self._queues = broker.guarded(broker_url or redis_url)

    def publish(self, kind: str, job_ids: Iterable[str]) -> bool:
        """Publish new jobs to the queue of their kind; return False at once if the broker is unavailable.

        A message names several jobs of a queue whose jobs may be settled together.
        """
        queue = KINDS[kind].queue
        return self._send(kind, queue, _parts(list(job_ids), MAX_NAMED if queue is Queue.INTERACTIVE else 1))

    def push(self, task: str, queue: Queue, ids: Iterable[str]) -> bool:
        """Publish a message of the task for each id; return False at once if the broker is unavailable."""
        return self._send(task, queue, ([id_] for id_ in ids))

    def _send(self, task: str, queue: Queue, groups: Iterable[Sequence[str]]) -> bool:
        messages = [task_messages.build(task, *ids) for ids in groups]
        if not messages:
            return True
        try:
            with self._queues.breaker:
                self._queues.broker.send(queue, messages)
        except broker.UNAVAILABLE:
            metrics.SENDS.labels(outcome="unreachable").inc(len(messages))
            return False
        metrics.SENDS.labels(outcome="sent").inc(len(messages))
        return True

    def try_lock(self, name: str, seconds: float) -> bool:
        """Lock `name` for all processes for `seconds`; return whether it was free.

        Without Redis it is free for every process.
        """
        try:
            with self._redis.breaker:
                key = f"lock.{name}"
                return bool(self._redis.client.set(key, b"", nx=True, px=max(1, round(seconds * 1000))))
        except (RedisError, OSError, CircuitOpen):
            return True

    def depth(self, queue: Queue) -> int:
        """Return the number of messages in the queue.

        Raises:
            RedisError, OSError, CircuitOpen: the broker is unavailable.

        """
        with self._queues.breaker:
            return self._queues.broker.lengths([queue])[0]

    def is_empty(self, queue: Queue) -> bool:
        """Return whether no message waits in the queue; False if the broker is unavailable."""
        try:
            return self.depth(queue) == 0
        except broker.UNAVAILABLE:
            return False

    def is_full(self, queue: Queue, limit: int) -> bool:
        """Return whether the queue has more messages than the limit, or the broker is unavailable."""
        try:
            return self.depth(queue) > limit
        except broker.UNAVAILABLE:
            return True


def _parts(ids: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))
