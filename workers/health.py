"""A worker's health: `python -m workers.health interactive` says whether this machine's worker gets on.

It looks at what the worker wrote of itself and at the jobs of its queue. The exit code is 1 if it does not
get on, and the sentence says why; a ping would only tell that the process can still answer pings.
"""

from __future__ import annotations

import socket
import sys
from datetime import timedelta

from sqlalchemy.orm import Session

from app import settings as app_settings
from app.core.queues import backlog, worker_heartbeats
from app.core.queues.worker_heartbeats import WorkerRecord, WorkerState
from app.domain.errors import Unavailable
from app.domain.kinds import Queue
from app.infra import clock, database_clock
from app.infra.db import Database
from app.settings import Settings

TIMEOUT_SECONDS = 4.0


def main(arguments: list[str]) -> int:
    """Look at the worker of the queue; give the exit code."""
    queue = Queue(arguments[0])
    settings = app_settings.load()
    database = Database(settings.database_url, seconds=TIMEOUT_SECONDS)
    try:
        with database.reading() as session:
            trouble = diagnose(session, queue, f"{queue}@{socket.gethostname()}:", settings)
    except Unavailable:
        trouble = "The database cannot be reached, so the worker cannot work."
    finally:
        database.engine.dispose()
    sys.stdout.write(f"{trouble or 'It gets on.'}\n")
    return 1 if trouble else 0


def diagnose(session: Session, queue: Queue, prefix: str, settings: Settings) -> str | None:
    """Say what is wrong with the worker whose name begins so; None if it gets on."""
    now = database_clock.value(session)
    rows = [row for row in worker_heartbeats.known(session) if row.name.startswith(prefix)]
    working = [row for row in rows if worker_heartbeats.state(row, now=now) is WorkerState.WORKING]
    if not working:
        return _why(rows)
    wait = backlog.oldest_waits(session, now=now)[queue]
    has_time = any(row.busy < row.threads for row in working)
    if has_time and wait > timedelta(seconds=settings.ready_progress_seconds):
        return f"A job has waited {wait.total_seconds():.0f} s, and the worker has threads that do nothing."
    return None


def _why(rows: list[WorkerRecord]) -> str:
    if not rows:
        return "The worker never said that it lives: is it starting, or can it not reach the database?"
    last = max(rows, key=lambda row: row.seen_at)
    return f"The worker does not consume: it said {last.state} at {clock.rfc3339(last.seen_at)}."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
