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
        self._correct_last_runs()
        seconds: float = super().tick(*arguments, **options)
        return seconds

    def _correct_last_runs(self) -> None:
        """Let the periods of tasks begin now that ran at a later time, because the clock has gone back.

        Celery would not send them until that time has come, also after a restart: the times are stored.
        """
        for entry in self.schedule.values():
            now = entry.default_now()
            if entry.last_run_at > now:
                entry.last_run_at = now
                self._heap = None  # the times of the next runs are computed anew
