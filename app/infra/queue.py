"""The queue: the Celery application and the publisher of its messages.

A message carries only a job's id and may be lost. The job's row is authoritative, and the sweeper publishes
lost messages again. Therefore no call here waits long for Redis.
"""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterable
from typing import Any

from celery import Celery
from redis.exceptions import RedisError

from app.domain.kinds import AUDIT, FORGET, QUEUES, REVERIFY, SWEEP, Kind, Queue
from app.infra import metrics, redis_client
from app.infra.circuit_breaker import CircuitOpen
from app.settings import Settings

SECONDS_BETWEEN_SWEEPS_BY_BEAT = 10
SECONDS_BETWEEN_PURGES = 3600
SECONDS_BETWEEN_REVERIFICATIONS = 600
SECONDS_BETWEEN_AUDITS = 300

BEAT_SCHEDULE = {
    SWEEP: {
        "task": SWEEP,
        "schedule": SECONDS_BETWEEN_SWEEPS_BY_BEAT,
        "options": {"queue": Queue.UPKEEP.value, "expires": SECONDS_BETWEEN_SWEEPS_BY_BEAT},
    },
    FORGET: {
        "task": FORGET,
        "schedule": SECONDS_BETWEEN_PURGES,
        "options": {"queue": Queue.UPKEEP.value},
    },
    REVERIFY: {
        "task": REVERIFY,
        "schedule": SECONDS_BETWEEN_REVERIFICATIONS,
        "options": {"queue": Queue.UPKEEP.value, "expires": SECONDS_BETWEEN_REVERIFICATIONS},
    },
    AUDIT: {
        "task": AUDIT,
        "schedule": SECONDS_BETWEEN_AUDITS,
        "options": {"queue": Queue.UPKEEP.value, "expires": SECONDS_BETWEEN_AUDITS},
    },
}

celery = Celery("contact-lookup")


def configure(settings: Settings) -> Celery:
    """Configure Celery for a broker that may lose messages, and return it (docs/decisions/0002)."""
    celery.conf.update(
        broker_url=settings.redis_url,
        result_backend=None,
        task_ignore_result=True,
        task_acks_late=False,
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        worker_send_task_events=True,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_pool_acquire_timeout=1,
        broker_transport_options={
            "ack_emulation": False,
            "priority_steps": [0],
            "socket_timeout": 5,
            "socket_connect_timeout": 1,
            "health_check_interval": 25,
        },
        timezone="UTC",
        beat_schedule=BEAT_SCHEDULE,
    )
    return celery


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
