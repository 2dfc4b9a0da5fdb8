"""The scheduler of Celery beat, which records that it runs."""

from __future__ import annotations

from celery.beat import PersistentScheduler

from app import settings
from app.infra.broker import beat_heartbeat


class Scheduler(PersistentScheduler):  # type: ignore[misc]  # Celery has no types
    """Celery's scheduler with a heartbeat at each turn; a turn follows within ten seconds."""

    def tick(self, *arguments: object, **options: object) -> float:
        """Record the heartbeat and send the tasks that are due; return the seconds until the next turn."""
        beat_heartbeat.record(settings.load().redis_url)
        self._correct_last_runs()
        seconds: float = super().tick(*arguments, **options)
        return seconds

    def _correct_last_runs(self) -> None:
        """Set the last run of a task to now if it is in the future, because the clock has gone back.

        Otherwise Celery would not send the task until then, not even after a restart: the times are stored.
        """
        for entry in self.schedule.values():
            now = entry.default_now()
            if entry.last_run_at > now:
                entry.last_run_at = now
                self._heap = None  # Celery recomputes the times of the next runs
