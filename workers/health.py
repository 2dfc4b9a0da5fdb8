"""Health check of a worker: `python -m workers.health interactive` checks this machine's worker.

It reads the worker's heartbeat and the backlog of its queue. The exit code is 1 if the worker makes no
progress, and the output states the reason; a ping would only show that the process answers pings.
"""

from __future__ import annotations

import re
import socket
import sys
from datetime import timedelta

from app import settings as app_settings
from app.domain.errors import Unavailable
from app.domain.kinds import Queue
from app.engine.queues import backlog, worker_heartbeats
from app.engine.queues.worker_heartbeats import WorkerRecord, WorkerState
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers import invalid_settings

TIMEOUT_SECONDS = 4.0
USAGE_ERROR = 2


def main(arguments: list[str]) -> int:
    """Check the worker of the queue, print the result and return the exit code."""
    if len(arguments) != 1 or arguments[0] not in set(Queue):
        sys.stdout.write(f"Name the queue of the worker: {', '.join(Queue)}.\n")
        return USAGE_ERROR
    queue = Queue(arguments[0])
    with invalid_settings.reported():
        settings = app_settings.load()
        database = Database(settings.database_url, seconds=TIMEOUT_SECONDS)
    try:
        with database.reading() as session:
            problem = diagnose(session, queue, socket.gethostname(), settings)
    except Unavailable:
        problem = "The database cannot be reached, so the worker cannot work."
    finally:
        database.close()
    sys.stdout.write(f"{problem or 'healthy'}\n")
    return 1 if problem else 0


def diagnose(session: Session, queue: Queue, machine: str, settings: Settings) -> str | None:
    """Return what is wrong with the workers of the queue on this machine; None if one is healthy."""
    now = database_clock.value(session)
    named = re.compile(rf"{queue}(-\w+)?@{re.escape(machine)}:")  # with systemd, also with a number
    rows = [row for row in worker_heartbeats.list_all(session) if named.match(row.name)]
    working = [row for row in rows if worker_heartbeats.state(row, now=now) is WorkerState.WORKING]
    if not working:
        return _describe(rows)
    wait = backlog.oldest_waits(session, now=now)[queue]
    is_idle = any(row.busy < row.threads for row in working)
    if is_idle and wait > timedelta(seconds=settings.ready_progress_seconds):
        return f"A job has waited {wait.total_seconds():.0f} s although the worker has idle threads."
    return None


def _describe(rows: list[WorkerRecord]) -> str:
    if not rows:
        return "No heartbeat from this worker yet: it is starting, or it cannot reach the database."
    last = max(rows, key=lambda row: row.seen_at)
    return f"The worker does not consume: it reported {last.state} at {clock.rfc3339(last.seen_at)}."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
