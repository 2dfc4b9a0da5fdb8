"""The Celery application of the workers, of beat and of Flower; the API publishes messages without it."""

from __future__ import annotations

from celery import Celery

from app.domain.kinds import AUDIT, FORGET, REVERIFY, SWEEP, Queue
from app.settings import Settings

SECONDS_BETWEEN_SWEEPS_BY_BEAT = 60
"""Workers sweep about once a second; beat's sweeps are a fallback in case their threads have ended."""
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
