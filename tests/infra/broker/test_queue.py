from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from local_servers import free_port
from polling import wait_until
from redis import Redis
from redis.exceptions import RedisError

from app import feature_registry
from app.domain.kinds import (
    AUDIT,
    ENCRYPT,
    FORGET,
    INDEX_MENTIONS,
    KINDS,
    SWEEP,
    Kind,
    Queue,
)
from app.infra.broker import celery_app, redis_broker, redis_client, task_messages
from app.infra.broker.queue import JobPublisher
from app.infra.circuit_breaker import CircuitOpen
from app.infra.telemetry import metrics
from app.settings import Settings

ROOT = Path(__file__).parents[3]
WORKER = """
from app.domain.kinds import Kind
from app.infra.broker import celery_app, redis_client
from app.settings import load

app = celery_app.configure(load())


@app.task(name=Kind.REVEAL_EMAIL.value)
def email(job_id):
    with redis_client.connect(load().redis_url) as client:
        client.rpush("ran", job_id)
"""


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with redis_client.connect(redis_url) as client:
        client.flushall()
        yield client
        client.flushall()


@pytest.fixture
def worker(client: Redis, redis_url: str, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A real worker whose task records the ids that it receives."""
    (tmp_path / "one_task.py").write_text(WORKER)
    arguments = ["-A", "one_task", "worker", "-P", "solo", "-Q", "interactive", "--without-gossip"]
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", *arguments, "--without-mingle", "--without-heartbeat"],
        cwd=ROOT,
        env=os.environ | {"REDIS_URL": redis_url, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield process
    process.send_signal(signal.SIGTERM)
    process.wait(20)


def closed() -> str:
    return f"redis://127.0.0.1:{free_port()}/0"


def sends(outcome: str) -> float:
    return metrics.SENDS.labels(outcome=outcome)._value.get()  # noqa: SLF001 -- prometheus_client has no public accessor


def test_every_message_is_in_the_queue_of_its_kind(client: Redis, redis_url: str) -> None:
    sender = JobPublisher(redis_url)

    sent = [sender.publish(kind, [f"job_{kind}"]) for kind in Kind]

    lengths = {name: client.llen(name.value) for name in Queue}
    assert all(sent)
    assert lengths == {name: [spec.queue for spec in KINDS.values()].count(name) for name in Queue}


def test_a_message_contains_only_the_job_id() -> None:
    message = task_messages.build("reveal.email", "job_1")

    envelope = json.loads(redis_broker.envelope(message, "interactive"))
    assert envelope["headers"]["task"] == "reveal.email"
    assert envelope["headers"]["argsrepr"] == "('job_1',)"
    assert envelope["properties"]["delivery_info"]["routing_key"] == "interactive"


@pytest.mark.parametrize(
    ("kind", "sizes"), [(Kind.REVEAL_EMAIL, [16, 16, 8]), (Kind.ENRICHMENT_REQUEST, [1] * 40)]
)
def test_a_message_names_several_jobs_that_may_be_settled_together(
    client: Redis, redis_url: str, kind: Kind, sizes: list[int]
) -> None:
    ids = [f"job_{number}" for number in range(40)]

    JobPublisher(redis_url).publish(kind, ids)

    envelopes = [json.loads(item) for item in reversed(client.lrange(KINDS[kind].queue.value, 0, -1))]
    bodies = [json.loads(base64.b64decode(envelope["body"]))[0] for envelope in envelopes]
    assert [len(body) for body in bodies] == sizes
    assert [id_ for body in bodies for id_ in body] == ids


def test_no_two_messages_have_the_same_id() -> None:
    messages = [task_messages.build("reveal.email", "job_1") for _ in range(2)]

    assert len({message.id for message in messages}) == 2


@pytest.mark.slow
def test_a_real_worker_runs_messages_in_order(
    worker: subprocess.Popen[bytes], client: Redis, redis_url: str
) -> None:
    sender = JobPublisher(redis_url)

    sender.push(Kind.REVEAL_EMAIL, Queue.INTERACTIVE, ["job_1", "job_2"])
    sender.publish(Kind.REVEAL_EMAIL, ["job_3"])

    wait_until(lambda: client.llen("ran") == 3, seconds=30)
    assert client.lrange("ran", 0, -1) == [b"job_1", b"job_2", b"job_3"]
    assert worker.poll() is None


def test_the_depth_of_a_queue_is_its_number_of_messages(client: Redis, redis_url: str) -> None:
    sender = JobPublisher(redis_url)

    sender.push(Kind.REVEAL_EMAIL, Queue.INTERACTIVE, ["job_1", "job_2"])

    assert (sender.depth(Queue.INTERACTIVE), sender.depth(Queue.ENRICHMENT)) == (2, 0)


def test_one_process_at_a_time_holds_a_lock(client: Redis, redis_url: str) -> None:
    first, second = JobPublisher(redis_url), JobPublisher(redis_url)

    locked = [first.try_lock("sweep", 60), second.try_lock("sweep", 60), second.try_lock("other", 60)]

    assert locked == [True, False, True]
    assert 0 < client.pttl("lock.sweep") <= 60_000


def test_without_redis_a_lock_is_free_for_every_process() -> None:
    sender = JobPublisher(f"redis://127.0.0.1:{free_port()}/0")

    assert [sender.try_lock("sweep", 60) for _ in range(2)] == [True, True]


def test_publishing_no_ids_succeeds(client: Redis, redis_url: str) -> None:
    assert JobPublisher(redis_url).publish(Kind.REVEAL_EMAIL, [])
    assert client.llen(Queue.INTERACTIVE.value) == 0


def test_without_redis_publishing_fails() -> None:
    assert not JobPublisher(closed()).publish(Kind.REVEAL_EMAIL, ["job_1"])


def test_after_an_attempt_without_a_reply_publishing_fails_without_another_attempt() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        publisher = JobPublisher(f"redis://127.0.0.1:{silent.getsockname()[1]}/0")

        published = [publisher.publish(Kind.REVEAL_EMAIL, ["job_1"]) for _ in range(2)]

        silent.accept()[0].close()
        silent.settimeout(0)
        with pytest.raises(BlockingIOError):
            silent.accept()
    assert published == [False, False]


def test_without_redis_the_depth_is_an_error() -> None:
    sender = JobPublisher(closed())

    with pytest.raises(RedisError):
        sender.depth(Queue.INTERACTIVE)

    with pytest.raises(CircuitOpen):
        sender.depth(Queue.INTERACTIVE)


def test_messages_are_counted_by_outcome(client: Redis, redis_url: str) -> None:
    sent, lost = sends("sent"), sends("unreachable")

    JobPublisher(redis_url).push(Kind.REVEAL_EMAIL, Queue.INTERACTIVE, ["job_1", "job_2"])
    JobPublisher(closed()).publish(Kind.REVEAL_EMAIL, ["job_3"])

    assert (sends("sent") - sent, sends("unreachable") - lost) == (2, 1)


def test_celery_stores_no_results_and_prefetches_one_message(settings: Settings, redis_url: str) -> None:
    conf = celery_app.configure(replace(settings, redis_url=redis_url)).conf

    assert (conf.broker_url, conf.result_backend, conf.task_ignore_result) == (redis_url, None, True)
    assert (conf.task_acks_late, conf.worker_prefetch_multiplier) == (False, 1)
    assert conf.accept_content == ["json"]
    assert conf.broker_transport_options["socket_timeout"] is not None


def test_beat_schedules_sweeping_purging_and_audits(settings: Settings) -> None:
    schedule = celery_app.configure(settings).conf.beat_schedule

    of_features = {task for feature in feature_registry.parts("schedule") for task in feature.PERIODS}
    tasks = {SWEEP, FORGET, AUDIT, INDEX_MENTIONS, ENCRYPT} | of_features
    assert {entry["task"] for entry in schedule.values()} == tasks
    assert {entry["options"]["queue"] for entry in schedule.values()} == {Queue.UPKEEP}
