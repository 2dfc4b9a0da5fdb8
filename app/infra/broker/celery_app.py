"""The Celery application of the workers, of beat and of Flower; the API publishes messages without it."""

from __future__ import annotations

from typing import Any

import kombu
from celery import Celery

from app import feature_registry
from app.domain.kinds import (
    AUDIT,
    ENCRYPT,
    FORGET,
    INDEX_MENTIONS,
    SWEEP,
    Queue,
)
from app.infra.broker import broker
from app.infra.broker.rabbitmq_broker import QUORUM
from app.settings import Settings

SECONDS_BETWEEN_SWEEPS_BY_BEAT = 60
"""Workers sweep about once a second; beat's sweeps are a fallback in case their threads have ended."""
SECONDS_BETWEEN_PURGES = 3600
SECONDS_BETWEEN_AUDITS = 300
SECONDS_BETWEEN_INDEXINGS = 60
SECONDS_BETWEEN_ENCRYPTIONS = 60

_PERIODS = {
    SWEEP: SECONDS_BETWEEN_SWEEPS_BY_BEAT,
    FORGET: SECONDS_BETWEEN_PURGES,
    AUDIT: SECONDS_BETWEEN_AUDITS,
    INDEX_MENTIONS: SECONDS_BETWEEN_INDEXINGS,
    ENCRYPT: SECONDS_BETWEEN_ENCRYPTIONS,
}
for _feature in feature_registry.parts("schedule"):
    _PERIODS |= _feature.PERIODS


def _periodic(task: str, seconds: int) -> dict[str, Any]:
    """Return the schedule of a task. A message that no worker takes for a period expires, except a purge."""
    expiry = {} if task == FORGET else {"expires": seconds}
    return {"task": task, "schedule": seconds, "options": {"queue": Queue.UPKEEP.value} | expiry}


BEAT_SCHEDULE = {task: _periodic(task, seconds) for task, seconds in _PERIODS.items()}

REDIS = {
    "broker_transport_options": {
        "ack_emulation": False,
        "priority_steps": [0],
        "socket_timeout": 5,
        "socket_connect_timeout": 1,
        "health_check_interval": 25,
    }
}
RABBITMQ = {
    # Celery finds from the type of these queues that it must not use global QoS, which quorum queues lack.
    "task_queues": [
        kombu.Queue(queue.value, kombu.Exchange(""), queue.value, queue_arguments=QUORUM) for queue in Queue
    ],
    "task_default_queue": Queue.UPKEEP.value,
    "broker_transport_options": {"confirm_publish": True},
    "broker_heartbeat": 30,
    # Workers of one name on one machine share a control queue, as with Redis; it is durable, because RabbitMQ
    # deprecates queues that are neither durable nor exclusive.
    "control_queue_exclusive": False,
    "control_queue_durable": True,
}

celery = Celery("contact-lookup")


def configure(settings: Settings) -> Celery:
    """Configure Celery for a broker that may lose messages, and return it (docs/decisions/0002)."""
    celery.conf.update(
        broker_url=settings.queue_url,
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
        broker_channel_error_retry=True,  # a Redis server that refuses writes: read-only, or out of memory
        broker_pool_acquire_timeout=1,
        timezone="UTC",
        beat_schedule=BEAT_SCHEDULE,
        **(RABBITMQ if broker.is_rabbitmq(settings.queue_url) else REDIS),
    )
    return celery
