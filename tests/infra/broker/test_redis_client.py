from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis
from local_servers import free_port, start_redis
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from app.domain.kinds import Kind
from app.infra.broker import redis_client
from app.infra.broker.queue import JobPublisher
from app.infra.circuit_breaker import CircuitOpen


def test_a_client_connects_to_a_server(redis_url: str) -> None:
    with redis_client.connect(redis_url) as client:
        assert client.ping() is True


def test_a_closed_port_fails_at_once_without_retries() -> None:
    started = time.monotonic()

    with redis_client.connect(f"redis://127.0.0.1:{free_port()}/0") as client, pytest.raises(RedisError):
        client.ping()

    assert time.monotonic() - started < 5


def test_a_server_that_never_replies_times_out_soon() -> None:
    with socket.create_server(("127.0.0.1", 0)) as black_hole:
        started = time.monotonic()

        with (
            redis_client.connect(f"redis://127.0.0.1:{black_hole.getsockname()[1]}/0") as client,
            pytest.raises(RedisError),
        ):
            client.ping()

    assert time.monotonic() - started < 10


def test_a_listener_has_a_longer_timeout(redis_url: str) -> None:
    with redis_client.connect(redis_url, answer_seconds=7.0) as client:
        assert client.connection_pool.connection_kwargs["socket_timeout"] == 7.0


@pytest.mark.parametrize("error", [RedisError(), ConnectionRefusedError()])
def test_every_error_of_an_unreachable_server_opens_the_circuit(error: Exception) -> None:
    breaker = redis_client.guarded(f"redis://127.0.0.1:{free_port()}/0").breaker

    with pytest.raises(type(error)), breaker:
        raise error

    with pytest.raises(CircuitOpen), breaker:
        pass


def test_the_circuit_is_shared_by_all_callers() -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"
    JobPublisher(url).publish(Kind.REVEAL_EMAIL, ["job_1"])

    with pytest.raises(CircuitOpen), redis_client.guarded(url).breaker:
        pass


def test_a_command_on_a_connection_that_the_server_has_closed_is_sent_again(redis_url: str) -> None:
    with redis_client.connect(redis_url) as client, redis_client.connect(redis_url) as admin:
        client.ping()
        admin.client_kill_filter(_type="normal", skipme=True)

        assert client.ping() is True


def test_a_refused_command_leaves_its_connection_usable(redis_url: str) -> None:
    with redis_client.connect(redis_url) as client:
        client.set("text", "a")
        with pytest.raises(ResponseError):
            client.lpush("text", "b")

        assert client.get("text") == b"a"


def test_a_command_waits_until_another_thread_returns_its_connection(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_client, "CONNECTIONS", 1)
    with redis_client.connect(redis_url) as client, ThreadPoolExecutor(4) as threads:
        values = list(threads.map(lambda _number: client.incr("counter"), range(40)))

        assert sorted(values) == list(range(1, 41))


def test_without_a_free_connection_a_command_fails(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_client, "CONNECTIONS", 1)
    with redis_client.connect(redis_url) as client:
        taken = client.connection_pool.get_connection()

        with pytest.raises(RedisError, match="No connection"):
            client.ping()

        client.connection_pool.release(taken)


def test_a_late_reply_is_not_read_as_that_of_the_next_command(tmp_path: Path) -> None:
    port = free_port()
    server = start_redis(port, tmp_path)
    try:
        with redis_client.connect(f"redis://127.0.0.1:{port}/0", answer_seconds=0.2) as client:
            client.ping()
            with redis.Redis(port=port) as other:
                other.execute_command("CLIENT", "PAUSE", "500", "ALL")
            with pytest.raises(RedisTimeoutError):
                client.echo("first")
            time.sleep(0.6)  # the reply has arrived

            assert client.echo("second") == b"second"
    finally:
        server.kill()
        server.wait()
