"""Tests of a worker's activity, its heartbeat and its shutdown."""

from __future__ import annotations

import os
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from celery import bootsteps
from celery.signals import task_received
from celery.worker import state
from jobs_support import LEASE, NOW, a_job, a_question, a_workspace, claim, read, set_clock, submit
from local_servers import free_port
from polling import wait_until
from redis import Redis
from structlog.testing import capture_logs

from app.domain.errors import Unavailable
from app.domain.kinds import CLICKS, Queue
from app.engine.jobs import leases
from app.engine.queues import worker_heartbeats
from app.engine.queues.worker_heartbeats import WorkerState
from app.infra import clock
from app.infra.broker import redis_client
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.broker.redis_broker import RedisBroker
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import shutdown_flag
from workers.execution.job_runner import JOB_BY_TASK
from workers.execution.worker_services import WorkerServices
from workers.jobs import upkeep
from workers.runtime import shutdown, supervision
from workers.runtime.activity import Activity, RunningTask
from workers.runtime.shutdown import Shutdown
from workers.runtime.supervision import Watchdog


def a_request(
    name: str,
    job_id: str | None = None,
    *,
    since: float | None = None,
    source: Queue = Queue.INTERACTIVE,
) -> Any:
    """Return Celery's record of a received message; `since` is when a thread started it."""
    arguments = f"({job_id!r},)" if job_id else "()"
    return SimpleNamespace(
        id=f"{name}{job_id}",
        name=name,
        argsrepr=arguments,
        time_start=since,
        delivery_info={"routing_key": source.value},
    )


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace Celery's records of received messages."""
    requests: dict[str, Any] = {}
    monkeypatch.setattr(state, "requests", requests)
    monkeypatch.setattr(state, "all_total_count", [0])
    monkeypatch.setattr(state, "should_stop", None)
    return requests


