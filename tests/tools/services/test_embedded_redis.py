from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from polling import wait_until

from tools.services import embedded_redis
from tools.services.processes import ServiceError
from tools.state import State

pytestmark = pytest.mark.slow

HOLDER = """
import os, time
from tools.services import embedded_redis
from tools.state import State
with embedded_redis.running(State.open(), os.environ) as url:
    print(url, flush=True)
    time.sleep(1000)
"""


def fake_server(folder: Path, name: str) -> str:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return str(program)


def responds(url: str) -> bool:
    try:
        with redis.Redis.from_url(url) as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_redis_url_replaces_the_embedded_server(state: State) -> None:
    with embedded_redis.running(state, {"REDIS_URL": "redis://elsewhere:1/0"}) as url:
        assert url == "redis://elsewhere:1/0"

    assert not state.path("valkey").exists()


@pytest.mark.parametrize("name", embedded_redis.PROGRAMS)
def test_a_server_on_the_path_is_preferred_to_the_bundled_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    program = fake_server(tmp_path / "bin", name)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    assert embedded_redis.binary() == program


def test_without_a_server_on_the_path_the_bundled_one_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert Path(embedded_redis.binary()).name == "valkey-server"


def test_without_any_server_the_error_names_the_remedies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(embedded_redis, "find_spec", lambda _name: None)

    with pytest.raises(ServiceError, match="set REDIS_URL"):
        embedded_redis.binary()


def test_the_embedded_server_requires_its_password_evicts_nothing_and_stops(state: State) -> None:
    with embedded_redis.running(state, {}) as url:
        with redis.Redis.from_url(url) as client:
            settings = {**client.config_get("maxmemory-policy"), **client.config_get("append*")}
        without = url.replace(state.secrets()["REDIS_PASSWORD"], "wrong")
        with redis.Redis.from_url(without) as client, pytest.raises(redis.AuthenticationError):
            client.ping()

    assert settings["maxmemory-policy"] == "noeviction"
    assert (settings["appendonly"], settings["appendfsync"]) == ("yes", "everysec")
    assert not responds(url)


def test_the_embedded_server_keeps_its_port_and_its_data(state: State) -> None:
    with embedded_redis.running(state, {}) as first, redis.Redis.from_url(first) as client:
        client.set("kept", "yes")

    with embedded_redis.running(state, {}) as second, redis.Redis.from_url(second) as client:
        assert client.get("kept") == b"yes"

    assert second == first


def test_a_second_command_shares_the_server_of_the_first(state: State) -> None:
    with embedded_redis.running(state, {}) as first:
        with embedded_redis.running(state, {}) as second:
            assert second == first

        assert responds(first)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_embedded_server_never_outlives_its_owner(
    owner: Callable[[str], subprocess.Popen[str]],
    state: State,
    number: signal.Signals,
) -> None:
    process = owner(HOLDER)
    assert process.stdout
    url = process.stdout.readline().strip()
    assert responds(url)

    process.send_signal(number)

    wait_until(lambda: not responds(url))
    wait_until(lambda: not embedded_redis.is_in_use(state))
