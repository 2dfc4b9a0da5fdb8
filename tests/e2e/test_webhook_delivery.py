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
from e2e_stack import Stack, run_flask
from polling import wait_until
from pytest_httpserver import HTTPServer
from standardwebhooks import Webhook as Reference
from werkzeug import Request, Response

ITEMS = [{"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}}]


@dataclass
class FakeReceiver:
    """A customer's server: it records the requests, and responds when permitted."""

    url: str
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    may_respond: threading.Event = field(default_factory=threading.Event)

    def respond(self, request: Request) -> Response:
        self.requests.append((dict(request.headers), request.get_data()))
        self.may_respond.wait(60)
        return Response(status=204)


@pytest.fixture
def receiver() -> Iterator[FakeReceiver]:
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        receiver = FakeReceiver(f"http://127.0.0.1:{server.port}/done")
        server.expect_request("/done", method="POST").respond_with_handler(receiver.respond)
        yield receiver
        receiver.may_respond.set()


def run_command(stack: Stack, *arguments: str) -> Any:
    """Run an operator's command and return its JSON output."""
    return json.loads(run_flask(stack.environment, *arguments, "--json"))


def enrich(stack: Stack, receiver: FakeReceiver) -> tuple[str, str]:
    """Request an enrichment with the receiver as webhook; return the workspace's id and the job."""
    workspace, token = stack.create_workspace(grant=5)
    response = stack.call(
        "POST",
        "/api/ext/enrichment-request",
        {"entity": "person", "items": ITEMS, "fields": ["email"], "webhook_url": receiver.url},
        Authorization=token,
        Prefer="wait=25",
    )
    assert response.status == 200, response.body
    return workspace, response.body["job"]["id"]


def find_webhook(stack: Stack, workspace: str) -> dict[str, Any]:
    (webhook,) = run_command(stack, "webhooks", "list", "--workspace", workspace)["webhooks"]
    return dict(webhook)


def attempts(stack: Stack, webhook_id: str) -> list[str]:
    return [attempt["state"] for attempt in run_command(stack, "webhooks", "show", webhook_id)["attempts"]]


def test_a_webhook_is_verified_by_the_reference_library_and_replayed_under_its_id(
    stack: Stack, receiver: FakeReceiver
) -> None:
    receiver.may_respond.set()
    workspace, job_id = enrich(stack, receiver)
    secret = run_command(stack, "workspaces", "webhook-secret", workspace)["secret"]
    webhook = wait_until(lambda: _if_delivered(find_webhook(stack, workspace)))

    run_command(stack, "webhooks", "replay", webhook["id"])
    wait_until(lambda: len(receiver.requests) == 2)
    payloads = [Reference(secret).verify(body, headers) for headers, body in receiver.requests]

    assert [payload["type"] for payload in payloads] == ["job.finished"] * 2
    assert [payload["data"]["job"]["id"] for payload in payloads] == [job_id] * 2
    assert [headers["Webhook-Id"] for headers, _body in receiver.requests] == [webhook["id"]] * 2
    wait_until(lambda: attempts(stack, webhook["id"]) == ["delivered", "delivered"])


@pytest.mark.release
def test_a_webhook_is_delivered_by_another_worker_if_its_worker_is_killed_during_the_request(
    stack: Stack, receiver: FakeReceiver
) -> None:
    workspace, _job = enrich(stack, receiver)
    wait_until(lambda: receiver.requests)

    (killed,) = stack.workers
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    stack.workers.clear()
    receiver.may_respond.set()
    stack.start_worker()
    webhook = wait_until(lambda: _if_delivered(find_webhook(stack, workspace)), 60)

    secret = run_command(stack, "workspaces", "webhook-secret", workspace)["secret"]
    payloads = [Reference(secret).verify(body, headers) for headers, body in receiver.requests]
    assert attempts(stack, webhook["id"]) == ["lost", "delivered"]
    assert payloads[0] == payloads[1]
    assert [headers["Webhook-Id"] for headers, _body in receiver.requests] == [webhook["id"]] * 2


def _if_delivered(webhook: dict[str, Any]) -> dict[str, Any] | None:
    return webhook if webhook["state"] == "delivered" else None