@pytest.fixture
def not_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a separate shutdown flag during the test."""
    monkeypatch.setattr(shutdown_flag, "_flag", bytearray(1))


@pytest.fixture
def worker() -> Any:
    """Return a stand-in for a Celery worker that consumes two queues with two threads."""
    return SimpleNamespace(
        hostname="one@host",
        concurrency=2,
        app=SimpleNamespace(amqp=SimpleNamespace(queues=SimpleNamespace(consume_from={"b": 1, "a": 2}))),
        consumer=SimpleNamespace(
            blueprint=SimpleNamespace(state=bootsteps.RUN), connection=object(), task_consumer=object()
        ),
    )


@pytest.fixture
def activity(worker: Any, requests: dict[str, Any]) -> Activity:
    return Activity(worker)


@pytest.fixture
def services(settings: Settings, database: Database, redis_url: str, client: Redis) -> WorkerServices:
    return WorkerServices(settings, database, JobPublisher(redis_url), JobNotifier(redis_url))


@pytest.fixture
def exits() -> list[int]:
    return []


@pytest.fixture
def end(services: WorkerServices, activity: Activity, exits: list[int], not_stopping: None) -> Shutdown:
    """Return a shutdown that records the exit code instead of exiting."""
    return Shutdown(services, activity, exit=exits.append)


def test_a_worker_is_named_by_its_node_and_process(activity: Activity) -> None:
    assert (activity.name, activity.queues, activity.threads) == (f"one@host:{os.getpid()}", ("a", "b"), 2)


def test_activity_lists_running_and_waiting_tasks(activity: Activity, requests: dict[str, Any]) -> None:
    now = time.time()
    requests["1"] = a_request("reveal.email", "job_a", since=now - 5)
    requests["2"] = a_request("upkeep.sweep", since=now - 5)
    waiting = requests["3"] = a_request("reveal.email", "job_b")

    running = [RunningTask(task.job_id, round(task.seconds)) for task in activity.running()]

    assert running == [RunningTask("job_a", 5), RunningTask(None, 5)]
    assert (activity.waiting(), activity.is_idle) == ([waiting], False)


def test_a_running_task_has_the_job_claimed_for_its_message(
    activity: Activity, requests: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    requests["1"] = a_request("reveal.email", "job_a", since=time.time())
    monkeypatch.setitem(JOB_BY_TASK, requests["1"].id, "job_b")

    assert [task.job_id for task in activity.running()] == ["job_b"]


def test_activity_counts_received_and_ended_tasks(activity: Activity, requests: dict[str, Any]) -> None:
    requests["1"] = a_request("reveal.email", "job_a", since=time.time())
    state.all_total_count[0] = 3

    task_received.send(sender=None, request=None)

    assert (activity.received, activity.ended, activity.is_idle) == (1, 2, True)
    assert activity.received_at is not None


@pytest.mark.parametrize(
    ("changes", "connected", "closed"),
    [
        ({}, True, False),
        ({"connection": None}, False, False),
        ({"task_consumer": None}, False, False),
        ({"blueprint": SimpleNamespace(state=bootsteps.CLOSE)}, False, True),
    ],
)
def test_activity_reports_whether_the_consumer_is_connected(
    worker: Any, activity: Activity, changes: dict[str, Any], *, connected: bool, closed: bool
) -> None:
    vars(worker.consumer).update(changes)

    assert (activity.is_connected, activity.is_closed) == (connected, closed)


def test_an_idle_worker_exits_at_once_and_removes_its_heartbeat(
    end: Shutdown, worker: Any, services: WorkerServices, activity: Activity, exits: list[int]
) -> None:
    Watchdog(services, activity, end.begin).report()
    worker.consumer.blueprint.state = bootsteps.CLOSE

    end.begin()
    end.join()

    assert (exits, state.should_stop) == ([0], 0)
    with services.database.reading() as session:
        assert worker_heartbeats.list_all(session) == []


def test_a_shutdown_runs_once(end: Shutdown, worker: Any, exits: list[int]) -> None:
    worker.consumer.blueprint.state = bootsteps.CLOSE

    end.begin(code=1)
    end.begin()
    end.join()

    assert exits == [1]


def test_running_tasks_may_end_during_a_shutdown(
    end: Shutdown, worker: Any, requests: dict[str, Any], exits: list[int]
) -> None:
    worker.consumer.blueprint.state = bootsteps.CLOSE
    requests["1"] = a_request("reveal.email", "job_a", since=time.time())

    end.begin()
    threading.Event().wait(0.2)
    before = list(exits)
    requests.clear()
    end.join()

    assert (before, exits) == ([], [0])


def test_tasks_that_do_not_end_are_killed(
    end: Shutdown, worker: Any, requests: dict[str, Any], exits: list[int]
) -> None:
    worker.consumer.blueprint.state = bootsteps.CLOSE
    requests["1"] = a_request("reveal.email", "job_a", since=time.time())

    end.begin(grace=0.1)
    end.join()

    assert exits == [1]


def test_a_shutdown_does_not_wait_for_a_consumer_that_does_not_close(
    end: Shutdown, exits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "CLOSE_SECONDS", 0.1)

    end.begin()
    end.join()

    assert exits == [0]


def test_received_but_unstarted_messages_are_republished(
    end: Shutdown, worker: Any, requests: dict[str, Any], client: Redis
) -> None:
    worker.consumer.blueprint.state = bootsteps.CLOSE
    requests["1"] = a_request("reveal.email", "job_a")
    requests["2"] = a_request("reveal.email", "job_b", source=Queue.PROVIDERS)
    requests["3"] = a_request("upkeep.sweep", source=Queue.UPKEEP)

    end.begin()
    end.join()

    assert [client.llen(name.value) for name in (*CLICKS, Queue.UPKEEP)] == [1, 1, 0]


def test_requeued_jobs_are_republished(
    end: Shutdown, worker: Any, services: WorkerServices, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.consumer.blueprint.state = bootsteps.CLOSE
    set_clock(monkeypatch, lambda: NOW)
    with services.database.transaction() as session:
        job_id = a_job(session, a_workspace(session))
        leases.requeue(session, claim(session, job_id), run_after=NOW, counts_as_attempt=False)

    end.begin()
    end.join()

    assert client.llen(Queue.INTERACTIVE.value) == 1
    with services.database.reading() as session:
        assert read(session, job_id).attempts == 0


def test_a_shutdown_does_not_need_the_database(
    end: Shutdown, worker: Any, exits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_machines: WorkerServices) -> None:
        raise Unavailable

    worker.consumer.blueprint.state = bootsteps.CLOSE
    monkeypatch.setattr(upkeep, "sweep_once", away)

    with capture_logs() as events:
        end.begin()
        end.join()

    assert exits == [0]
    assert "database unavailable, requeued jobs are left to other workers" in {
        entry["event"] for entry in events
    }


def test_join_returns_at_once_without_a_shutdown(end: Shutdown, exits: list[int]) -> None:
    end.join()

    assert exits == []


@pytest.fixture
def watchdog(services: WorkerServices, activity: Activity, exits: list[int], not_stopping: None) -> Watchdog:
    """Return a watchdog that records instead of ending the worker."""
    return Watchdog(services, activity, lambda: exits.append(1))


def test_the_watchdog_ends_a_stalled_worker(watchdog: Watchdog, client: Redis, exits: list[int]) -> None:
    client.lpush("a", "message")
    for _look in range(supervision.STALLED_SAMPLES):
        watchdog.sample(RedisBroker(client))
    before = list(exits)

    watchdog.sample(RedisBroker(client))

    assert (before, exits) == ([], [1])


def test_the_watchdog_does_not_end_a_worker_that_shuts_down(
    watchdog: Watchdog, client: Redis, exits: list[int]
) -> None:
    shutdown_flag.begin()
    client.lpush("a", "message")

    for _look in range(supervision.STALLED_SAMPLES + 1):
        watchdog.sample(RedisBroker(client))

    assert exits == []


def test_the_watchdog_waits_while_redis_is_down(watchdog: Watchdog, exits: list[int]) -> None:
    with redis_client.connect(f"redis://127.0.0.1:{free_port()}/0") as nowhere:
        for _look in range(supervision.STALLED_SAMPLES + 1):
            watchdog.sample(RedisBroker(nowhere))

    assert (exits, watchdog.evaluator.state) == ([], WorkerState.WITHOUT_QUEUE)


def test_the_watchdog_stores_its_heartbeat(
    watchdog: Watchdog, client: Redis, services: WorkerServices, requests: dict[str, Any]
) -> None:
    requests["1"] = a_request("reveal.email", "job_a", since=time.time())
    state.all_total_count[0] = 2
    task_received.send(sender=None, request=None)
    watchdog.sample(RedisBroker(client))

    watchdog.report()

    with services.database.reading() as session:
        [row] = worker_heartbeats.list_all(session)
    assert (row.state, row.queues, row.busy, row.threads) == ("working", ["a", "b"], 1, 2)
    assert row.taken_at
    assert row.ended_at


@pytest.mark.parametrize(("held", "ends"), [(0, [1]), (1, [])])
def test_hanging_threads_end_a_worker_unless_a_lease_is_renewed(  # noqa: PLR0917 -- fixtures
    watchdog: Watchdog,
    client: Redis,
    services: WorkerServices,
    requests: dict[str, Any],
    exits: list[int],
    held: int,
    ends: list[int],
) -> None:
    with services.database.transaction() as session:
        began = clock.now() - LEASE * (1 - held)
        job_id = submit(session, a_question(a_workspace(session)), now=began).job.id
        claim(session, job_id, now=began)
    for name in (job_id, "job_b"):
        requests[name] = a_request("reveal.email", name, since=time.time() - 1000)

    watchdog.report()
    watchdog.sample(RedisBroker(client))

    assert exits == ends


def test_a_worker_is_reported_as_working_once_it_is_connected(
    watchdog: Watchdog, services: WorkerServices, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_client, "connect", lambda _url: client)
    for interval in ("SAMPLE_SECONDS", "REPORT_SECONDS"):
        monkeypatch.setattr(supervision, interval, 3600.0)

    watchdog.start()

    def reported() -> list[str]:
        with services.database.reading() as session:
            return [worker.state for worker in worker_heartbeats.list_all(session)]

    wait_until(lambda: reported() == [WorkerState.WORKING])


def test_the_threads_of_the_watchdog_survive_errors(
    watchdog: Watchdog, services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def report(_watchdog: Watchdog) -> None:
        calls.append(1)
        if len(calls) == 3:
            threading.Event().wait()  # forever: nothing else ends the thread
        raise [Unavailable, LookupError][len(calls) - 1]

    monkeypatch.setattr(Watchdog, "report", report)
    monkeypatch.setattr(supervision, "REPORT_SECONDS", 0.01)
    monkeypatch.setattr(Watchdog, "_sample_loop", lambda _watchdog: None)

    with capture_logs() as events:
        watchdog.start()
        wait_until(lambda: len(calls) == 3)

    assert [entry["event"] for entry in events] == [
        "database unavailable, heartbeat not stored",
        "heartbeat failed",
    ]
