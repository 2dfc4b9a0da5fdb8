from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from jobs_support import NOW

from app.domain.kinds import Queue
from app.engine.queues import worker_heartbeats
from app.engine.queues.worker_heartbeats import HEARTBEAT_TIMEOUT, LOST_FOR, Heartbeat, WorkerState
from app.infra.database.session import Session

ONE = Heartbeat(
    name="one@host:1", queues=("interactive",), threads=10, busy=3, state=WorkerState.WORKING, up_seconds=60
)


def test_a_heartbeat_is_stored(session: Session) -> None:
    worker_heartbeats.record_heartbeat(
        session, replace(ONE, taken_seconds_ago=2, ended_seconds_ago=1), now=NOW
    )

    [row] = worker_heartbeats.list_all(session)

    assert (row.name, row.queues, row.threads, row.busy) == ("one@host:1", ["interactive"], 10, 3)
    assert row.seen_at - row.started_at == timedelta(seconds=60)
    assert row.taken_at
    assert row.ended_at
    assert (row.seen_at - row.taken_at, row.seen_at - row.ended_at) == (
        timedelta(seconds=2),
        timedelta(seconds=1),
    )


def test_a_heartbeat_has_the_clock_offset_and_the_refused_messages(session: Session) -> None:
    worker_heartbeats.record_heartbeat(
        session, replace(ONE, clock_offset=-1.5, refused={"not_due": 3}), now=NOW
    )

    [row] = worker_heartbeats.list_all(session)

    assert (row.clock_offset, row.refused) == (-1.5, {"not_due": 3})


def test_a_later_heartbeat_replaces_the_earlier_one(session: Session) -> None:
    worker_heartbeats.record_heartbeat(session, replace(ONE, taken_seconds_ago=2), now=NOW)

    worker_heartbeats.record_heartbeat(session, replace(ONE, busy=0, state=WorkerState.STOPPING), now=NOW)

    session.expire_all()
    [row] = worker_heartbeats.list_all(session)
    assert (row.busy, row.state, row.taken_at) == (0, "stopping", None)


def test_only_the_row_of_a_stopped_worker_is_deleted(session: Session) -> None:
    worker_heartbeats.record_heartbeat(session, ONE, now=NOW)
    worker_heartbeats.record_heartbeat(session, replace(ONE, name="two@host:2"), now=NOW)

    worker_heartbeats.remove(session, "one@host:1")

    assert [row.name for row in worker_heartbeats.list_all(session)] == ["two@host:2"]


@pytest.mark.parametrize(("seconds", "state"), [(14, WorkerState.WORKING), (15, WorkerState.OFFLINE)])
def test_a_worker_without_a_heartbeat_for_fifteen_seconds_is_offline(
    session: Session, seconds: int, state: WorkerState
) -> None:
    worker_heartbeats.record_heartbeat(session, ONE, now=NOW)
    [row] = worker_heartbeats.list_all(session)

    found = worker_heartbeats.state(row, now=row.seen_at + timedelta(seconds=seconds))

    assert found is state


def test_rows_of_workers_not_seen_for_a_day_are_deleted(session: Session) -> None:
    worker_heartbeats.record_heartbeat(session, replace(ONE, name="old@host:1"), now=NOW)
    worker_heartbeats.record_heartbeat(session, replace(ONE, name="new@host:2"), now=NOW)
    long_ago = NOW - worker_heartbeats.RETENTION - timedelta(minutes=1)
    session.get_one(worker_heartbeats.WorkerRecord, "old@host:1").seen_at = long_ago
    session.flush()

    worker_heartbeats.purge_expired(session, now=NOW)

    assert [row.name for row in worker_heartbeats.list_all(session)] == ["new@host:2"]


def test_a_silent_worker_counts_as_lost_for_ten_minutes_and_one_that_shut_down_does_not(
    session: Session,
) -> None:
    worker_heartbeats.record_heartbeat(session, ONE, now=NOW)
    worker_heartbeats.record_heartbeat(session, replace(ONE, name="two@host:2"), now=NOW)
    worker_heartbeats.remove(session, "two@host:2")

    def lost(after: timedelta) -> dict[Queue, int]:
        return worker_heartbeats.count_lost(session, now=NOW + after)

    nothing = dict.fromkeys(Queue, 0)
    assert lost(HEARTBEAT_TIMEOUT - timedelta(seconds=1)) == nothing
    assert lost(HEARTBEAT_TIMEOUT) == nothing | {Queue.INTERACTIVE: 1}
    assert lost(LOST_FOR) == nothing
