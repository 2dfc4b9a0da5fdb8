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

from app.infra import job_notifications, redis_client
from app.infra.job_notifications import JobListener, JobNotifier


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_notifications, "LISTEN_SECONDS", 0.2)
    monkeypatch.setattr(job_notifications, "RECONNECT_SECONDS", 0.05)


class Server:
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
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def ears(quick: None) -> Iterator[Callable[[str], JobListener]]:
    """Return a function that opens listeners; they are closed after the test, or they would affect others."""
    opened: list[JobListener] = []

    def open_one(url: str) -> JobListener:
        opened.append(JobListener(url))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def ear(ears: Callable[[str], JobListener], server: Server) -> JobListener:
    return ears(server.url)


@pytest.fixture
def bell(server: Server) -> JobNotifier:
    return JobNotifier(server.url)


def subscribers(url: str) -> int:
    with redis_client.connect(url) as client:
        return len([one for one in client.client_list() if one["sub"] == "1"])


def test_a_waiter_is_woken_by_the_notification_of_its_job(ear: JobListener, bell: JobNotifier) -> None:
    with ear.subscribe("job_1") as event:
        wait_until(event.is_set)
        event.clear()

        bell.notify("job_1")

        assert event.wait(5)


def test_a_waiter_is_not_woken_by_notifications_of_other_jobs(ear: JobListener, bell: JobNotifier) -> None:
    with ear.subscribe("job_1") as mine, ear.subscribe("job_2") as other:
        wait_until(mine.is_set)
        mine.clear()

        bell.notify("job_nobody_waits_for")
        bell.notify("job_2")

        assert other.wait(5)
        assert not mine.is_set()


def test_every_waiter_of_a_job_is_woken(ear: JobListener, bell: JobNotifier) -> None:
    with ear.subscribe("job_1") as one, ear.subscribe("job_1") as two:
        wait_until(one.is_set)
        one.clear()
        two.clear()

        bell.notify("job_1")

        assert one.wait(5)
        assert two.wait(5)


def ring_all(bell: JobNotifier, events: list[threading.Event]) -> bool:
    """Notify the waiters not reached yet, because `notify` publishes once and the message may be lost."""
    for number, event in enumerate(events):
        if not event.is_set():
            bell.notify(f"job_{number}")
    return all(event.wait(0.5) for event in events)


def test_three_hundred_waiters_use_one_connection(
    ear: JobListener, bell: JobNotifier, server: Server
) -> None:
    with ExitStack() as waiting, redis_client.connect(server.url) as client:
        events = [waiting.enter_context(ear.subscribe(f"job_{number}")) for number in range(300)]
        wait_until(events[0].is_set)
        for event in events:
            event.clear()

        wait_until(lambda: ring_all(bell, events))

        assert subscribers(server.url) == 1
        others = [one for one in client.client_list() if one["sub"] == "0"]
        assert len(others) <= 2 + 1, others  # the notifier's, this client's, and that of the last count


def test_a_finished_waiter_is_removed(ear: JobListener) -> None:
    with ear.subscribe("job_1"), ear.subscribe("job_1"):
        pass

    assert dict(ear._waiters) == {}  # noqa: SLF001 -- checks that nothing is retained


def test_removing_a_waiter_leaves_the_others(ear: JobListener, bell: JobNotifier) -> None:
    with ear.subscribe("job_1") as patient:
        with ear.subscribe("job_1"):
            wait_until(patient.is_set)
        patient.clear()

        bell.notify("job_1")

        assert patient.wait(5)


def test_no_connection_is_opened_before_the_first_waiter(server: Server) -> None:
    with redis_client.connect(server.url) as client:
        before = len(client.client_list())

        JobListener(server.url)

        assert len(client.client_list()) == before


def test_a_silent_connection_is_pinged(
    ear: JobListener, bell: JobNotifier, server: Server
) -> None:
    with ear.subscribe("job_1") as event, redis_client.connect(server.url) as client:
        asked = pings(client)
        wait_until(lambda: pings(client) > asked + 2)
        wait_until(event.is_set)
        event.clear()

        bell.notify("job_1")

        assert event.wait(5)
        assert subscribers(server.url) == 1


def pings(client: Redis) -> int:
    return int(client.info("commandstats").get("cmdstat_ping", {"calls": 0})["calls"])


def test_after_a_restart_of_the_server_every_waiter_is_woken(ear: JobListener, server: Server) -> None:
    with ear.subscribe("job_1") as event:
        wait_until(event.is_set)
        event.clear()

        server.stop()
        server.start()

        assert event.wait(5)


def test_a_hanging_server_is_reconnected(ear: JobListener, server: Server) -> None:
    with ear.subscribe("job_1") as event:
        wait_until(event.is_set)
        event.clear()

        with redis_client.connect(server.url) as client:
            client.client_pause(1500, all=True)

        assert event.wait(10)


def test_an_invalid_notification_is_ignored(ear: JobListener, bell: JobNotifier, server: Server) -> None:
    with ear.subscribe("job_1") as event, redis_client.connect(server.url) as client:
        wait_until(event.is_set)
        event.clear()

        client.publish(job_notifications.CHANNEL, b"\xff")
        bell.notify("job_1")

        assert event.wait(5)


def test_without_redis_a_notification_fails_silently_and_soon() -> None:
    bell = JobNotifier(f"redis://127.0.0.1:{free_port()}/0")
    started = time.monotonic()

    for _ in range(100):
        bell.notify("job_1")

    assert time.monotonic() - started < 10


def test_an_outage_is_logged_once(ears: Callable[[str], JobListener], monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    tries: list[tuple[str, int]] = []
    told: list[int] = []
    connect = redis_client.connect

    def counted(url: str, *, answer_seconds: float) -> Redis:
        tries.append((url, threading.get_ident()))
        return connect(url, answer_seconds=answer_seconds)

    monkeypatch.setattr(job_notifications.redis_client, "connect", counted)
    monkeypatch.setattr(
        job_notifications.log, "warning", lambda *_event, **_fields: told.append(threading.get_ident())
    )

    with ears(nowhere).subscribe("job_1"):
        mine = wait_until(lambda: [thread for url, thread in tries if url == nowhere][5:])

    assert told.count(mine[0]) == 1


def test_an_unexpected_error_does_not_stop_the_listener(
    ear: JobListener, bell: JobNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = redis_client.connect
    errors = [LookupError("nobody thought of it"), LookupError("nor of this")]

    def unlucky(url: str, *, answer_seconds: float) -> Redis:
        if errors:
            raise errors.pop()
        return connect(url, answer_seconds=answer_seconds)

    monkeypatch.setattr(job_notifications.redis_client, "connect", unlucky)

    with capture_logs() as events, ear.subscribe("job_1") as event:
        wait_until(event.is_set)
        event.clear()

        bell.notify("job_1")

        assert event.wait(5)
    assert [(one["error"], type(one["exc_info"])) for one in events] == [("LookupError", LookupError)]


def test_a_closed_listener_stops_listening(ear: JobListener, server: Server) -> None:
    with ear.subscribe("job_1") as event:
        wait_until(event.is_set)

    ear.close()

    wait_until(lambda: not subscribers(server.url))


def test_simultaneous_waiters_start_a_single_listener_thread(ear: JobListener) -> None:
    before = {thread.ident for thread in threading.enumerate()}

    with ExitStack() as waiting:
        for number in range(20):
            waiting.enter_context(ear.subscribe(f"job_{number}"))
        new = [thread for thread in threading.enumerate() if thread.ident not in before]

    assert [thread.name for thread in new] == ["job-listener"]
