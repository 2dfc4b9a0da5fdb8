"""Redis servers that refuse writes: /readyz reports them, and requests still succeed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from apiflask import APIFlask
from local_servers import free_port, start_redis
from polling import wait_until
from users_support import create_user

from app.domain.kinds import Queue
from app.engine.queues import worker_heartbeats
from app.engine.queues.worker_heartbeats import Heartbeat, WorkerState
from app.factory import create_app
from app.infra import clock
from app.infra.database.db import Database
from app.settings import Settings

Refuse = Callable[[redis.Redis, Path], object]


def fill_up(server: redis.Redis, _folder: Path) -> None:
    server.config_set("maxmemory-policy", "noeviction")
    server.config_set("maxmemory", 1)


def make_a_replica(server: redis.Redis, _folder: Path) -> None:
    server.replicaof("127.0.0.1", free_port())


def fail_to_save(server: redis.Redis, folder: Path) -> None:
    """Delete the server's folder and make it fail to save there."""
    folder.rmdir()
    server.config_set("save", "3600 1")
    server.bgsave()
    wait_until(lambda: server.info("persistence")["rdb_last_bgsave_status"] == "err")


def want_replicas(server: redis.Redis, _folder: Path) -> None:
    server.config_set("min-replicas-to-write", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "redis"
    folder.mkdir()
    return folder


@pytest.fixture
def server(folder: Path) -> Iterator[redis.Redis]:
    """A Redis-protocol server for this test alone."""
    port = free_port()
    process = start_redis(port, folder)
    with redis.Redis(port=port) as client:
        yield client
    process.kill()
    process.wait()


@pytest.fixture
def app(settings: Settings, database: Database, server: redis.Redis) -> Iterator[APIFlask]:
    port = server.connection_pool.connection_kwargs["port"]
    app = create_app(dataclasses.replace(settings, redis_url=f"redis://127.0.0.1:{port}/0"))
    heartbeat = Heartbeat(
        name="one@host:1", queues=tuple(Queue), threads=9, busy=0, state=WorkerState.WORKING, up_seconds=9
    )
    with database.transaction() as session:
        worker_heartbeats.record_heartbeat(session, heartbeat, now=clock.now())
    yield app
    app.extensions["services"].listener.close()
    app.extensions["services"].database.close()


@pytest.mark.parametrize("refuse", [fill_up, make_a_replica, fail_to_save, want_replicas])
def test_the_service_is_not_ready_while_redis_refuses_writes(
    app: APIFlask, server: redis.Redis, folder: Path, refuse: Refuse
) -> None:
    client = app.test_client()
    wait_until(lambda: client.get("/readyz").status_code == 200)
    refuse(server, folder)

    after = client.get("/readyz")

    assert (after.status_code, after.json["checks"]["queue"]) == (503, "refuses_writes")  # type: ignore[index]
    assert after.json["detail"].startswith("Redis answers but refuses writes")  # type: ignore[index]


@pytest.mark.parametrize("refuse", [fill_up, make_a_replica, fail_to_save, want_replicas])
def test_requests_are_processed_while_redis_refuses_writes(
    app: APIFlask, server: redis.Redis, folder: Path, refuse: Refuse
) -> None:
    user = create_user(app)
    refuse(server, folder)

    looked_up = user.client.post(
        "/api/ext/lookup", json={"subject": {"email": "ada@acme.com"}}, headers=user.headers
    )
    response = user.client.post(
        "/api/ext/reveal/email",
        json={"subject": {"email": "ada@acme.com"}},
        headers=user.headers | {"Prefer": "respond-async"},
    )

    assert (looked_up.status_code, response.status_code) == (200, 202)
