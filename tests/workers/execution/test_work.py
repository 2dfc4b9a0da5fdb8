"""Turns of workers at durable work, and the messages for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from jobs_support import NOW
from sqlalchemy import select
from structlog.testing import capture_logs
from worker_harness import WorkerHarness, worker_harness

from app.domain.errors import Unavailable
from app.domain.kinds import Queue
from app.engine.work import items, specs, turns
from app.engine.work.items import NewItem, WorkItem
from app.engine.work.specs import WorkSpec
from app.engine.work.turns import Turn
from app.infra.broker import celery_app
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import work
from workers.execution.worker_services import WorkerServices

SPEC = WorkSpec(
    task="upkeep.example",
    label="example",
    lease=timedelta(seconds=20),
    republish_after=timedelta(seconds=10),
    max_attempts=2,
    retry_after=timedelta(seconds=5),
)
NOWHERE = "redis://127.0.0.1:1/0"


class Messages(JobPublisher):
    """A publisher whose queue keeps all messages, because no worker takes any."""

    def __init__(self) -> None:
        super().__init__(NOWHERE)
        self.queued: list[str] = []

    def push(self, task: str, queue: str, ids: list[str]) -> bool:
        assert (task, queue) == (SPEC.task, Queue.UPKEEP)
        self.queued += ids
        return True

    def depth(self, queue: Queue) -> int:
        assert queue is Queue.UPKEEP
        return len(self.queued)


@pytest.fixture
def harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    monkeypatch.setitem(specs.SPECS, SPEC.task, SPEC)
    harness = worker_harness(settings, database, monkeypatch)
    add(harness, "a")
    return harness


def add(harness: WorkerHarness, *ids: str) -> None:
    with harness.database.transaction() as session:
        items.add(session, SPEC, *(NewItem(name, harness.workspace_id, NOW) for name in ids))


def stored(harness: WorkerHarness) -> WorkItem | None:
    with harness.database.reading() as session:
        return session.scalar(select(WorkItem).where(WorkItem.id == "a"))


def ended(turn: Turn, services: WorkerServices) -> None:
    with services.database.transaction() as session:
        turns.end(session, turn)


def run(
    harness: WorkerHarness,
    handle: Callable[[Turn, WorkerServices], object],
    *,
    is_able: Callable[[WorkerServices], bool] = lambda _services: True,
) -> None:
    task = work.task(SPEC, is_able=is_able)(handle)
    try:
        task("a", harness.services)
    finally:
        del celery_app.celery.tasks[SPEC.task]


def test_a_turn_that_ends_the_work_leaves_nothing(harness: WorkerHarness) -> None:
    run(harness, ended)

    assert stored(harness) is None


def test_work_that_is_not_due_is_not_done(harness: WorkerHarness) -> None:
    harness.clock.now -= timedelta(seconds=1)

    run(harness, ended)

    assert stored(harness) is not None


def test_a_process_that_is_not_able_to_do_the_work_takes_no_turn(harness: WorkerHarness) -> None:
    run(harness, ended, is_able=lambda _services: False)

    item = stored(harness)
    assert item is not None
    assert item.attempts == 0


def test_work_whose_turns_fail_is_given_up_and_says_so(harness: WorkerHarness) -> None:
    def fail(_turn: Turn, _services: WorkerServices) -> None:
        raise IndexError

    for _ in range(SPEC.max_attempts):
        with pytest.raises(IndexError):
            run(harness, fail)
        harness.clock.now += SPEC.retry_after
    with capture_logs() as logs:
        run(harness, fail)

    item = stored(harness)
    assert item is not None
    assert (item.due_at, item.error, item.failed_at) == (None, specs.TURNS_FAILED, harness.clock.now)
    assert [line["event"] for line in logs] == ["work given up"]


def test_a_failed_turn_is_followed_by_the_next_one_after_a_pause(harness: WorkerHarness) -> None:
    def fail(_turn: Turn, _services: WorkerServices) -> None:
        raise IndexError

    with pytest.raises(IndexError):
        run(harness, fail)

    item = stored(harness)
    assert item is not None
    assert (item.due_at, item.lease_until) == (harness.clock.now + SPEC.retry_after, None)


def test_an_outage_of_the_database_leaves_the_turn_to_its_lease(harness: WorkerHarness) -> None:
    def fail(_turn: Turn, _services: WorkerServices) -> None:
        raise Unavailable

    with pytest.raises(Unavailable):
        run(harness, fail)

    item = stored(harness)
    assert item is not None
    assert (item.due_at, item.lease_until) == (NOW, NOW + SPEC.lease)


def test_a_turn_that_was_lost_is_no_error(harness: WorkerHarness) -> None:
    def lose(turn: Turn, services: WorkerServices) -> None:
        add(harness, "a")
        ended(turn, services)

    def lose_and_fail(turn: Turn, _services: WorkerServices) -> None:
        add(harness, "a")
        raise IndexError

    with capture_logs() as logs:
        run(harness, lose)
    with pytest.raises(IndexError):
        run(harness, lose_and_fail)

    item = stored(harness)
    assert item is not None
    assert (item.attempts, item.due_at) == (0, NOW)
    assert [line["event"] for line in logs] == ["turn lost"]


def test_what_no_worker_takes_does_not_fill_the_queue_without_end(harness: WorkerHarness) -> None:
    messages = Messages()
    services = WorkerServices(
        harness.services.settings, harness.database, messages, harness.services.notifier
    )

    for _sweep in range(2 * SPEC.full_queue):
        work.send_due(services)
        harness.clock.now += SPEC.republish_after

    assert messages.queued == ["a"] * (SPEC.full_queue + 1)


def test_what_is_claimed_by_another_process_meanwhile_is_not_published(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = Messages()
    services = WorkerServices(
        harness.services.settings, harness.database, messages, harness.services.notifier
    )
    monkeypatch.setattr(items, "claim_due", lambda *_arguments, **_options: [])

    work.send_due(services)

    assert messages.queued == []
