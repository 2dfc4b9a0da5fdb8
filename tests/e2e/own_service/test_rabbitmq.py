"""The service with its queues in RabbitMQ, which is suspended and resumed, and Flower beside it."""

from __future__ import annotations

import base64
import json
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from e2e_stack import ApiResponse, Stack, kill, running, spawn, suspended
from local_servers import empty_database, free_port
from polling import wait_until
from rabbitmq_support import rabbitmq_server

from tools.services.rabbitmq import RabbitMq

LOGIN = "admin:a-long-password"


@pytest.fixture(scope="module")
def server() -> Iterator[RabbitMq]:
    with rabbitmq_server() as started:
        yield started


@pytest.fixture(scope="module")
def rabbit_stack(server: RabbitMq, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("rabbitmq")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, "rabbitmq"))
        broker_url = server.create_vhost("e2e")
        yield stop.enter_context(running(folder, url, BROKER_URL=broker_url, REPUBLISH_SECONDS="1"))


def reveal(stack: Stack, token: str, name: str, wait: int = 20) -> ApiResponse:
    body = {"subject": {"full_name": name, "company_domain": "nobody.example"}}
    return stack.call("POST", "/api/ext/reveal/email", body, Authorization=token, Prefer=f"wait={wait}")


def queue_lengths(stack: Stack) -> dict[str, float]:
    lines = stack.call("GET", "/metrics").body.decode().splitlines()
    values = (line.split("} ") for line in lines if line.startswith("ext_queue_messages{"))
    return {labels.partition('"')[2].rstrip('"'): float(value) for labels, value in values}


def test_a_reveal_goes_through_rabbitmq(rabbit_stack: Stack) -> None:
    _workspace, token = rabbit_stack.create_workspace()

    response = reveal(rabbit_stack, token, "Rabbit One")

    assert (response.status, response.body["job"]["status"]) == (200, "succeeded")
    assert queue_lengths(rabbit_stack) == dict.fromkeys(
        ("interactive", "providers", "enrichment", "upkeep"), 0
    )


def test_a_job_that_is_accepted_while_rabbitmq_hangs_is_done_afterwards(
    rabbit_stack: Stack, server: RabbitMq
) -> None:
    _workspace, token = rabbit_stack.create_workspace()
    assert server.process is not None
    with suspended([server.process]):
        accepted = reveal(rabbit_stack, token, "Rabbit Two", wait=0)
        ready = rabbit_stack.call("GET", "/readyz")

    def status() -> str:
        job = rabbit_stack.call("GET", f"/api/ext/jobs?id={accepted.body['job']['id']}", Authorization=token)
        return str(job.body["job"]["status"])

    wait_until(lambda: status() == "succeeded", 40)
    assert accepted.status == 202
    assert (ready.status, ready.body["checks"]["queue"]) == (503, "no_answer")
    assert "RabbitMQ or Redis does not answer in time" in ready.body["detail"]


def test_flower_shows_the_workers_and_the_lengths_of_the_queues(
    rabbit_stack: Stack, server: RabbitMq, tmp_path: Path
) -> None:
    port = free_port()
    settings = {"FLOWER_BASIC_AUTH": LOGIN, "FLOWER_BROKER_API": server.api}
    flower = spawn(
        *("celery", "-A", "workers.flower", "flower", "--address=127.0.0.1", f"--port={port}"),
        log=tmp_path / "flower.log",
        environment=rabbit_stack.environment | settings,
    )
    try:
        wait_until(lambda: page(port, "/api/workers?refresh=1") not in {b"", b"{}"}, 60)
        workers: dict[str, Any] = json.loads(page(port, "/api/workers"))
        broker = page(port, "/broker").decode()
    finally:
        kill(flower)

    assert [name.partition("@")[0] for name in workers] == ["worker0"]
    assert {name for name in ("interactive", "upkeep") if f"<td>{name}</td>" in broker} == {
        "interactive",
        "upkeep",
    }


def page(port: int, path: str) -> bytes:
    """Return the content of a page of Flower; empty if it does not answer."""
    login = base64.b64encode(LOGIN.encode()).decode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Basic {login}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            content: bytes = response.read()
    except OSError:
        return b""
    return content
