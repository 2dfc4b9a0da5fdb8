from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from jobs_support import LEASE, NOW, a_job, a_workspace, claim

from app.domain.kinds import Kind, Outcome, Queue, Status
from app.engine.jobs import leases
from app.engine.jobs.leases import JobResult
from app.engine.queues import backlog, queue_health, worker_heartbeats
from app.engine.queues.backlog import Count
from app.engine.queues.queue_health import QueueHealth
from app.engine.queues.worker_heartbeats import Heartbeat, WorkerState
from app.infra.database.session import Session

MINUTE = timedelta(minutes=1)
NOTHING = timedelta(0)
ONE = Heartbeat(
    name="one@host:1", queues=("interactive",), threads=2, busy=0, state=WorkerState.WORKING, up_seconds=60
)


def test_the_wait_of_a_queue_is_that_of_its_oldest_job(session: Session) -> None:
    workspace_id = a_workspace(session)
    a_job(session, workspace_id, "ada")
    a_job(session, workspace_id, "all", kind=Kind.ENRICHMENT_REQUEST)

    found = backlog.oldest_waits(session, now=NOW + MINUTE)

    assert {queue for queue, wait in found.items() if wait == MINUTE} == {Queue.INTERACTIVE, Queue.ENRICHMENT}
    assert {queue for queue, wait in found.items() if wait == NOTHING} == {Queue.PROVIDERS, Queue.UPKEEP}


def test_a_running_job_does_not_wait(session: Session) -> None:
    claim(session, a_job(session, a_workspace(session)))

    assert backlog.oldest_waits(session, now=NOW + LEASE - timedelta(seconds=1))[Queue.INTERACTIVE] == NOTHING


def test_a_job_of_a_lost_worker_waits_since_its_lease_expired(session: Session) -> None:
    claim(session, a_job(session, a_workspace(session)))

    assert backlog.oldest_waits(session, now=NOW + LEASE + MINUTE)[Queue.INTERACTIVE] == MINUTE


def test_a_job_that_is_not_due_yet_does_not_wait(session: Session) -> None:
    claimed = claim(session, a_job(session, a_workspace(session)))
    leases.requeue(session, claimed, run_after=NOW + 2 * MINUTE)

    assert backlog.oldest_waits(session, now=NOW + MINUTE)[Queue.INTERACTIVE] == NOTHING


def test_jobs_are_counted_until_they_are_finished(session: Session) -> None:
    workspace_id = a_workspace(session)
    a_job(session, workspace_id, "queued")
    claim(session, a_job(session, workspace_id, "running"))
    over = claim(session, a_job(session, workspace_id, "over"))
    leases.settle(session, over, JobResult(outcome=Outcome.NOT_FOUND), now=NOW)

    found = backlog.counts(session)

    assert len(found) == 2 * len(Kind)
    assert [count for count in found if count.jobs] == [
        Count(Kind.REVEAL_EMAIL, Status.QUEUED, 1),
        Count(Kind.REVEAL_EMAIL, Status.RUNNING, 1),
    ]


def test_a_job_is_held_while_its_lease_runs(session: Session) -> None:
    workspace_id = a_workspace(session)
    waiting, running = a_job(session, workspace_id, "ada"), a_job(session, workspace_id, "bob")
    claim(session, running)

    assert backlog.count_leased(session, [waiting, running], now=NOW) == 1
    assert backlog.count_leased(session, [waiting], now=NOW) == 0
    assert backlog.count_leased(session, [waiting, running], now=NOW + LEASE) == 0


def test_the_health_of_a_queue_is_derived_from_its_workers(session: Session) -> None:
    for presence in (
        ONE,
        replace(ONE, name="busy@host:2", busy=2),
        replace(ONE, name="lost@host:3", state=WorkerState.WITHOUT_QUEUE),
        replace(ONE, name="other@host:4", queues=("enrichment", "upkeep")),
        replace(ONE, name="gone@host:5"),
    ):
        worker_heartbeats.record_heartbeat(session, presence, now=NOW)
    session.get_one(
        worker_heartbeats.WorkerRecord, "gone@host:5"
    ).seen_at -= worker_heartbeats.HEARTBEAT_TIMEOUT
    session.flush()

    found = queue_health.by_queue(session, now=NOW)

    assert found[Queue.INTERACTIVE] == QueueHealth(Queue.INTERACTIVE, 3, 2, 1, NOTHING)
    assert found[Queue.UPKEEP] == QueueHealth(Queue.UPKEEP, 1, 1, 1, NOTHING)


@pytest.mark.parametrize(
    ("queue", "consuming", "idle", "wait", "stalled"),
    [
        (Queue.INTERACTIVE, 1, 0, MINUTE, False),
        (Queue.INTERACTIVE, 1, 0, 2 * MINUTE, True),
        (Queue.ENRICHMENT, 1, 0, 2 * MINUTE, False),
        (Queue.ENRICHMENT, 1, 1, 2 * MINUTE, True),
        (Queue.ENRICHMENT, 0, 0, 2 * MINUTE, True),
    ],
)
def test_jobs_may_wait_longer_in_a_bulk_queue_than_in_an_interactive_one(
    queue: Queue, consuming: int, idle: int, wait: timedelta, *, stalled: bool
) -> None:
    standing = QueueHealth(queue, consuming, consuming, idle, wait)

    assert standing.is_stalled(MINUTE) is stalled
