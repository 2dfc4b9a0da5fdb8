from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from local_servers import free_port, start_redis
from polling import wait_until
from redis import Redis
from structlog.testing import capture_logs

from app.infra.broker import job_notifications, redis_client
from app.infra.broker.job_notifications import JobListener, JobNotifier


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_notifications, "LISTEN_SECONDS", 0.2)
    monkeypatch.setattr(job_notifications, "RECONNECT_SECONDS", 0.05)


class RestartableRedis:
    """A Redis-protocol server that can be stopped and restarted."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = start_redis(self.port, self.folder)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RestartableRedis]:
    server = RestartableRedis(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def open_listener(quick: None) -> Iterator[Callable[[str], JobListener]]:
    """Return a function that opens listeners; they are closed after the test, or they would affect others."""
    opened: list[JobListener] = []

    def open_and_register(url: str) -> JobListener:
        opened.append(JobListener(url))
        return opened[-1]

    yield open_and_register
    for first in opened:
        first.close()


@pytest.fixture
def listener(open_listener: Callable[[str], JobListener], server: RestartableRedis) -> JobListener:
    return open_listener(server.url)


@pytest.fixture
def notifier(server: RestartableRedis) -> JobNotifier:
    return JobNotifier(server.url)


def subscribers(url: str) -> int:
    with redis_client.connect(url) as client:
        return len([first for first in client.client_list() if first["sub"] == "1"])


def test_a_waiter_is_woken_by_the_notification_of_its_job(
    listener: JobListener, notifier: JobNotifier
) -> None:
    with listener.subscribe("job_1") as event:
        wait_until(event.is_set)
        event.clear()

        notifier.notify(["job_1"])

        assert event.wait(5)


def test_a_waiter_is_not_woken_by_notifications_of_other_jobs(
    listener: JobListener, notifier: JobNotifier
) -> None:
    with listener.subscribe("job_1") as mine, listener.subscribe("job_2") as other:
        wait_until(mine.is_set)
        mine.clear()

        notifier.notify(["job_nobody_waits_for"])
        notifier.notify(["job_2"])

        assert other.wait(5)
        assert not mine.is_set()


def test_every_waiter_of_a_job_is_woken(listener: JobListener, notifier: JobNotifier) -> None:
    with listener.subscribe("job_1") as first, listener.subscribe("job_1") as second:
        wait_until(first.is_set)
        first.clear()
        second.clear()

        notifier.notify(["job_1"])

        assert first.wait(5)
        assert second.wait(5)


def ring_all(notifier: JobNotifier, events: list[threading.Event]) -> bool:
    """Notify the waiters not reached yet, because `notify` publishes once and the message may be lost."""
    for number, event in enumerate(events):
        if not event.is_set():
            notifier.notify([f"job_{number}"])
    return all(event.wait(0.5) for event in events)


def test_three_hundred_waiters_use_one_connection(
    listener: JobListener, notifier: JobNotifier, server: RestartableRedis
) -> None:
    with ExitStack() as waiting, redis_client.connect(server.url) as client:
        events = [waiting.enter_context(listener.subscribe(f"job_{number}")) for number in range(300)]
        wait_until(events[0].is_set)
        for event in events:
            event.clear()

        wait_until(lambda: ring_all(notifier, events))

        assert subscribers(server.url) == 1
        other_connections = [first for first in client.client_list() if first["sub"] == "0"]
        assert len(other_connections) <= 2 + 1, (
            other_connections
        )  # the notifier's, this client's, and that of the last count


def test_a_finished_waiter_is_removed(listener: JobListener) -> None:
    with listener.subscribe("job_1"), listener.subscribe("job_1"):
        pass

    assert dict(listener._waiters) == {}  # noqa: SLF001 -- checks that nothing is retained


def test_removing_a_waiter_leaves_the_others(listener: JobListener, notifier: JobNotifier) -> None:
    with listener.subscribe("job_1") as patient:
        with listener.subscribe("job_1"):
            wait_until(patient.is_set)
        patient.clear()

        notifier.notify(["job_1"])

        assert patient.wait(5)


def test_no_connection_is_opened_before_the_first_waiter(server: RestartableRedis) -> None:
    with redis_client.connect(server.url) as client:
        before = len(client.client_list())

        JobListener(server.url)

        assert len(client.client_list()) == before


def test_a_silent_connection_is_pinged(
    listener: JobListener, notifier: JobNotifier, server: RestartableRedis
) -> None:
    with listener.subscribe("job_1") as event, redis_client.connect(server.url) as client:
        pings_before = pings(client)
        wait_until(lambda: pings(client) > pings_before + 2)
        wait_until(event.is_set)
        event.clear()

        notifier.notify(["job_1"])

        assert event.wait(5)
        assert subscribers(server.url) == 1


def pings(client: Redis) -> int:
    return int(client.info("commandstats").get("cmdstat_ping", {"calls": 0})["calls"])


def test_after_a_restart_of_the_server_every_waiter_is_woken(
    listener: JobListener, server: RestartableRedis
) -> None:
    with listener.subscribe("job_1") as event:
        wait_until(event.is_set)
        event.clear()

        server.stop()
        server.start()

        assert event.wait(5)


def test_a_hanging_server_is_reconnected(listener: JobListener, server: RestartableRedis) -> None:
    with listener.subscribe("job_1") as event:
        wait_until(event.is_set)
        event.clear()

        with redis_client.connect(server.url) as client:
            client.client_pause(1500, all=True)

        assert event.wait(10)


def test_an_invalid_notification_is_ignored(
    listener: JobListener, notifier: JobNotifier, server: RestartableRedis
) -> None:
    with listener.subscribe("job_1") as event, redis_client.connect(server.url) as client:
        wait_until(event.is_set)
        event.clear()

        client.publish(job_notifications.CHANNEL, b"\xff")
        notifier.notify(["job_1"])

        assert event.wait(5)


def test_without_redis_a_notification_fails_silently_and_soon() -> None:
    notifier = JobNotifier(f"redis://127.0.0.1:{free_port()}/0")
    started = time.monotonic()

    for _ in range(100):
        notifier.notify(["job_1"])

    assert time.monotonic() - started < 10


def test_an_outage_is_logged_once(
    open_listener: Callable[[str], JobListener], monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    tries: list[tuple[str, int]] = []
    counts: list[int] = []
    connect = redis_client.connect

    def counted(url: str, *, answer_seconds: float) -> Redis:
        tries.append((url, threading.get_ident()))
        return connect(url, answer_seconds=answer_seconds)

    monkeypatch.setattr(job_notifications.redis_client, "connect", counted)
    monkeypatch.setattr(
        job_notifications.log, "warning", lambda *_event, **_fields: counts.append(threading.get_ident())
    )

    with open_listener(nowhere).subscribe("job_1"):
        mine = wait_until(lambda: [thread for url, thread in tries if url == nowhere][5:])

    assert counts.count(mine[0]) == 1


def test_an_unexpected_error_does_not_stop_the_listener(
    listener: JobListener, notifier: JobNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = redis_client.connect
    errors = [LookupError("nobody thought of it"), LookupError("nor of this")]

    def unlucky(url: str, *, answer_seconds: float) -> Redis:
        if errors:
            raise errors.pop()
        return connect(url, answer_seconds=answer_seconds)

    monkeypatch.setattr(job_notifications.redis_client, "connect", unlucky)

    with capture_logs() as events, listener.subscribe("job_1") as event:
        wait_until(event.is_set)
        event.clear()

        notifier.notify(["job_1"])

        assert event.wait(5)
    assert [(first["error"], type(first["exc_info"])) for first in events] == [("LookupError", LookupError)]


def test_a_closed_listener_stops_listening(listener: JobListener, server: RestartableRedis) -> None:
    with listener.subscribe("job_1") as event:
        wait_until(event.is_set)

    listener.close()

    wait_until(lambda: not subscribers(server.url))


def test_simultaneous_waiters_start_a_single_listener_thread(listener: JobListener) -> None:
    before = {thread.ident for thread in threading.enumerate()}

    with ExitStack() as waiting:
        for number in range(20):
            waiting.enter_context(listener.subscribe(f"job_{number}"))
        new = [thread for thread in threading.enumerate() if thread.ident not in before]

    assert [thread.name for thread in new] == ["job-listener"]
