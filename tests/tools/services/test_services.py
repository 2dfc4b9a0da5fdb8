from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import pytest
from polling import wait_until

from tools import run, up
from tools.services import ports, processes
from tools.services.processes import ServiceError
from tools.services.stack import LocalStack, find_running
from tools.services.supervisor import Supervisor
from tools.state import ROOT, Lock, State

pytestmark = pytest.mark.slow

LISTENER = f"exec {sys.executable} -m http.server -b 127.0.0.1 $FLOWER_PORT"


def _accepts(port: str) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", int(port)), timeout=1) as connection:
        return connection.getsockname() is not None
    return False


def test_a_chosen_port_that_is_taken_is_an_error(state: State) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        with processes.interruptible(), pytest.raises(ServiceError, match=f"Port {port} is taken"):
            LocalStack(state, port=port).__enter__()

        assert ports.next_free(port) != port


@pytest.mark.parametrize("text", ["0", "65536", "-1", "http", "8 000"])
def test_an_invalid_port_is_refused_before_anything_starts(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        up.main([f"--port={text}"])

    assert f"{text} is not a port: choose one from 1 to 65535" in capsys.readouterr().err


def test_the_port_of_the_api_is_held_once_it_is_chosen() -> None:
    first = ports.any_free()
    with ports.listen(first) as held:  # type: ignore[union-attr]
        port = held.getsockname()[1]

        with pytest.raises(OSError, match="in use"):
            socket.create_server(("127.0.0.1", port))
        with ports.listen(port) as other:  # type: ignore[union-attr]
            assert other.getsockname()[1] > port


def test_flower_gets_another_port_if_its_own_is_taken_before_it_starts(
    state: State, supervise: Callable[..., Supervisor]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        stack = LocalStack(state)
        stack.env = os.environ | {"FLOWER_PORT": port, "FLOWER_BASIC_AUTH": "a:b", "REDIS_URL": "r"}
        stack.supervisor = supervise({"flower": LISTENER}, stack.env)
        stack._publish_access()  # noqa: SLF001 -- as when Flower dies after the start

        wait_until(lambda: stack.tick() or stack.env["FLOWER_PORT"] != port)
        wait_until(lambda: stack.tick() or _accepts(stack.env["FLOWER_PORT"]))

    assert state.read("up.json")["flower_url"].endswith(f":{stack.env['FLOWER_PORT']}")


def test_a_second_start_names_the_address_of_the_first(state: State) -> None:
    lock = Lock(state.path("up.lock"))
    lock.acquire()
    state.write("up.json", {"pid": os.getpid(), "base_url": "http://127.0.0.1:8000"})

    message = r"already running at http://127\.0\.0\.1:8000"
    with processes.interruptible(), pytest.raises(ServiceError, match=message):
        LocalStack(state).__enter__()

    assert find_running(state) == state.read("up.json")
    lock.release()
    assert find_running(state) is None


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143)])
def test_run_returns_the_exit_code_of_the_command(bare: dict[str, str], script: str, code: int) -> None:
    env = bare | {"REDIS_URL": "redis://elsewhere:1/0", "DATABASE_URL": "sqlite://"}

    done = subprocess.run(
        [sys.executable, "-m", "tools.run", "sh", "-c", script], env=env, cwd=ROOT, check=False
    )

    assert done.returncode == code


def test_run_starts_the_embedded_services_for_its_command(bare: dict[str, str]) -> None:
    source = "import os, redis; print(redis.Redis.from_url(os.environ['REDIS_URL']).ping())"
    command = [sys.executable, "-m", "tools.run", sys.executable, "-c", source]

    done = subprocess.run(
        command,
        env=bare | {"DATABASE_URL": "sqlite://"},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )

    assert (done.stdout, done.returncode) == ("True\n", 0)


def test_run_returns_127_for_an_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert shutil.which("no-such-command") is None

    assert run.main(["no-such-command"]) == 127

    assert "no-such-command" in capsys.readouterr().err
