from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from prometheus_client import CONTENT_TYPE_LATEST
from support import free_port

from app.infra import presence, redis
from app.infra.db import Database


def settle(app: APIFlask, **changes: str) -> None:
    """Change settings of the running application."""
    machines = app.extensions["machines"]
    settings = dataclasses.replace(machines.settings, **changes)
    app.extensions["machines"] = dataclasses.replace(machines, settings=settings)


def test_a_process_that_answers_is_alive(client: FlaskClient) -> None:
    answer = client.get("/healthz")

    assert (answer.status_code, answer.json) == (200, {"status": "ok"})


def test_with_database_queue_and_a_worker_the_service_is_ready(client: FlaskClient, redis_url: str) -> None:
    with redis.connect(redis_url) as worker:
        presence.say_alive(worker, "one@host")

    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json == {"status": "ok", "checks": {"database": "ok", "queue": "ok", "workers": "ok"}}


def test_without_a_worker_it_is_not(client: FlaskClient) -> None:
    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json == {
        "status": "unavailable",
        "checks": {"database": "ok", "queue": "ok", "workers": "missing"},
    }


def test_without_redis_it_is_not(app: APIFlask) -> None:
    settle(app, redis_url=f"redis://127.0.0.1:{free_port()}/0")

    answer = app.test_client().get("/readyz")

    assert answer.status_code == 503
    assert answer.json is not None
    assert answer.json["checks"] == {"database": "ok", "queue": "unreachable", "workers": "unreachable"}


def test_without_a_database_it_is_not(app: APIFlask) -> None:
    nowhere = Database(f"postgresql://127.0.0.1:{free_port()}/nothing")
    app.extensions["machines"] = dataclasses.replace(app.extensions["machines"], database=nowhere)

    answer = app.test_client().get("/readyz")

    assert answer.status_code == 503
    assert answer.json is not None
    assert answer.json["checks"]["database"] == "unreachable"


def test_this_machine_may_see_the_figures(client: FlaskClient) -> None:
    client.get("/healthz")

    answer = client.get("/metrics")

    assert (answer.status_code, answer.content_type) == (200, CONTENT_TYPE_LATEST)
    assert 'ext_requests_total{endpoint="/healthz",status="200"}' in answer.text


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("192.0.2.1", {}),
        ("127.0.0.1", {"X-Forwarded-For": "192.0.2.1"}),
        ("127.0.0.1", {"Forwarded": "for=192.0.2.1"}),
        ("127.0.0.1", {"X-Real-IP": "192.0.2.1"}),
        ("127.0.0.1", {"Via": "1.1 proxy"}),
    ],
)
def test_to_the_world_nothing_is_there(client: FlaskClient, address: str, headers: dict[str, str]) -> None:
    answer = client.get("/metrics", headers=headers, environ_base={"REMOTE_ADDR": address})

    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("sent", "status"),
    [({"Authorization": "Bearer a-long-token"}, 200), ({"Authorization": "Bearer another"}, 404), ({}, 404)],
)
def test_with_a_token_set_only_who_sends_it_may_see_them(
    app: APIFlask, sent: dict[str, str], status: int
) -> None:
    settle(app, metrics_token="a-long-token")

    answer = app.test_client().get("/metrics", headers=sent)

    assert answer.status_code == status


def test_several_processes_add_their_figures_up(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))

    answer = client.get("/metrics")

    assert answer.status_code == 200
