"""Heartbeats of workers: which are alive, which queues they consume, and when they last made progress.

Each worker writes its row every few seconds. A row reports progress and is not a mere ping: the state of
the worker's queue connection, the number of busy threads, and when it last took and finished a message.
Times are the database's, so that hosts with different clocks agree on which workers are alive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.kinds import Queue
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

HEARTBEAT_TIMEOUT = timedelta(seconds=15)
"""A worker without a heartbeat for this long is considered offline."""
LOST_FOR = timedelta(minutes=10)
"""How long a worker that ended without shutting down counts as lost."""
RETENTION = timedelta(days=1)


class WorkerState(StrEnum):
    """The state that a worker reports; `OFFLINE` is derived from a missing heartbeat."""

    WORKING = "working"
    WITHOUT_QUEUE = "without_queue"
    STOPPING = "stopping"
    OFFLINE = "silent"


class WorkerRecord(Base):
    """A worker process; its name is Celery's node name and the process id, `interactive@host:4711`.

    `taken_at` is when it last took a message from its queues, `ended_at` when it last finished one.
    `clock_offset` is the number of seconds its clock is ahead of the database's. `refused` counts the
    messages about jobs that it could not claim, by reason (`claims.Refusal`).
    """

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(primary_key=True)
    queues: Mapped[list[Any]]
    threads: Mapped[int]
    busy: Mapped[int]
    state: Mapped[str]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    taken_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    clock_offset: Mapped[float]
    refused: Mapped[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """The report of a worker: `busy` of its `threads` are working; event times are seconds ago."""

    name: str
    queues: tuple[str, ...]
    threads: int
    busy: int
    state: WorkerState
    up_seconds: float
    taken_seconds_ago: float | None = None
    ended_seconds_ago: float | None = None
    clock_offset: float = 0.0
    refused: Mapping[str, int] = field(default_factory=dict)


def record_heartbeat(session: Session, heartbeat: Heartbeat, *, now: Moment) -> None:
    """Insert or update the row of this worker."""
    values = {
        "queues": list(heartbeat.queues),
        "threads": heartbeat.threads,
        "busy": heartbeat.busy,
        "state": heartbeat.state.value,
        "started_at": now - timedelta(seconds=heartbeat.up_seconds),
        "seen_at": now,
        "taken_at": _before(now, heartbeat.taken_seconds_ago),
        "ended_at": _before(now, heartbeat.ended_seconds_ago),
        "clock_offset": heartbeat.clock_offset,
        "refused": dict(heartbeat.refused),
    }
    statement = insert(session, WorkerRecord).values(name=heartbeat.name, **values)
    session.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))


def remove(session: Session, name: str) -> None:
    """Delete the row of this worker."""
    session.execute(delete(WorkerRecord).where(WorkerRecord.name == name))


def list_all(session: Session) -> list[WorkerRecord]:
    """Return the stored workers, ordered by name."""
    return list(session.scalars(select(WorkerRecord).order_by(WorkerRecord.name)))


def state(worker: WorkerRecord, *, now: datetime) -> WorkerState:
    """Return the state of the worker; OFFLINE without a recent heartbeat."""
    return WorkerState(worker.state) if worker.seen_at > now - HEARTBEAT_TIMEOUT else WorkerState.OFFLINE


def count_lost(session: Session, *, now: datetime) -> dict[Queue, int]:
    """Count, per queue, the workers that went silent in the last LOST_FOR; one that shuts down has no row."""
    query = select(WorkerRecord.queues).where(
        WorkerRecord.seen_at <= now - HEARTBEAT_TIMEOUT, WorkerRecord.seen_at > now - LOST_FOR
    )
    lost = Counter(name for queues in session.scalars(query) for name in queues)
    return {queue: lost[queue.value] for queue in Queue}


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete the rows of workers last seen longer ago than RETENTION."""
    session.execute(delete(WorkerRecord).where(WorkerRecord.seen_at < now - RETENTION))


def _before(now: Moment, seconds: float | None) -> Moment | None:
    return None if seconds is None else now - timedelta(seconds=seconds)
