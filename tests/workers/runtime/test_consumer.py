from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from local_servers import free_port, start_redis
from polling import wait_until
from redis import Redis

from app.domain.kinds import Kind, Queue
from app.infra.broker import redis_client
from app.infra.broker.queue import JobPublisher
from tools.state import ROOT
from workers.runtime.consumer import MAX_RECONNECT_SECONDS, POLL_SECONDS

TASKS = 20
EVENTS_OF_A_TASK = {"task-received", "task-started", "task-succeeded"}


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with redis_client.connect(redis_url, answer_seconds=5) as client:
        client.flushall()
        yield client
        client.flushall()


@contextmanager
def running_worker(client: Redis, database_url: str, redis_url: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a real worker of the queue `interactive`, which consumes."""
    options = ["-Q", "interactive", "-P", "threads", "-c", "2", "--without-gossip", "--without-mingle"]
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-q", "-A", "workers.main", "worker", *options, "-l", "error"],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "LOG_LEVEL": "error"},
    )
    wait_until(lambda: is_consumed(client), seconds=30)
    yield worker
    worker.terminate()
    worker.wait(20)


def is_consumed(client: Redis) -> bool:
    return any(each["cmd"] == "brpop" for each in client.client_list())


@pytest.fixture
def _worker(client: Redis, database_url: str, redis_url: str) -> Iterator[None]:
    with running_worker(client, database_url, redis_url):
        yield


@pytest.mark.release
@pytest.mark.usefixtures("_worker")
def test_the_events_of_many_tasks_are_published_together(client: Redis, redis_url: str) -> None:
    received: list[list[str]] = []
    with client.pubsub(ignore_subscribe_messages=True) as channel:
        channel.psubscribe("*celeryev*task*")
        channel.get_message(timeout=5)
        missing = [f"job_{number:024d}" for number in range(TASKS)]  # refused, but tasks nonetheless
        JobPublisher(redis_url).push(Kind.REVEAL_EMAIL, Queue.INTERACTIVE, missing)

        def all_received() -> bool:
            message = channel.get_message(timeout=0.1)
            if message is not None:
                received.append(_types(message["data"]))
            return sum(map(len, received)) == TASKS * len(EVENTS_OF_A_TASK)

        wait_until(all_received, seconds=30)

    assert {kind for kinds in received for kind in kinds} == EVENTS_OF_A_TASK
    assert len(received) < TASKS


@pytest.mark.release
@pytest.mark.usefixtures("_worker")
def test_an_idle_consumer_asks_for_messages_every_three_seconds(client: Redis) -> None:
    with client.monitor() as monitor:
        commands = (str(each["command"]).split() for each in monitor.listen())
        queue, seconds = next(words[1:] for words in commands if words[0] == "BRPOP")

    assert (queue, float(seconds)) == ("interactive", POLL_SECONDS)


@pytest.mark.release
def test_a_redis_that_refuses_writes_is_waited_for(tmp_path: Path, database_url: str) -> None:
    port = free_port()
    server = start_redis(port, tmp_path)
    url = f"redis://127.0.0.1:{port}/0"
    with (
        redis_client.connect(url, answer_seconds=5) as client,
        running_worker(client, database_url, url) as worker,
    ):
        client.replicaof("127.0.0.1", str(free_port()))
        wait_until(lambda: not is_consumed(client), seconds=10)
        client.replicaof("NO", "ONE")

        wait_until(lambda: is_consumed(client), seconds=2 * MAX_RECONNECT_SECONDS + POLL_SECONDS)

        assert worker.poll() is None
    server.terminate()
    server.wait()


def _types(data: bytes) -> list[str]:
    """Return the types of the events in a publication, which is one event or a list."""
    body = json.loads(base64.b64decode(json.loads(data)["body"]))
    return [event["type"] for event in (body if isinstance(body, list) else [body])]
