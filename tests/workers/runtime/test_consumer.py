from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from polling import wait_until
from redis import Redis

from app.domain.kinds import Kind
from app.infra import redis_client
from app.infra.queue import JobPublisher
from tools.state import ROOT
from workers.runtime.consumer import POLL_SECONDS

TASKS = 20
EVENTS_OF_A_TASK = {"task-received", "task-started", "task-succeeded"}


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with redis_client.connect(redis_url, answer_seconds=5) as client:
        client.flushall()
        yield client
        client.flushall()


@pytest.fixture
def _worker(client: Redis, database_url: str, redis_url: str) -> Iterator[None]:
    """A real worker of the queue `interactive`, which consumes."""
    options = ["-Q", "interactive", "-P", "threads", "-c", "2", "--without-gossip", "--without-mingle"]
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-q", "-A", "workers.main", "worker", *options, "-l", "error"],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "LOG_LEVEL": "error"},
    )
    wait_until(lambda: any(each["cmd"] == "brpop" for each in client.client_list()), seconds=30)
    yield
    worker.terminate()
    worker.wait(20)


@pytest.mark.slow
@pytest.mark.usefixtures("_worker")
def test_the_events_of_many_tasks_are_published_together(client: Redis, redis_url: str) -> None:
    received: list[list[str]] = []
    with client.pubsub(ignore_subscribe_messages=True) as channel:
        channel.psubscribe("*celeryev*task*")
        channel.get_message(timeout=5)
        missing = [f"job_{number:024d}" for number in range(TASKS)]  # refused, but tasks nonetheless
        JobPublisher(redis_url).publish(Kind.REVEAL_EMAIL, missing)

        def all_received() -> bool:
            message = channel.get_message(timeout=0.1)
            if message is not None:
                received.append(_types(message["data"]))
            return sum(map(len, received)) == TASKS * len(EVENTS_OF_A_TASK)

        wait_until(all_received, seconds=30)

    assert {kind for kinds in received for kind in kinds} == EVENTS_OF_A_TASK
    assert len(received) < TASKS


@pytest.mark.slow
@pytest.mark.usefixtures("_worker")
def test_an_idle_consumer_asks_for_messages_every_three_seconds(client: Redis) -> None:
    with client.monitor() as monitor:
        commands = (str(each["command"]).split() for each in monitor.listen())
        queue, seconds = next(words[1:] for words in commands if words[0] == "BRPOP")

    assert (queue, float(seconds)) == ("interactive", POLL_SECONDS)


def _types(data: bytes) -> list[str]:
    """Return the types of the events in a publication, which is one event or a list."""
    body = json.loads(base64.b64decode(json.loads(data)["body"]))
    return [event["type"] for event in (body if isinstance(body, list) else [body])]
