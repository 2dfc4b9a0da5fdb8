from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from local_servers import free_port
from polling import wait_until
from rabbitmq_support import rabbitmq_server

from app.domain.kinds import KINDS, Kind, Queue
from app.infra.broker import broker, celery_app, rabbitmq_broker, task_messages
from app.infra.broker.queue import JobPublisher
from app.infra.broker.rabbitmq_broker import RabbitMqBroker
from app.infra.circuit_breaker import CircuitOpen
from app.settings import Settings
from tools.services.rabbitmq import RabbitMq
from tools.state import ROOT

WORKER = """
from pathlib import Path

from app.domain.kinds import Kind
from app.infra.broker import celery_app
from app.settings import load

app = celery_app.configure(load())


@app.task(name=Kind.REVEAL_EMAIL.value)
def email(job_id):
    with Path("ran").open("a") as file:
        file.write(job_id + " ")
"""


@pytest.fixture(scope="module")
def server() -> Iterator[RabbitMq]:
    with rabbitmq_server() as started:
        yield started


@pytest.fixture
def vhost(server: RabbitMq, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a virtual host without queues."""
    name = request.node.name.partition("[")[0]
    yield server.create_vhost(name)
    server.delete_vhost(name)


@pytest.fixture
def queues(vhost: str) -> Iterator[RabbitMqBroker]:
    queues = RabbitMqBroker(vhost)
    yield queues
    queues.close()


def publisher(url: str) -> JobPublisher:
    return JobPublisher("redis://127.0.0.1:1/0", url)


def close(url: str) -> None:
    shared = broker.guarded(url).broker
    assert isinstance(shared, RabbitMqBroker)
    shared.close()


def messages(*job_ids: str) -> list[task_messages.TaskMessage]:
    return [task_messages.build(Kind.REVEAL_EMAIL, job_id) for job_id in job_ids]


def test_every_message_is_in_the_quorum_queue_of_its_kind(vhost: str, queues: RabbitMqBroker) -> None:
    sent = [publisher(vhost).publish(kind, [f"job_{kind}"]) for kind in Kind]

    assert all(sent)
    assert queues.lengths(Queue) == [[spec.queue for spec in KINDS.values()].count(queue) for queue in Queue]
    assert publisher(vhost).depth(KINDS[Kind.REVEAL_EMAIL].queue) > 0
    close(vhost)


def test_many_threads_send_at_once(queues: RabbitMqBroker) -> None:
    queues.lengths(Queue)  # declares the queues, which takes longer than any later call
    threads = [
        threading.Thread(target=queues.send, args=(Queue.UPKEEP, messages(f"job_{number}")))
        for number in range(3 * rabbitmq_broker.CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert queues.lengths([Queue.UPKEEP]) == [len(threads)]


def test_a_connection_that_was_idle_for_long_is_replaced(
    queues: RabbitMqBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    queues.send(Queue.UPKEEP, messages("job_1"))
    (before,) = queues._idle  # noqa: SLF001 -- which connection is used is not visible otherwise
    monkeypatch.setattr(rabbitmq_broker, "IDLE_SECONDS", -1)

    queues.send(Queue.UPKEEP, messages("job_2"))

    (after,) = queues._idle  # noqa: SLF001 -- likewise
    assert after is not before
    assert not before.connection.connected


def test_a_deleted_queue_is_declared_again(server: RabbitMq, queues: RabbitMqBroker) -> None:
    queues.send(Queue.UPKEEP, messages("job_1"))
    with queues._channel() as channel:  # noqa: SLF001 -- there is no public way to delete a queue
        channel.queue_delete(Queue.UPKEEP.value)

    with pytest.raises(ConnectionError):
        queues.send(Queue.UPKEEP, messages("job_2"))
    queues.send(Queue.UPKEEP, messages("job_3"))

    assert queues.lengths([Queue.UPKEEP]) == [1]


def test_without_rabbitmq_publishing_fails_and_then_fails_at_once() -> None:
    away = publisher(f"amqp://guest:guest@127.0.0.1:{free_port()}/")

    assert not away.publish(Kind.REVEAL_EMAIL, ["job_1"])
    with pytest.raises(CircuitOpen):
        away.depth(Queue.INTERACTIVE)


def test_a_wrong_password_is_an_error_of_the_connection(server: RabbitMq) -> None:
    with pytest.raises(ConnectionError, match="AccessRefused"):
        RabbitMqBroker(server.url().replace("guest:guest", "guest:wrong")).lengths(Queue)


def test_celery_uses_quorum_queues_with_confirmed_messages(settings: Settings) -> None:
    url = "amqp://guest:guest@127.0.0.1/"

    conf = celery_app.configure(replace(settings, broker_url=url)).conf
    declared = {queue.name: (queue.exchange.name, queue.queue_arguments) for queue in conf.task_queues}

    try:
        assert conf.broker_url == url
        assert conf.broker_transport_options == {"confirm_publish": True}
        assert declared == {queue.value: ("", {"x-queue-type": "quorum"}) for queue in Queue}
    finally:
        conf.task_queues = None
        celery_app.configure(settings)


@pytest.mark.release
def test_a_real_worker_runs_the_messages_and_is_restarted_without_loss(
    vhost: str, queues: RabbitMqBroker, tmp_path: Path
) -> None:
    (tmp_path / "one_task.py").write_text(WORKER)
    queues.send(Queue.INTERACTIVE, messages("job_1"))

    for job in ("job_2", "job_3"):
        with run_worker(vhost, tmp_path):
            queues.send(Queue.INTERACTIVE, messages(job))
            wait_until(lambda job=job: job in ran(tmp_path), 30)  # type: ignore[misc]

    assert ran(tmp_path) == ["job_1", "job_2", "job_3"]
    assert queues.lengths(Queue) == [0] * len(Queue)


def ran(folder: Path) -> list[str]:
    file = folder / "ran"
    return file.read_text().split() if file.exists() else []


@contextmanager
def run_worker(url: str, folder: Path) -> Iterator[None]:
    """Run a real worker of the queue `interactive` until the block ends."""
    options = ["-P", "solo", "-Q", "interactive", "--without-gossip", "--without-mingle"]
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "one_task", "worker", *options],
        cwd=folder,
        env=os.environ | {"BROKER_URL": url, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield
    worker.send_signal(signal.SIGTERM)
    worker.wait(20)
