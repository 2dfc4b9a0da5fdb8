from __future__ import annotations

import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis
from jobs_support import at_once
from local_servers import free_port, start_redis

from app.infra.broker.rate_limiter import Limiter
from app.infra.broker.redis_client import Client
from app.infra.circuit_breaker import CircuitBreaker

YEAR = 360 * 24 * 3600
"""Seconds. A window of an hour could end during a test, and its counts begin to fade."""


@dataclass
class RedisServer:
    port: int
    start: Callable[[], None]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"


@pytest.fixture
def key() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A port, and a server on it that the test can start, stop and restart."""
    servers: list[subprocess.Popen[bytes]] = []
    port = free_port()

    def start() -> None:
        servers.append(start_redis(port, tmp_path))

    yield RedisServer(port, start)
    for server in servers:
        server.kill()
        server.wait()


@pytest.fixture
def commands_sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the commands sent to any Redis server."""
    commands: list[str] = []
    real: Any = redis.Connection.pack_commands

    def note(connection: redis.Connection, sent: Any) -> Any:
        commands.extend(command[0] for command in sent)
        return real(connection, sent)

    monkeypatch.setattr(redis.Connection, "pack_commands", note)
    return commands


def test_requests_are_counted_and_then_refused(redis_url: str, key: str) -> None:
    limiter = Limiter(redis_url)

    standings = [limiter.hit("2/year", key) for _ in range(3)]

    assert [standing.allowed for standing in standings] == [True, True, False]
    assert [standing.remaining for standing in standings] == [1, 0, 0]
    assert {(standing.quota, standing.window) for standing in standings} == {(2, YEAR)}
    assert all(1 <= standing.reset <= YEAR for standing in standings)


def test_a_request_is_counted_in_one_round_trip_with_the_status_that_a_peek_returns(
    redis_url: str, key: str, commands_sent: list[str]
) -> None:
    limiter = Limiter(redis_url)
    limiter.hit("9/year", key)  # Redis learns the script
    commands_sent.clear()

    counted = limiter.hit("9/year", key)

    assert commands_sent == ["EVALSHA"]
    peeked = limiter.peek("9/year", key)
    assert (peeked.remaining, peeked.quota) == (counted.remaining, counted.quota) == (7, 9)
    assert 0 <= counted.reset - peeked.reset <= 1


def test_processes_count_together(redis_url: str, key: str) -> None:
    Limiter(redis_url).hit("1/year", key)

    standing = Limiter(redis_url).hit("1/year", key)

    assert not standing.allowed


def test_peeking_does_not_count(redis_url: str, key: str) -> None:
    limiter = Limiter(redis_url)

    before = [limiter.peek("1/year", key).allowed for _ in range(3)]
    limiter.hit("1/year", key)

    assert before == [True] * 3
    assert not limiter.peek("1/year", key).allowed


def test_keys_are_counted_separately(redis_url: str, key: str) -> None:
    limiter = Limiter(redis_url)
    limiter.hit("1/year", key, "a")

    assert limiter.hit("1/year", key, "b").allowed


def test_without_redis_each_process_allows_a_quarter(key: str) -> None:
    limiter = Limiter("redis://127.0.0.1:1/0")

    standings = [limiter.hit("8/year", key) for _ in range(3)]

    assert [standing.allowed for standing in standings] == [True, True, False]
    assert standings[0].quota == 2


def test_without_redis_many_processes_together_stay_within_the_limit(key: str) -> None:
    limiters = [Limiter("redis://127.0.0.1:1/0", processes=8) for _ in range(8)]

    passed = sum(limiter.hit("16/year", key).allowed for limiter in limiters for _ in range(5))

    assert passed == 16


def test_without_redis_the_strictest_limit_allows_one_request(key: str) -> None:
    limiter = Limiter("redis://127.0.0.1:1/0")

    assert limiter.peek("1/year", key).allowed
    assert [limiter.hit("1/year", key).allowed for _ in range(2)] == [True, False]


def test_a_hanging_redis_delays_only_the_first_request(
    server: RedisServer, key: str, commands_sent: list[str]
) -> None:
    server.start()
    limiter = Limiter(server.url)
    limiter.hit("8/year", key)
    with redis.Redis.from_url(server.url) as client:
        client.execute_command("CLIENT", "PAUSE", "60000", "ALL")
    commands_sent.clear()

    standings = [limiter.hit("8/year", key) for _ in range(5)]

    assert [standing.allowed for standing in standings] == [True, True, False, False, False]
    assert commands_sent == ["EVALSHA"]


def test_counting_in_redis_resumes_after_an_outage(
    server: RedisServer, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.infra.broker.redis_client.CircuitBreaker", partial(CircuitBreaker, seconds=0))
    limiter = Limiter(server.url)
    alone = limiter.hit("8/year", key)
    server.start()

    together = limiter.hit("8/year", key)

    assert (alone.quota, alone.remaining) == (2, 1)
    assert (together.quota, together.remaining) == (8, 7)


@pytest.mark.release
def test_without_redis_threads_of_a_process_share_one_count(
    server: RedisServer, request: pytest.FixtureRequest
) -> None:
    limiter = Limiter(server.url)
    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-6)  # threads take turns within the storage

    def hit(key: str, _number: int) -> int:
        return sum(limiter.hit("40/year", key).allowed for _ in range(4))

    allowed = [sum(at_once(8, partial(hit, str(key)))) for key in range(1000)]

    assert set(allowed) == {10}


def test_concurrent_requests_are_counted_together(
    redis_url: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips: list[int] = []
    real = Client.execute_all

    def slow(client: Client, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        trips.append(len(commands))
        time.sleep(0.05)  # the others gather meanwhile
        return real(client, commands)

    limiter = Limiter(redis_url)
    limiter.hit("5/year", "another")  # loads the script
    monkeypatch.setattr(Client, "execute_all", slow)

    standings = at_once(8, lambda number: limiter.hit("5/year", key, str(number % 2)))

    assert sum(standing.allowed for standing in standings) == 8
    assert sorted(standing.remaining for standing in standings) == [1, 1, 2, 2, 3, 3, 4, 4]
    assert sum(trips) == 8
    assert len(trips) < 8


def test_a_redis_that_has_forgotten_the_script_counts_once(redis_url: str, key: str) -> None:
    limiter = Limiter(redis_url)
    limiter.hit("9/year", key)
    with redis.Redis.from_url(redis_url) as client:
        client.script_flush()

    counted = limiter.hit("9/year", key)

    assert (counted.quota, counted.remaining) == (9, 7)
