from __future__ import annotations

from collections.abc import Iterator

import pytest
from local_servers import free_port
from rabbitmq_support import rabbitmq_server

from app.domain.kinds import Queue
from app.infra.broker import rabbitmq_broker
from cli.checks import rabbitmq as check
from cli.checks.findings import Level
from tools.services.rabbitmq import RabbitMq


@pytest.fixture(scope="module")
def server() -> Iterator[RabbitMq]:
    with rabbitmq_server() as started:
        yield started


@pytest.fixture
def vhost(server: RabbitMq) -> Iterator[str]:
    yield server.create_vhost("doctor")
    server.delete_vhost("doctor")


def report(url: str) -> list[tuple[str, Level, str]]:
    return [(finding.what, finding.level, finding.state) for finding in check.findings(url)]


def names_of_queues(url: str) -> list[str]:
    connection = rabbitmq_broker.connect(url)
    found = []
    for queue in Queue:
        try:
            connection.channel().queue_declare(queue.value, passive=True)
        except rabbitmq_broker.AMQPError:
            continue
        found.append(queue.value)
    connection.close()
    return found


def test_a_server_without_queues_is_in_order_and_stays_without(vhost: str) -> None:
    (server, queues) = report(vhost)

    assert server[:2] == ("RabbitMQ", Level.OK)
    assert server[2].startswith("version ")
    assert queues == ("RabbitMQ queues", Level.OK, "quorum queues, or not declared yet")
    assert names_of_queues(vhost) == []


def test_a_queue_of_another_type_is_an_error(vhost: str) -> None:
    connection = rabbitmq_broker.connect(vhost)
    connection.channel().queue_declare(Queue.UPKEEP.value, durable=True, auto_delete=False)
    connection.close()

    assert report(vhost)[1] == ("RabbitMQ queues", Level.ERROR, "of another type: upkeep")


def test_a_wrong_password_and_an_unknown_vhost_are_distinguished(server: RabbitMq) -> None:
    urls = (server.url().replace("guest:guest", "guest:canary-password"), server.url("no-such-vhost"))

    found = [report(url) for url in urls]

    assert found == [
        [("RabbitMQ", Level.ERROR, "refuses the user or the password")],
        [("RabbitMQ", Level.ERROR, "has no such virtual host, or the user may not use it")],
    ]


def test_an_unreachable_server_is_an_error() -> None:
    assert report(f"amqp://127.0.0.1:{free_port()}/") == [("RabbitMQ", Level.ERROR, "cannot be reached")]


@pytest.mark.parametrize(
    ("version", "level"),
    [("3.9.29", Level.ERROR), ("", Level.ERROR), ("3.10.8", Level.OK), ("4.1.0", Level.OK)],
)
def test_versions_before_3_10_are_too_old(version: str, level: Level) -> None:
    assert check._version(version).level is level  # noqa: SLF001 -- there is one version of the server here
