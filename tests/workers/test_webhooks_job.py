"""Telling somebody outside that a job is over, over a real connection."""

from __future__ import annotations

import socket
from typing import Any

import pytest
import redis
from jobs_support import a_question, a_workspace, claim, submit
from pytest_httpserver import HTTPServer
from standardwebhooks import Webhook as Reference

from app.core import leases, webhooks
from app.core.leases import Answer
from app.domain.kinds import Outcome, Queue
from app.infra import clock
from app.infra.db import Database
from app.infra.queue import Sender
from app.settings import Settings
from workers.base import Machines
from workers.http import Door, Refused
from workers.jobs.webhooks import deliver, post, send_due

LOOPBACK = Door(allowed=lambda address: address == "127.0.0.1", scheme="http")


class Silent:
    def ring(self, job_id: str) -> None: ...


@pytest.fixture
def machines(settings: Settings, database: Database, redis_url: str) -> Machines:
    return Machines(settings, database, Sender(redis_url), Silent())  # type: ignore[arg-type]


def over(database: Database, url: str) -> str:
    """End a job whose webhook goes to the address, and take it; give the webhook's id."""
    with database.transaction() as session:
        job = submit(session, a_question(a_workspace(session), webhook_url=url)).job
        now = clock.now()
        leases.settle(session, claim(session, job.id), Answer(outcome=Outcome.FOUND), now=now)
        (webhook_id,) = webhooks.take_due(session, now=now)
        return webhook_id


def test_a_post_is_signed_so_that_the_reference_library_takes_it(
    machines: Machines, database: Database, httpserver: HTTPServer
) -> None:
    httpserver.expect_oneshot_request("/done", method="POST").respond_with_data("", status=204)
    webhook_id = over(database, httpserver.url_for("/done").replace("localhost", "127.0.0.1"))

    post(webhook_id, machines, LOOPBACK)

    request, _response = httpserver.log[0]
    with database.reading() as session:
        left = webhooks.delivery(session, webhook_id)
        workspace = str(session.connection().exec_driver_sql("SELECT workspace_id FROM jobs").scalar())
    payload: dict[str, Any] = Reference(webhooks.secret(workspace)).verify(
        request.data, dict(request.headers)
    )
    assert payload["type"] == "job.finished"
    assert request.headers["Webhook-Id"] == webhook_id
    assert left is None


@pytest.mark.parametrize("status", [301, 404, 500])
def test_anything_but_success_is_tried_again_and_no_redirect_is_followed(
    machines: Machines, database: Database, httpserver: HTTPServer, status: int
) -> None:
    httpserver.expect_request("/done").respond_with_data(
        "", status=status, headers={"Location": "/elsewhere"}
    )
    webhook_id = over(database, httpserver.url_for("/done").replace("localhost", "127.0.0.1"))

    post(webhook_id, machines, LOOPBACK)

    with database.reading() as session:
        assert webhooks.delivery(session, webhook_id) is not None
    assert [request.path for request, _response in httpserver.log] == ["/done"]


def test_an_address_that_is_away_is_tried_again(machines: Machines, database: Database) -> None:
    webhook_id = over(database, "http://127.0.0.1:1/done")

    post(webhook_id, machines, LOOPBACK)

    with database.reading() as session:
        assert webhooks.delivery(session, webhook_id) is not None


def test_a_private_address_is_never_called(
    machines: Machines, database: Database, httpserver: HTTPServer
) -> None:
    webhook_id = over(database, httpserver.url_for("/done"))

    post(webhook_id, machines, Door(scheme="http"))

    assert httpserver.log == []


def test_what_is_no_more_is_left_alone(machines: Machines) -> None:
    post("whk_0", machines, LOOPBACK)


def test_the_task_delivers_through_the_real_door(
    machines: Machines, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.base.machines", lambda: machines)
    webhook_id = over(database, "https://127.0.0.1:1/")

    deliver(webhook_id)

    with database.reading() as session:
        assert webhooks.delivery(session, webhook_id) is not None


@pytest.mark.parametrize(
    "url",
    [
        "http://93.184.215.14/",
        "https://user@93.184.215.14/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0x7f.1/",
        "https://2130706433/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://169.254.169.254/latest",
        "https://localhost/",
        "https://nowhere.invalid/",
        "https:///",
        "ftp://93.184.215.14/",
        "https://[bad/",
    ],
)
def test_hostile_urls_are_refused(url: str) -> None:
    with pytest.raises(Refused):
        Door().post(url, b"{}", {})


def test_a_name_is_refused_if_any_of_its_addresses_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(2, 1, 6, "", (address, 443)) for address in ("93.184.215.14", "10.0.0.1")]
    real = socket.getaddrinfo  # threads of other tests go on resolving

    def resolve(host: str, *rest: Any, **options: Any) -> Any:
        return found if host == "two-faced.example" else real(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    with pytest.raises(Refused):
        Door().post("https://two-faced.example/", b"{}", {})


def test_due_webhooks_are_sent_to_the_upkeep_queue(
    machines: Machines, database: Database, redis_url: str
) -> None:
    with database.transaction() as session:
        job = submit(session, a_question(a_workspace(session), webhook_url="https://a.example/")).job
        leases.settle(session, claim(session, job.id), Answer(outcome=Outcome.FOUND), now=clock.now())

    send_due(machines)
    send_due(machines)

    with redis.Redis.from_url(redis_url) as client:
        assert client.llen(Queue.UPKEEP.value) == 1
        client.flushall()
