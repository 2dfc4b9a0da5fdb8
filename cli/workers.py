"""`flask workers`: lists the workers and their state."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from app.engine.queues import worker_heartbeats
from app.engine.queues.worker_heartbeats import WorkerRecord
from app.infra.clock import rfc3339
from app.infra.database import database_clock
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.tables import table

group = DatabaseGroup("workers", help="Show the workers, their queues and their state.")
COLUMNS = ("name", "queues", "state", "busy", "threads", "since", "last_seen", "last_taken", "last_ended")


@group.command("list")
@as_json_option
def list_known(*, as_json: bool) -> None:
    """List the workers with a heartbeat within the last day.

    The state is working, without_queue (alive, but consuming nothing), stopping, or silent (no heartbeat for
    15 seconds).
    """
    with database().reading() as session:
        now = database_clock.value(session)
        workers_json = [_to_json(row, now=now) for row in worker_heartbeats.list_all(session)]
    rows = (
        [*worker.values()] for worker in (row | {"queues": ",".join(row["queues"])} for row in workers_json)
    )
    none = "No worker ran within the last day. Start those of the Procfile."
    show({"workers": workers_json}, table(COLUMNS, rows) if workers_json else none, as_json=as_json)


def _to_json(row: WorkerRecord, *, now: datetime) -> dict[str, Any]:
    return {
        "name": row.name,
        "queues": row.queues,
        "state": worker_heartbeats.state(row, now=now).value,
        "busy": row.busy,
        "threads": row.threads,
        "since": rfc3339(row.started_at),
        "last_seen": rfc3339(row.seen_at),
        "last_taken": rfc3339(row.taken_at),
        "last_ended": rfc3339(row.ended_at),
    }
