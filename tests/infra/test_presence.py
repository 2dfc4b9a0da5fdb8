from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from jobs_support import NOW
from redis import Redis
from redis.exceptions import RedisError
from support import free_port

from app.infra import clock, presence, redis


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with redis.connect(redis_url) as client:
        yield client
        client.flushall()


def test_at_first_nobody_lives(client: Redis) -> None:
    assert presence.alive(client) == 0


def test_each_worker_counts_once(client: Redis) -> None:
    for name in ("one@host", "two@host", "one@host"):
        presence.say_alive(client, name)

    assert presence.alive(client) == 2


def test_who_has_been_silent_for_long_is_forgotten(client: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)
    presence.say_alive(client, "silent@host")
    monkeypatch.setattr(clock, "now", lambda: NOW + timedelta(seconds=presence.SECONDS))
    presence.say_alive(client, "busy@host")

    assert presence.alive(client) == 1
    assert client.zrange(presence.WORKERS_KEY, 0, -1) == [b"busy@host"]


def test_without_redis_nobody_can_tell() -> None:
    with redis.connect(f"redis://127.0.0.1:{free_port()}/0") as client, pytest.raises(RedisError):
        presence.alive(client)
