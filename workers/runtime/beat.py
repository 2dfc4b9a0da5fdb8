"""The scheduler of Celery beat, which records that it runs."""

from __future__ import annotations

from celery.beat import PersistentScheduler

from app import settings
from app.infra import beat_heartbeat


class Scheduler(PersistentScheduler):  # type: ignore[misc]  # Celery has no types
    """Celery's scheduler with a heartbeat at each turn; a turn follows within five seconds."""

    def tick(self, *arguments: object, **options: object) -> float:
        """Record the heartbeat and send the tasks that are due; return the seconds until the next turn."""
        beat_heartbeat.record(settings.load().redis_url)
        seconds: float = super().tick(*arguments, **options)
        return seconds
