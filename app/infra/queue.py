"""The publisher of the messages in the queues.

A message carries only a job's id and may be lost. The job's row is authoritative, and the sweeper publishes
lost messages again. Therefore no call here waits long for Redis.
"""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterable
from typing import Any

from redis.exceptions import RedisError

from app.domain.kinds import QUEUES, Kind, Queue
from app.infra import metrics, redis_client
from app.infra.circuit_breaker import CircuitOpen


class JobPublisher:
    """Publishes job ids to the queues in Celery's message protocol 2, in one round trip."""

    def __init__(self, url: str) -> None:
        self._redis = redis_client.guarded(url)

    def publish(self, kind: Kind, job_ids: Iterable[str]) -> bool:
        """Publish the jobs to the queue of their kind; return False at once if Redis is unavailable."""
        return self.push(kind.value, QUEUES[kind], job_ids)

    def push(self, task: str, queue: Queue, ids: Iterable[str]) -> bool:
        """Publish a message of the task for each id; return False at once if Redis is unavailable."""
        messages = [message(task, queue.value, job_id) for job_id in ids]
        if not messages:
            return True
        try:
            with self._redis.breaker:
                self._redis.client.lpush(queue.value, *messages)
        except (RedisError, OSError, CircuitOpen):
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
            RedisError, OSError, CircuitOpen: Redis is unavailable.

        """
        with self._redis.breaker:
            length: int = self._redis.client.llen(queue.value)
        return length


def message(task: str, queue: str, job_id: str) -> str:
    """Return a message in the format of Celery's workers.

    Source: docs.celeryq.dev, "Message Protocol", version 2; the envelope is kombu's virtual transport.
    """
    task_id = str(uuid.uuid4())
    body: list[Any] = [
        [job_id],
        {},
        {"callbacks": None, "errbacks": None, "chain": None, "chord": None},
    ]
    return json.dumps(
        {
            "body": base64.b64encode(json.dumps(body).encode()).decode(),
            "content-encoding": "utf-8",
            "content-type": "application/json",
            "headers": {
                "lang": "py",
                "task": task,
                "id": task_id,
                "root_id": task_id,
                "parent_id": None,
                "group": None,
                "retries": 0,
                "timelimit": [None, None],
                "eta": None,
                "expires": None,
                "argsrepr": f"({job_id!r},)",
                "kwargsrepr": "{}",
                "ignore_result": True,
                "origin": "api",
            },
            "properties": {
                "correlation_id": task_id,
                "delivery_mode": 1,
                "delivery_info": {"exchange": "", "routing_key": queue},
                "priority": 0,
                "body_encoding": "base64",
                "delivery_tag": task_id,
            },
        }
    )
