"""Webhooks through real processes: a receiver in the operator's own network, and a worker that is killed."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from e2e_stack import Stack, operate
from polling import wait_until
from pytest_httpserver import HTTPServer
from standardwebhooks import Webhook as Reference
from werkzeug import Request, Response

ITEMS = [{"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}}]


@dataclass
class Receiver:
    """A customer's server: it records the requests, and responds when permitted."""

    url: str
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    may_answer: threading.Event = field(default_factory=threading.Event)

    def answer(self, request: Request) -> Response:
        self.got.append((dict(request.headers), request.get_data()))
        self.may_answer.wait(60)
        return Response(status=204)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        receiver = Receiver(f"http://127.0.0.1:{server.port}/done")
        server.expect_request("/done", method="POST").respond_with_handler(receiver.answer)
        yield receiver
        receiver.may_answer.set()


def command(stack: Stack, *words: str) -> Any:
    """Run an operator's command and return its JSON output."""
    return json.loads(operate(stack.environment, *words, "--json"))


def enrich(stack: Stack, receiver: Receiver) -> tuple[str, str]:
    """Request an enrichment with the receiver as webhook; return the workspace's id and the job."""
    workspace, token = stack.workspace(grant=5)
    answer = stack.call(
        "POST",
        "/api/ext/enrichment-request",
        {"entity": "person", "items": ITEMS, "fields": ["email"], "webhook_url": receiver.url},
        Authorization=token,
        Prefer="wait=25",
    )
    assert answer.status == 200, answer.body
    return workspace, answer.body["job"]["id"]


def webhook_of(stack: Stack, workspace: str) -> dict[str, Any]:
    (webhook,) = command(stack, "webhooks", "list", "--workspace", workspace)["webhooks"]
    return dict(webhook)


def attempts(stack: Stack, webhook_id: str) -> list[str]:
    return [one["state"] for one in command(stack, "webhooks", "show", webhook_id)["attempts"]]


def test_a_webhook_is_verified_by_the_reference_library_and_replayed_under_its_id(
    stack: Stack, receiver: Receiver
) -> None:
    receiver.may_answer.set()
    workspace, job_id = enrich(stack, receiver)
    secret = command(stack, "workspaces", "webhook-secret", workspace)["secret"]
    webhook = wait_until(lambda: _if_delivered(webhook_of(stack, workspace)))

    command(stack, "webhooks", "replay", webhook["id"])
    wait_until(lambda: len(receiver.got) == 2)
    told = [Reference(secret).verify(body, headers) for headers, body in receiver.got]

    assert [payload["type"] for payload in told] == ["job.finished"] * 2
    assert [payload["data"]["job"]["id"] for payload in told] == [job_id] * 2
    assert [headers["Webhook-Id"] for headers, _body in receiver.got] == [webhook["id"]] * 2
    wait_until(lambda: attempts(stack, webhook["id"]) == ["delivered", "delivered"])


def test_a_webhook_whose_worker_is_killed_with_the_request_open_is_delivered_by_another(
    stack: Stack, receiver: Receiver
) -> None:
    workspace, _job = enrich(stack, receiver)
    wait_until(lambda: receiver.got)

    (killed,) = stack.workers
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    stack.workers.clear()
    receiver.may_answer.set()
    stack.start_worker()
    webhook = wait_until(lambda: _if_delivered(webhook_of(stack, workspace)), 60)

    secret = command(stack, "workspaces", "webhook-secret", workspace)["secret"]
    told = [Reference(secret).verify(body, headers) for headers, body in receiver.got]
    assert attempts(stack, webhook["id"]) == ["lost", "delivered"]
    assert told[0] == told[1]
    assert [headers["Webhook-Id"] for headers, _body in receiver.got] == [webhook["id"]] * 2


def _if_delivered(webhook: dict[str, Any]) -> dict[str, Any] | None:
    return webhook if webhook["state"] == "delivered" else None
