from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import pytest
from jobs_support import until

from tools import run, up
from tools.services import ports, processes, stack
from tools.services.processes import ServiceError
from tools.services.supervisor import Supervisor
from tools.state import ROOT, Lock, State

LISTENER = f"exec {sys.executable} -m http.server -b 127.0.0.1 $FLOWER_PORT"


def _accepts(port: str) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", int(port)), timeout=1) as connection:
        return connection.getsockname() is not None
    return False


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(state: State) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with processes.interruptible(), pytest.raises(ServiceError, match=f"Port {port} is taken"):
            stack.LocalStack(state, port=port).__enter__()

        assert ports.next_free(port) != port


@pytest.mark.parametrize("text", ["0", "65536", "-1", "http", "8 000"])
def test_what_is_not_a_port_is_refused_before_anything_starts(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        up.main([f"--port={text}"])

    assert f"{text} is not a port: choose one from 1 to 65535" in capsys.readouterr().err


def test_the_port_of_the_api_is_held_from_its_choice_on() -> None:
    first = ports.any_free()
    with ports.listen(first) as held:  # type: ignore[union-attr]
        port = held.getsockname()[1]

        with pytest.raises(OSError, match="in use"):
            socket.create_server(("127.0.0.1", port))
        with ports.listen(port) as other:  # type: ignore[union-attr]
            assert other.getsockname()[1] > port


def test_flowers_port_that_is_taken_before_it_starts_is_chosen_again(
    state: State, supervise: Callable[..., Supervisor]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        local = stack.LocalStack(state)
        local.env = os.environ | {"FLOWER_PORT": port, "FLOWER_BASIC_AUTH": "a:b", "REDIS_URL": "r"}
        local.supervisor = supervise({"flower": LISTENER}, local.env)
        local._publish_access()  # noqa: SLF001 -- it was up when Flower died

        until(lambda: local.tick() or local.env["FLOWER_PORT"] != port)
        until(lambda: local.tick() or _accepts(local.env["FLOWER_PORT"]))

    assert state.read("up.json")["flower_url"].endswith(f":{local.env['FLOWER_PORT']}")


def test_a_second_start_says_where_the_first_one_is(state: State) -> None:
    lock = Lock(state.path("up.lock"))
    lock.acquire()
    state.write("up.json", {"pid": os.getpid(), "base_url": "http://127.0.0.1:8000"})

    message = r"already up at http://127\.0\.0\.1:8000"
    with processes.interruptible(), pytest.raises(ServiceError, match=message):
        stack.LocalStack(state).__enter__()

    assert stack.find_running(state) == state.read("up.json")
    lock.release()
    assert stack.find_running(state) is None


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143)])
def test_run_gives_back_the_exit_code_of_the_command(bare: dict[str, str], script: str, code: int) -> None:
    env = bare | {"REDIS_URL": "redis://elsewhere:1/0", "DATABASE_URL": "sqlite://"}

    done = subprocess.run(
        [sys.executable, "-m", "tools.run", "sh", "-c", script], env=env, cwd=ROOT, check=False
    )

    assert done.returncode == code


def test_run_has_the_embedded_services_for_its_command(bare: dict[str, str]) -> None:
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


def test_run_of_an_unknown_command_is_127(capsys: pytest.CaptureFixture[str]) -> None:
    assert shutil.which("no-such-command") is None

    assert run.main(["no-such-command"]) == 127

    assert "no-such-command" in capsys.readouterr().err
